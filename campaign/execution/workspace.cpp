#include "campaign/execution/workspace.hpp"

#include <algorithm>
#include <array>
#include <cstring>
#include <dirent.h>
#include <memory>

#include <sys/stat.h>
#include <xxhash.h>

#include "core/cases/digest.hpp"
#include "images/file.hpp"

namespace difffuzz {
namespace {

constexpr std::size_t copy_bytes = std::size_t{256} << 10;

// Calls `visit(offset, block)` for every 4 KiB block that is not all zero.
template <typename Visit>
void visit_data(const File& file, std::uint64_t size, Visit visit) {
    constexpr std::size_t block_bytes = 4096;
    constexpr std::size_t chunk_bytes = 64 * block_bytes;
    static constexpr std::array<std::byte, block_bytes> zeros{};
    std::array<std::byte, chunk_bytes> chunk;  // NOLINT(*-member-init): filled by the read
    std::uint64_t offset = file.next_data(0);
    while (offset < size) {
        const std::uint64_t end = std::min(file.next_hole(offset), size);
        for (std::uint64_t at = offset - offset % block_bytes; at < end; at += chunk_bytes) {
            const std::size_t got = file.read_at(
                at, std::span(chunk).first(
                        static_cast<std::size_t>(std::min<std::uint64_t>(chunk_bytes, size - at))));
            for (std::size_t block = 0; block < got; block += block_bytes) {
                const std::size_t length = std::min(block_bytes, got - block);
                const auto bytes = std::span(chunk).subspan(block, length);
                if (std::memcmp(bytes.data(), zeros.data(), length) != 0) {
                    visit(at + block, bytes);
                }
            }
        }
        if (end >= size) {
            break;
        }
        offset = file.next_data(end);
    }
}

std::string_view as_text(std::span<const std::byte> bytes) {
    return {reinterpret_cast<const char*>(bytes.data()), bytes.size()};
}

FileType type_of(mode_t mode) {
    if (S_ISREG(mode)) {
        return FileType::regular;
    }
    if (S_ISDIR(mode)) {
        return FileType::directory;
    }
    return S_ISLNK(mode) ? FileType::link : FileType::other;
}

void list_below(const std::string& root, const std::string& prefix,
                const std::vector<std::string>& hashed, int depth, Listing& listing) {
    const std::unique_ptr<DIR, int (*)(DIR*)> directory(::opendir((root + "/" + prefix).c_str()),
                                                        ::closedir);
    if (!directory) {
        return;  // a tool may take away its own permissions; the entry itself is listed
    }
    while (const dirent* entry = ::readdir(directory.get())) {
        const std::string name = entry->d_name;
        if (name == "." || name == "..") {
            continue;
        }
        if (listing.files.size() >= max_listed) {
            listing.cut = true;
            return;
        }
        const std::string path = prefix.empty() ? name : prefix + "/" + name;
        struct stat status {};
        if (::lstat((root + "/" + path).c_str(), &status) != 0) {
            continue;
        }
        FileEntry file{path, type_of(status.st_mode), 0, 0};
        if (file.type == FileType::regular) {
            file.bytes = static_cast<std::uint64_t>(status.st_size);
            if (std::find(hashed.begin(), hashed.end(), path) != hashed.end()) {
                file.content_hash = hash_file(root, path);
            }
        }
        listing.files.push_back(file);
        if (file.type == FileType::directory && depth > 0) {
            list_below(root, path, hashed, depth - 1, listing);
        }
    }
}

}  // namespace

void clone_file(const std::string& from_directory, const std::string& to_directory,
                const std::string& name) {
    const File from = File::open(from_directory, name);
    const File to = File::create(to_directory, name);
    const std::uint64_t size = from.size();
    to.resize(size);
    const auto memory = std::make_unique_for_overwrite<std::byte[]>(copy_bytes);
    const std::span buffer(memory.get(), copy_bytes);
    for (std::uint64_t at = from.next_data(0); at < size; at = from.next_data(at)) {
        const std::uint64_t hole = std::min(from.next_hole(at), size);
        while (at < hole) {
            const auto part = buffer.first(
                static_cast<std::size_t>(std::min<std::uint64_t>(buffer.size(), hole - at)));
            from.read_at(at, part);
            to.write_at(at, part);
            at += part.size();
        }
    }
}

Listing list_workspace(const std::string& directory, const std::vector<std::string>& hashed) {
    constexpr int max_depth = 8;
    Listing listing;
    list_below(directory, "", hashed, max_depth, listing);
    std::sort(listing.files.begin(), listing.files.end(),
              [](const FileEntry& a, const FileEntry& b) { return a.name < b.name; });
    return listing;
}

std::uint64_t hash_file(const std::string& directory, const std::string& name) {
    const File file = File::open(directory, name);
    const std::uint64_t size = file.size();
    std::uint64_t hash = XXH3_64bits(&size, sizeof size);
    visit_data(file, size, [&](std::uint64_t offset, std::span<const std::byte> bytes) {
        hash = XXH3_64bits_withSeed(bytes.data(), bytes.size(), hash ^ (offset + 1));
    });
    return hash;
}

std::string digest_file(const std::string& directory, const std::string& name) {
    const File file = File::open(directory, name);
    const std::uint64_t size = file.size();
    Sha256 hash;
    hash.update("size " + std::to_string(size) + "\n");
    visit_data(file, size, [&](std::uint64_t offset, std::span<const std::byte> bytes) {
        hash.update("at " + std::to_string(offset) + "\n");
        hash.update(as_text(bytes));
    });
    return hash.finish_hex();
}

std::string digest_content(const VirtualContent& content) {
    Sha256 hash;
    hash.update("size " + std::to_string(content.size) + "\n");
    for (const ContentSector& sector : content.sectors) {
        hash.update(std::to_string(sector.index) + " " + std::to_string(sector.hash) + "\n");
    }
    return hash.finish_hex();
}

}  // namespace difffuzz
