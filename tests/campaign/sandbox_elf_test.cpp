#include "campaign/execution/sandbox_elf.hpp"

#include <elf.h>
#include <fstream>
#include <gtest/gtest.h>
#include <sstream>

#include "tests/support/elf_image.hpp"

namespace difffuzz {
namespace {

using test::after_headers;
using test::elf_with;

TEST(ProgramHead, OfAnElfProgram) {
    const auto dynamic = read_program_head(elf_with(PT_INTERP, after_headers, "/lib/ld.so"));
    EXPECT_EQ(dynamic.kind, ProgramKind::dynamic_elf);
    EXPECT_EQ(dynamic.interpreter, "/lib/ld.so");
    EXPECT_EQ(read_program_head(elf_with(PT_LOAD, after_headers, "")).kind,
              ProgramKind::static_elf);
}

TEST(ProgramHead, OfHostileElfFilesIsOther) {
    EXPECT_EQ(read_program_head(elf_with(PT_INTERP, ~std::uint64_t{0}, "/x")).kind,
              ProgramKind::other);
    EXPECT_EQ(read_program_head(elf_with(PT_INTERP, after_headers + 1, "/x")).kind,
              ProgramKind::other);
    const auto whole = elf_with(PT_INTERP, after_headers, "/lib/ld.so");
    for (std::size_t size = 0; size < whole.size(); ++size) {
        EXPECT_EQ(read_program_head(whole.substr(0, size)).kind, ProgramKind::other) << size;
    }
    auto other_order = whole;
    other_order[EI_DATA] = ELFDATA2MSB;
    EXPECT_EQ(read_program_head(other_order).kind, ProgramKind::other);
}

TEST(ProgramHead, OfTheRunningTest) {
    std::ifstream file("/proc/self/exe", std::ios::binary);
    std::ostringstream bytes;
    bytes << file.rdbuf();
    const auto head = read_program_head(bytes.str());
    EXPECT_EQ(head.kind, ProgramKind::dynamic_elf);
    EXPECT_NE(head.interpreter.find("ld-"), std::string::npos);
}

TEST(ProgramHead, OfAScript) {
    EXPECT_EQ(read_program_head("#! /bin/sh -e\ntrue\n").interpreter, "/bin/sh");
    EXPECT_EQ(read_program_head("#!/bin/sh").interpreter, "/bin/sh");
    EXPECT_EQ(read_program_head("#!").kind, ProgramKind::script);
    EXPECT_EQ(read_program_head("echo").kind, ProgramKind::other);
    EXPECT_EQ(read_program_head("").kind, ProgramKind::other);
}

TEST(LibraryList, IsParsed) {
    const auto libraries = parse_library_list(
        "\tlinux-vdso.so.1 (0x00007ffd)\n"
        "\tlibz.so.1 => /lib/x86_64-linux-gnu/libz.so.1 (0x00007f2)\n"
        "\tlibodd.so => /opt/a dir/libodd.so (0x00007f3)\n"
        "\tlibgone.so.2 => not found\n"
        "\t/opt/lib/named.so (0x00007f4)\n"
        "\t/lib64/ld-linux-x86-64.so.2 (0x00007f5)");
    EXPECT_EQ(libraries, (std::vector<Library>{
                             {"libz.so.1", "/lib/x86_64-linux-gnu/libz.so.1"},
                             {"libodd.so", "/opt/a dir/libodd.so"},
                             {"libgone.so.2", ""},
                             {"/opt/lib/named.so", "/opt/lib/named.so"},
                             {"/lib64/ld-linux-x86-64.so.2", "/lib64/ld-linux-x86-64.so.2"}}));
}

TEST(SystemLibraryDirectory, IsKnown) {
    for (const char* path : {"/lib/libz.so.1", "/lib64/ld-linux-x86-64.so.2", "/usr/lib/libz.so",
                             "/lib/x86_64-linux-gnu/a", "/usr/lib/aarch64-linux-gnu/libz.so.1",
                             "/usr/local/lib/liba.so"}) {
        EXPECT_TRUE(in_system_library_directory(path)) << path;
    }
    for (const char* path :
         {"/opt/lib/liba.so", "/usr/lib/x86_64-linux-gnu/qemu/block.so", "/usr/lib/vendor/liba.so",
          "/usr/local/lib/x/liba.so", "/usr/libx/a", "/liba.so", "lib/a", ""}) {
        EXPECT_FALSE(in_system_library_directory(path)) << path;
    }
}

}  // namespace
}  // namespace difffuzz
