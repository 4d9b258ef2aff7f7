#include "images/vmdk_descriptor.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <span>

#include "images/bytes.hpp"
#include "images/image_error.hpp"
#include "images/virtual_content.hpp"

namespace difffuzz::vmdk {
namespace {

// Larger than any descriptor that qemu-img reads.
constexpr std::uint64_t max_descriptor_bytes = std::uint64_t{1} << 20;

// Names are read as qemu-img does: an extent line is an access word and a quoted name, and the
// parent's name stands two characters (=") behind its key, wherever that is.
std::string_view extent_name(std::string_view line) {
    constexpr std::string_view blanks = " \t\r";
    line.remove_prefix(std::min(line.find_first_not_of(blanks), line.size()));
    const std::string_view access = line.substr(0, line.find_first_of(blanks));
    const std::size_t quote = line.find('"');
    if ((access != "RW" && access != "RDONLY" && access != "NOACCESS") ||
        quote == std::string_view::npos) {
        return {};
    }
    line.remove_prefix(quote + 1);
    return line.substr(0, line.find_first_of("\"\r"));
}

std::string_view parent_name(std::string_view line) {
    constexpr std::string_view key = "parentFileNameHint";
    const std::size_t at = line.find(key);
    if (at == std::string_view::npos || line.size() - at < key.size() + 2) {
        return {};
    }
    line.remove_prefix(at + key.size() + 2);
    return line.substr(0, line.find_first_of("\"\r"));
}

}  // namespace

Area descriptor_area(const File& file) {
    std::array<std::byte, header_bytes> header{};
    file.read_at(0, header);
    const std::uint64_t size = file.size();
    if (load_le<std::uint32_t>(header.data()) != sparse_magic) {
        return {0, std::min(size, max_descriptor_bytes)};
    }
    const auto sector = load_le<std::uint64_t>(header.data() + at_descriptor_offset);
    const auto sectors = load_le<std::uint64_t>(header.data() + at_descriptor_size);
    if (sector == 0 || sector >= size / sector_bytes) {
        return {};
    }
    const std::uint64_t offset = sector * sector_bytes;
    const std::uint64_t most = std::min(size - offset, max_descriptor_bytes);
    return {offset, std::min(most, std::min(sectors, most / sector_bytes) * sector_bytes)};
}

std::string read_descriptor(const File& file, const Area& area) {
    // Most files are no descriptor and have a NUL early.
    constexpr std::size_t part_bytes = 4096;
    std::string text;
    while (text.size() < area.length) {
        std::array<char, part_bytes> part;  // NOLINT(*-member-init): filled by the read
        const std::size_t wanted = std::min<std::uint64_t>(part_bytes, area.length - text.size());
        const std::size_t got = file.read_at(area.offset + text.size(),
                                             std::as_writable_bytes(std::span(part).first(wanted)));
        const std::string_view bytes(part.data(), got);
        text += bytes.substr(0, bytes.find('\0'));
        if (got < part_bytes || bytes.find('\0') != std::string_view::npos) {
            break;
        }
    }
    return text;
}

std::vector<ForeignReference> find_references(const File& file) {
    Area area = descriptor_area(file);
    // qemu-img reads on past the size that the header gives.
    area.length = std::min(file.size() - area.offset, max_descriptor_bytes);
    const std::string descriptor = read_descriptor(file, area);
    std::vector<ForeignReference> found;
    for (std::string_view text = descriptor; !text.empty();) {
        const std::size_t end = text.find('\n');
        const std::string_view line = text.substr(0, end);
        text.remove_prefix(end == std::string_view::npos ? text.size() : end + 1);
        if (const std::string_view name = extent_name(line); !name.empty()) {
            found.push_back({"extent", std::string(name)});
        }
        if (const std::string_view name = parent_name(line); !name.empty()) {
            found.push_back({"parent", std::string(name)});
        }
    }
    return found;
}

void replace_content_id(const File& file, std::uint32_t content_id) {
    const Area area = descriptor_area(file);
    std::string text = read_descriptor(file, area);
    constexpr std::string_view key = "\nCID=";
    const std::size_t found = text.find(key);
    if (found == std::string::npos) {
        throw ImageError(fmt::format("{}: it is a vmdk image without a content id", file.name()));
    }
    const std::size_t begin = found + key.size();
    text.replace(begin, text.find('\n', begin) - begin, fmt::format("{:08x}", content_id));
    if (area.offset == 0) {
        // The file's length depends on the digits of the id that was there: whole sectors.
        const std::uint64_t length = round_up(text.size(), sector_bytes);
        text.resize(length, '\0');
        file.resize(length);
    } else if (text.size() > area.length) {
        throw ImageError(fmt::format("{}: its descriptor has no room for an id", file.name()));
    } else {
        text.resize(area.length, '\0');
    }
    file.write_at(area.offset, std::as_bytes(std::span(text)));
}

}  // namespace difffuzz::vmdk
