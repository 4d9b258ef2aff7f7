#include "tests/fuzz/memory_meter.hpp"

#include <malloc.h>

#include <atomic>
#include <cstdlib>
#include <new>

namespace {

std::atomic<std::size_t> in_use{0};
std::atomic<std::size_t> highest{0};

void* counted(void* memory) {
    if (memory == nullptr) {
        throw std::bad_alloc();
    }
    const std::size_t now = in_use += ::malloc_usable_size(memory);
    for (std::size_t seen = highest; now > seen && !highest.compare_exchange_weak(seen, now);) {
    }
    return memory;
}

void release(void* memory) {
    if (memory != nullptr) {
        in_use -= ::malloc_usable_size(memory);
        std::free(memory);
    }
}

}  // namespace

// The array forms and those with a size call these.
void* operator new(std::size_t size) { return counted(std::malloc(size == 0 ? 1 : size)); }
void* operator new(std::size_t size, std::align_val_t alignment) {
    const auto unit = static_cast<std::size_t>(alignment);
    return counted(std::aligned_alloc(unit, (size + unit - 1) / unit * unit));
}
void operator delete(void* memory) noexcept { release(memory); }
void operator delete(void* memory, std::size_t) noexcept { release(memory); }
void operator delete(void* memory, std::align_val_t) noexcept { release(memory); }
void operator delete(void* memory, std::size_t, std::align_val_t) noexcept { release(memory); }

namespace difffuzz::fuzz {

MemoryMeter::MemoryMeter() : start_(in_use) { highest = start_; }

std::size_t MemoryMeter::held() const {
    const std::size_t now = in_use;
    return now > start_ ? now - start_ : 0;
}

std::size_t MemoryMeter::peak() const { return highest - start_; }

}  // namespace difffuzz::fuzz
