// How much a test does where more of the same finds less and less.
#pragma once

namespace difffuzz::test {

constexpr bool under_sanitizer() {
#ifdef __SANITIZE_ADDRESS__
    return true;
#else
    return false;
#endif
}

// `usual` draws; a fifth of them under AddressSanitizer, which makes each several times slower and
// is there for faults that few draws show as well as many.
constexpr unsigned draws_to_make(unsigned usual) { return under_sanitizer() ? usual / 5 : usual; }

}  // namespace difffuzz::test
