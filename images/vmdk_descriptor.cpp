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

constexpr std::string_view blanks = " \t\r\n\v\f";
// What is longer does not stay in the workspace.
constexpr std::size_t max_name = 256;

// Names are read as qemu-img does, or more of them than it would. An extent is an access word that
// begins a line and the next quoted name: blanks between its words may be line ends. The parent's
// name stands two characters (=") behind its key, wherever that is, and ends at a quote alone.
void add_names(std::string_view text, std::vector<ForeignReference>& found) {
    constexpr std::string_view key = "parentFileNameHint";
    const auto add = [&](const char* kind, std::size_t at, std::string_view ends) {
        const std::string_view name = text.substr(std::min(at, text.size()), max_name);
        const std::size_t length = std::min(name.find_first_of(ends), name.size());
        // Many lines may have one name behind them.
        if (length != 0 && (found.empty() || found.back().name != name.substr(0, length))) {
            found.push_back({kind, std::string(name.substr(0, length))});
        }
    };
    std::size_t quote = text.find('"');
    bool line_begins = true;
    for (std::size_t at = 0; at < text.size(); ++at) {
        if (blanks.find(text[at]) != std::string_view::npos) {
            line_begins = line_begins || text[at] == '\n';
            continue;
        }
        if (line_begins) {
            line_begins = false;
            if (quote < at) {
                quote = text.find('"', at);
            }
            const std::string_view rest = text.substr(at, 16);
            const std::string_view access = rest.substr(0, rest.find_first_of(blanks));
            if (quote != std::string_view::npos &&
                (access == "RW" || access == "RDONLY" || access == "NOACCESS")) {
                add("extent", quote + 1, "\"\r\n");
            }
        }
        if (text.substr(at).starts_with(key)) {
            add("parent", at + key.size() + 2, "\"");
        }
    }
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
    // Of a sparse extent, qemu-img takes extents from where the header says (reckoned in 64 bits,
    // and read on past the size that it gives), but the parent from what follows the header.
    std::array<std::byte, header_bytes> header{};
    file.read_at(0, header);
    const auto magic = load_le<std::uint32_t>(header.data());
    std::vector<std::uint64_t> offsets{0};
    if (magic == sparse_magic || magic == version_3_magic) {
        offsets = {header_bytes};
    }
    const std::uint64_t named =
        load_le<std::uint64_t>(header.data() + at_descriptor_offset) * sector_bytes;
    if (magic == sparse_magic && named != header_bytes) {
        offsets.push_back(named);
    }
    std::vector<ForeignReference> found;
    const std::uint64_t size = file.size();
    for (const std::uint64_t offset : offsets) {
        if (offset < size) {
            add_names(
                read_descriptor(file, {offset, std::min(size - offset, max_descriptor_bytes)}),
                found);
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
