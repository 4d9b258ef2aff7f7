// What a program file needs to start: pure functions over its bytes and its loader's answer.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace difffuzz {

enum class ProgramKind { dynamic_elf, static_elf, script, other };

struct ProgramHead {
    ProgramKind kind = ProgramKind::other;
    // The loader of a dynamic program or the interpreter of a script, as the file names it.
    std::string interpreter;
};

// Reads a file's first bytes: ELF (elf(5): e_phoff, e_phentsize, e_phnum, PT_INTERP) or "#!". An
// ELF file of another byte order, or whose header leads out of `head`, is `other`.
ProgramHead read_program_head(std::string_view head);

// One line of `LOADER --list PROGRAM`.
struct Library {
    std::string name;  // as the program asks for it; a path when it asks for a path
    std::string path;  // empty: not found
    bool operator==(const Library&) const = default;
};

// Parses "\tNAME => PATH (0x…)", "\tPATH (0x…)" and "\tNAME => not found"; what the kernel provides
// (a name without a path) is left out.
std::vector<Library> parse_library_list(std::string_view text);

// Whether a loader looks there without being told: the system's library directories.
bool in_system_library_directory(std::string_view path);

}  // namespace difffuzz
