// How much memory code under test takes from operator new, which memory_meter.cpp replaces in every
// program that it is linked to. What C libraries take for themselves is not seen; libFuzzer's own
// limits bound that.
#pragma once

#include <cstddef>

namespace difffuzz::fuzz {

// From its construction on. One at a time: a second one starts the first one's peak anew.
class MemoryMeter {
public:
    MemoryMeter();
    // Bytes in use now beyond those at the start; 0 when there are fewer.
    std::size_t held() const;
    // The most that were in use at a time, likewise.
    std::size_t peak() const;

private:
    std::size_t start_;
};

}  // namespace difffuzz::fuzz
