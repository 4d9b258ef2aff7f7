// Runs the real difffuzz and looks at what it leaves.
#pragma once

#include <cstdlib>
#include <stdexcept>
#include <string>
#include <vector>

#include <nlohmann/json.hpp>

#include "support/run_tool.hpp"

namespace difffuzz::test {

struct Ended {
    int code = -1;
    std::string out;
    std::string err;
};

inline Ended difffuzz(const ScratchDirectory& scratch, std::vector<std::string> arguments) {
    arguments.insert(arguments.begin(), std::string(DIFFFUZZ_BINARY_DIR) + "/difffuzz");
    const Outcome outcome = run_tool(scratch.path(), arguments);
    const auto* exited = std::get_if<Exited>(&outcome.ending);
    return {exited != nullptr ? exited->code : -1, outcome.out.head, outcome.err.head};
}

inline nlohmann::json summary_of(const ScratchDirectory& scratch, const std::string& evidence) {
    return nlohmann::json::parse(read_file(scratch.path() / evidence / "summary.json"));
}

// A qemu-img of another version.
inline std::string second_qemu() {
    const char* path = std::getenv("DIFFFUZZ_TEST_SECOND_QEMU");
    if (path == nullptr) {
        throw std::runtime_error("set DIFFFUZZ_TEST_SECOND_QEMU (scripts/test does)");
    }
    return path;
}

// Number of lines that end in a line feed.
inline std::size_t lines(const std::string& text) {
    return static_cast<std::size_t>(std::count(text.begin(), text.end(), '\n'));
}

}  // namespace difffuzz::test
