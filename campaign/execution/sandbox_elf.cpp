#include "campaign/execution/sandbox_elf.hpp"

#include <algorithm>
#include <bit>
#include <cstdint>
#include <cstring>
#include <elf.h>

namespace difffuzz {
namespace {

template <typename Value>
std::optional<Value> read_at(std::string_view bytes, std::uint64_t offset) {
    if (offset > bytes.size() || bytes.size() - offset < sizeof(Value)) {
        return std::nullopt;
    }
    Value value;
    std::memcpy(&value, bytes.data() + offset, sizeof value);
    return value;
}

template <typename Header, typename Segment>
ProgramHead read_elf(std::string_view head) {
    const auto header = read_at<Header>(head, 0);
    if (!header) {
        return {};
    }
    for (std::uint64_t i = 0; i < header->e_phnum; ++i) {
        const auto segment = read_at<Segment>(head, header->e_phoff + i * header->e_phentsize);
        if (!segment) {
            return {};
        }
        if (segment->p_type != PT_INTERP) {
            continue;
        }
        if (segment->p_offset > head.size() ||
            segment->p_filesz > head.size() - segment->p_offset) {
            return {};
        }
        auto name = head.substr(segment->p_offset, segment->p_filesz);
        name = name.substr(0, name.find('\0'));
        return {ProgramKind::dynamic_elf, std::string(name)};
    }
    return {ProgramKind::static_elf, {}};
}

constexpr std::string_view blanks = " \t";

std::string_view trim(std::string_view text) {
    const auto begin = text.find_first_not_of(blanks);
    return begin == std::string_view::npos
               ? std::string_view{}
               : text.substr(begin, text.find_last_not_of(blanks) + 1 - begin);
}

// Without the " (0x…)" that ends a line.
std::string_view without_address(std::string_view text) {
    return trim(text.substr(0, text.rfind(" (0x")));
}

bool is_library_root(std::string_view name) {
    return name == "lib" || name == "lib32" || name == "lib64" || name == "libx32";
}

}  // namespace

ProgramHead read_program_head(std::string_view head) {
    if (head.starts_with("#!")) {
        auto line = trim(head.substr(2, head.find('\n') - 2));
        return {ProgramKind::script, std::string(line.substr(0, line.find_first_of(blanks)))};
    }
    constexpr int own_order =
        std::endian::native == std::endian::little ? ELFDATA2LSB : ELFDATA2MSB;
    if (head.size() < EI_NIDENT || !head.starts_with(ELFMAG) || head[EI_DATA] != own_order) {
        return {};
    }
    if (head[EI_CLASS] == ELFCLASS64) {
        return read_elf<Elf64_Ehdr, Elf64_Phdr>(head);
    }
    return head[EI_CLASS] == ELFCLASS32 ? read_elf<Elf32_Ehdr, Elf32_Phdr>(head) : ProgramHead{};
}

std::vector<Library> parse_library_list(std::string_view text) {
    constexpr std::string_view arrow = " => ";
    std::vector<Library> result;
    while (!text.empty()) {
        const auto end = std::min(text.find('\n'), text.size());
        const auto line = trim(text.substr(0, end));
        text.remove_prefix(std::min(end + 1, text.size()));
        if (const auto at = line.find(arrow); at != std::string_view::npos) {
            const auto path = without_address(line.substr(at + arrow.size()));
            if (path.starts_with('/') || path == "not found") {
                result.push_back({std::string(trim(line.substr(0, at))),
                                  path.starts_with('/') ? std::string(path) : std::string()});
            }
        } else if (const auto path = without_address(line); path.starts_with('/')) {
            result.push_back({std::string(path), std::string(path)});
        }
    }
    return result;
}

bool in_system_library_directory(std::string_view path) {
    if (path.starts_with("/usr/local/lib/")) {
        path.remove_prefix(std::string_view("/usr/local/lib/").size());
        return path.find('/') == std::string_view::npos;
    }
    if (path.starts_with("/usr/")) {
        path.remove_prefix(std::string_view("/usr").size());
    }
    const auto slash = path.find('/', 1);
    if (!path.starts_with('/') || slash == std::string_view::npos ||
        !is_library_root(path.substr(1, slash - 1))) {
        return false;
    }
    // Directly in it, or in the directory of an architecture (x86_64-linux-gnu).
    path.remove_prefix(slash + 1);
    const auto next = path.find('/');
    return next == std::string_view::npos ||
           (path.substr(0, next).find("-linux-") != std::string_view::npos &&
            path.find('/', next + 1) == std::string_view::npos);
}

}  // namespace difffuzz
