// Starts real programs in tests.
#pragma once

#include <filesystem>
#include <string>
#include <vector>

#include "images/format.hpp"

namespace difffuzz::test {

// Runs argv[0] (looked up in PATH, or a path) in `directory` and waits for it.
Outcome run_tool(const std::filesystem::path& directory, const std::vector<std::string>& argv);

// The system's qemu-img, or another one, in a directory.
class RealTools : public NeutralTools {
public:
    explicit RealTools(std::filesystem::path directory, std::string qemu_img = "qemu-img")
        : directory_(std::move(directory)), qemu_img_(std::move(qemu_img)) {}
    Outcome qemu_img(const std::vector<std::string>& arguments) override;

private:
    std::filesystem::path directory_;
    std::string qemu_img_;
};

// A fresh directory that goes away with the object; in memory where the system has such a place.
class ScratchDirectory {
public:
    ScratchDirectory();
    ScratchDirectory(const ScratchDirectory&) = delete;
    ScratchDirectory& operator=(const ScratchDirectory&) = delete;
    ~ScratchDirectory();

    const std::filesystem::path& path() const { return path_; }
    std::string string() const { return path_.string(); }

private:
    std::filesystem::path path_;
};

// The whole file; throws if it cannot be read.
std::string read_file(const std::filesystem::path& path);

}  // namespace difffuzz::test
