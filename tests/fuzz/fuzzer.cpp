// libFuzzer's entry to one target, whose name is compiled in. A broken invariant is printed and
// ends the program, which libFuzzer reports with its input.
#include <cstdint>
#include <cstdio>
#include <cstdlib>

#include "tests/fuzz/target.hpp"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
    static const difffuzz::fuzz::Target* const target =
        difffuzz::fuzz::find_target(DIFFFUZZ_FUZZ_TARGET);
    if (target == nullptr) {
        std::fputs("there is no row for the target " DIFFFUZZ_FUZZ_TARGET "\n", stderr);
        std::abort();
    }
    try {
        target->run({reinterpret_cast<const char*>(data), size});
    } catch (const difffuzz::fuzz::BrokenInvariant& broken) {
        std::fprintf(stderr, "broken invariant: %s\n", broken.what());
        std::abort();
    }
    return 0;
}
