// How much a test does where more of the same finds less and less.
#pragma once

namespace difffuzz::test {

// `usual` draws; a fifth of them under AddressSanitizer, which makes each several times slower and
// is there for faults that few draws show as well as many.
constexpr unsigned draws_to_make(unsigned usual) {
#ifdef __SANITIZE_ADDRESS__
    return usual / 5;
#else
    return usual;
#endif
}

}  // namespace difffuzz::test
