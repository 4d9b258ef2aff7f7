// Typed values of a step's arguments and of an image's options, with the spelling they were given.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <variant>
#include <vector>

namespace difffuzz {

// A number of bytes and how it is spelled on the command line ("1M", "1048576", "0x100000").
struct SizeValue {
    std::uint64_t bytes = 0;
    std::string as;
    bool operator==(const SizeValue&) const = default;
};

// A plain decimal integer, spelled as such.
struct NumberValue {
    std::int64_t value = 0;
    bool operator==(const NumberValue&) const = default;
};

// A word of the vocabulary: a format, "json", "on".
struct WordValue {
    std::string text;
    bool operator==(const WordValue&) const = default;
};

// Text that is deliberately not of the option's type ("abc" for a count).
struct LiteralValue {
    std::string text;
    bool operator==(const LiteralValue&) const = default;
};

// Bytes that need not be UTF-8.
struct BytesValue {
    std::string bytes;
    bool operator==(const BytesValue&) const = default;
};

// An image or output of the case; rendered as its file name.
struct ImageValue {
    std::string id;
    bool operator==(const ImageValue&) const = default;
};

using Scalar =
    std::variant<SizeValue, NumberValue, WordValue, LiteralValue, BytesValue, ImageValue>;

// One key of a format's option list ("-o cluster_size=64k").
struct FormatOption {
    std::string name;
    Scalar value;
    bool operator==(const FormatOption&) const = default;
};

struct OptionList {
    std::vector<FormatOption> options;
    bool operator==(const OptionList&) const = default;
};

using Value = std::variant<SizeValue, NumberValue, WordValue, LiteralValue, BytesValue, ImageValue,
                           OptionList>;

Value to_value(Scalar scalar);

// A size spelled in decimal bytes, and with the largest binary suffix (k, M, G, T) that divides it.
SizeValue plain_size(std::uint64_t bytes);
SizeValue suffixed_size(std::uint64_t bytes);

// The bytes that a spelling means: an optional sign, which says how the size is meant and not what
// it is, then a decimal number with an optional fraction ("1.5") or a hexadecimal one ("0x1F"),
// then an optional suffix of b, k, M, G, T, P, E in either case (binary; in hexadecimal b and E are
// digits). Exact: nothing for a fraction of a byte, beyond 64 bits, or any other text.
std::optional<std::uint64_t> spelled_bytes(std::string_view as);

}  // namespace difffuzz
