// Built with AddressSanitizer: writes one byte of a block of 100, the one that its argument names,
// or for what is no number the one past the end.
#include <cstddef>
#include <cstdlib>
#include <memory>

int main(int argc, char** argv) {
    constexpr std::size_t size = 100;
    char* end = nullptr;
    const unsigned long long number = argc > 1 ? std::strtoull(argv[1], &end, 10) : 0;
    const std::size_t index = argc > 1 && end == argv[1] ? size : number;
    const auto block = std::make_unique<volatile char[]>(size);
    block[index] = 1;
    return 0;
}
