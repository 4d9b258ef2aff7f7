#include "tests/fuzz/memory_meter.hpp"

#include <malloc.h>

#include <atomic>
#include <cstdlib>
#include <new>

namespace {

std::atomic<std::size_t> in_use{0};
std::atomic<std::size_t> highest{0};

// Null where there is no memory.
void* take(std::size_t size) noexcept {
    void* const memory = std::malloc(size == 0 ? 1 : size);
    const std::size_t now = in_use += ::malloc_usable_size(memory);
    for (std::size_t seen = highest; now > seen && !highest.compare_exchange_weak(seen, now);) {
    }
    return memory;
}

void* take_or_throw(std::size_t size) {
    void* const memory = take(size);
    if (memory == nullptr) {
        throw std::bad_alloc();
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

// All forms but those for stricter alignments, which nothing here needs: AddressSanitizer has its
// own for any that is left out, and checks that each is freed by its like.
void* operator new(std::size_t size) { return take_or_throw(size); }
void* operator new[](std::size_t size) { return take_or_throw(size); }
void* operator new(std::size_t size, const std::nothrow_t&) noexcept { return take(size); }
void* operator new[](std::size_t size, const std::nothrow_t&) noexcept { return take(size); }
void operator delete(void* memory) noexcept { release(memory); }
void operator delete[](void* memory) noexcept { release(memory); }
void operator delete(void* memory, std::size_t) noexcept { release(memory); }
void operator delete[](void* memory, std::size_t) noexcept { release(memory); }
void operator delete(void* memory, const std::nothrow_t&) noexcept { release(memory); }
void operator delete[](void* memory, const std::nothrow_t&) noexcept { release(memory); }

namespace difffuzz::fuzz {

MemoryMeter::MemoryMeter() : start_(in_use) { highest = start_; }

std::size_t MemoryMeter::held() const {
    const std::size_t now = in_use;
    return now > start_ ? now - start_ : 0;
}

std::size_t MemoryMeter::peak() const { return highest - start_; }

}  // namespace difffuzz::fuzz
