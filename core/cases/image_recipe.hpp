// The description of one input image: pure data, embedded in a case. images/ builds it.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <variant>
#include <vector>

#include "core/cases/value.hpp"

namespace difffuzz {

// What a write puts into the image. The bytes are a pure function of the fill and the offset within
// the write (images/content_fill.hpp).
struct ByteFill {
    std::uint8_t byte = 0;
    bool operator==(const ByteFill&) const = default;
};
// Incompressible bytes from a counter-based generator.
struct RandomFill {
    std::uint64_t seed = 0;
    bool operator==(const RandomFill&) const = default;
};
// A run of `period` (1..4096) random bytes, repeated: compressible, never uniform.
struct RepeatFill {
    std::uint64_t seed = 0;
    std::uint32_t period = 16;
    bool operator==(const RepeatFill&) const = default;
};
using Fill = std::variant<ByteFill, RandomFill, RepeatFill>;

enum class WriteKind {
    write,       // plain data
    compressed,  // data in compressed clusters; formats without compression refuse it
    zero,        // reads as zeros whatever was there or lies in the backing file
};

// One write of a content program. Later writes overwrite earlier ones. `offset + length` stays
// within the image's virtual size; both may be unaligned. A compressed write covers whole clusters
// (the last one may end at the end of the image).
struct ContentWrite {
    WriteKind kind = WriteKind::write;
    std::uint64_t offset = 0;  // bytes
    std::uint64_t length = 0;  // bytes, at least 1
    Fill fill = ByteFill{};    // meaningless for zero
    bool operator==(const ContentWrite&) const = default;
};

struct ImageRecipe {
    std::string id;      // [a-z][a-z0-9_]{0,15}, unique in the case
    std::string format;  // as qemu-img spells it: "raw", "qcow2", "vmdk", "vpc"
    // Virtual size asked for, bytes. What the format makes of it: images/size_model.hpp.
    std::uint64_t size = 0;
    std::vector<FormatOption> options;   // creation options, in order
    std::optional<std::string> backing;  // id of an earlier image of the case
    std::vector<ContentWrite> content;
    bool operator==(const ImageRecipe&) const = default;
};

// A file that a step is to make: its id and format, so that it can be inspected afterwards.
struct OutputImage {
    std::string id;
    std::string format;
    bool operator==(const OutputImage&) const = default;
};

}  // namespace difffuzz
