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

constexpr std::size_t block_bytes = 4096;
constexpr std::size_t chunk_bytes = 64 * block_bytes;

// Calls `visit(offset, chunk)` for the file's data, in chunks that start at a multiple of 4 KiB.
template <typename Visit>
void visit_chunks(const File& file, std::uint64_t size, Visit visit) {
    std::array<std::byte, chunk_bytes> chunk;  // NOLINT(*-member-init): filled by the read
    for (std::uint64_t offset = file.next_data(0); offset < size;) {
        const std::uint64_t end = std::min(file.next_hole(offset), size);
        for (std::uint64_t at = offset - offset % block_bytes; at < end;) {
            const auto wanted = std::span(chunk).first(
                static_cast<std::size_t>(std::min<std::uint64_t>(chunk_bytes, end - at)));
            const std::size_t got = file.read_at(at, wanted);
            visit(at, std::span<const std::byte>(wanted.first(got)));
            at += wanted.size();
        }
        if (end >= size) {
            break;
        }
        offset = file.next_data(end);
    }
}

// Calls `visit(offset, block)` for every 4 KiB block of a chunk that is not all zero.
template <typename Visit>
void visit_blocks(std::uint64_t offset, std::span<const std::byte> chunk, Visit visit) {
    static constexpr std::array<std::byte, block_bytes> zeros{};
    for (std::size_t at = 0; at < chunk.size(); at += block_bytes) {
        const auto block = chunk.subspan(at, std::min(block_bytes, chunk.size() - at));
        if (std::memcmp(block.data(), zeros.data(), block.size()) != 0) {
            visit(offset + at, block);
        }
    }
}

class ContentHash {
public:
    explicit ContentHash(std::uint64_t size) : value_(XXH3_64bits(&size, sizeof size)) {}
    void add(std::uint64_t offset, std::span<const std::byte> chunk) {
        visit_blocks(offset, chunk, [&](std::uint64_t at, std::span<const std::byte> block) {
            value_ = XXH3_64bits_withSeed(block.data(), block.size(), value_ ^ (at + 1));
        });
    }
    std::uint64_t value() const { return value_; }

private:
    std::uint64_t value_;
};

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

std::uint64_t known_hash(const std::string& root, const std::string& name, KnownHashes& known) {
    const std::string path = root + "/" + name;
    if (const auto hash = known.find(path)) {
        return *hash;
    }
    const std::uint64_t hash = hash_file(root, name);
    known.remember(path, hash);
    return hash;
}

void list_below(const std::string& root, const std::string& prefix,
                const std::vector<std::string>& hashed, int depth, KnownHashes& known,
                Listing& listing) {
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
                file.content_hash = known_hash(root, path, known);
            }
        }
        listing.files.push_back(file);
        if (file.type == FileType::directory && depth > 0) {
            list_below(root, path, hashed, depth - 1, known, listing);
        }
    }
}

}  // namespace

FileEntry clone_file(const std::string& from_directory, std::span<const std::string> to_directories,
                     const std::string& name) {
    const File from = File::open(from_directory, name);
    const std::uint64_t size = from.size();
    std::vector<File> copies;
    for (const std::string& directory : to_directories) {
        copies.push_back(File::create(directory, name));
        copies.back().resize(size);
    }
    ContentHash hash(size);
    visit_chunks(from, size, [&](std::uint64_t offset, std::span<const std::byte> chunk) {
        for (const File& to : copies) {
            to.write_at(offset, chunk);
        }
        hash.add(offset, chunk);
    });
    return {name, FileType::regular, size, hash.value()};
}

Listing list_workspace(const std::string& directory, const std::vector<std::string>& hashed,
                       KnownHashes& known) {
    constexpr int max_depth = 8;
    Listing listing;
    list_below(directory, "", hashed, max_depth, known, listing);
    std::sort(listing.files.begin(), listing.files.end(),
              [](const FileEntry& a, const FileEntry& b) { return a.name < b.name; });
    return listing;
}

std::uint64_t hash_file(const std::string& directory, const std::string& name) {
    const File file = File::open(directory, name);
    const std::uint64_t size = file.size();
    ContentHash hash(size);
    visit_chunks(file, size, [&](std::uint64_t offset, std::span<const std::byte> chunk) {
        hash.add(offset, chunk);
    });
    return hash.value();
}

std::string digest_file(const std::string& directory, const std::string& name) {
    const File file = File::open(directory, name);
    const std::uint64_t size = file.size();
    Sha256 hash;
    hash.update("size " + std::to_string(size) + "\n");
    visit_chunks(file, size, [&](std::uint64_t offset, std::span<const std::byte> chunk) {
        visit_blocks(offset, chunk, [&](std::uint64_t at, std::span<const std::byte> block) {
            hash.update("at " + std::to_string(at) + "\n");
            hash.update(as_text(block));
        });
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
