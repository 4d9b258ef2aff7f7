// The smallest ELF file that names an interpreter.
#pragma once

#include <cstdint>
#include <cstring>
#include <elf.h>
#include <string>

namespace difffuzz::test {

// Where the name starts in a well-formed file.
constexpr std::uint64_t after_headers = sizeof(Elf64_Ehdr) + sizeof(Elf64_Phdr);

// One program header of `type` that points to `name` at `offset`; the name follows the headers.
inline std::string elf_with(std::uint32_t type, std::uint64_t offset, const std::string& name) {
    Elf64_Ehdr header{};
    std::memcpy(header.e_ident, ELFMAG, SELFMAG);
    header.e_ident[EI_CLASS] = ELFCLASS64;
    header.e_ident[EI_DATA] = ELFDATA2LSB;
    header.e_phoff = sizeof header;
    header.e_phentsize = sizeof(Elf64_Phdr);
    header.e_phnum = 1;
    Elf64_Phdr segment{};
    segment.p_type = type;
    segment.p_offset = offset;
    segment.p_filesz = name.size() + 1;
    std::string bytes(sizeof header + sizeof segment, '\0');
    std::memcpy(bytes.data(), &header, sizeof header);
    std::memcpy(bytes.data() + sizeof header, &segment, sizeof segment);
    return bytes + name + '\0';
}

}  // namespace difffuzz::test
