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
    unmap,       // as zero, and nothing stays allocated; covers whole clusters
};
// Whether a write of this kind brings data (and so has a fill); the others leave zeros.
constexpr bool has_data(WriteKind kind) {
    return kind == WriteKind::write || kind == WriteKind::compressed;
}

// One write of a content program. Later writes overwrite earlier ones. `offset + length` stays
// within the image's virtual size; both may be unaligned. A compressed write covers whole clusters
// (the last one may end at the end of the image).
struct ContentWrite {
    WriteKind kind = WriteKind::write;
    std::uint64_t offset = 0;  // bytes
    std::uint64_t length = 0;  // bytes, at least 1
    Fill fill = ByteFill{};    // meaningless for zero and unmap
    bool operator==(const ContentWrite&) const = default;
};

// An internal snapshot: the image as it was after the first `after` writes of its content program.
struct SnapshotRecipe {
    std::string name;         // bytes, 1..255
    std::uint32_t after = 0;  // 0..number of writes; ascending over an image's snapshots
    bool operator==(const SnapshotRecipe&) const = default;
};

// Bytes [offset, offset + length) of a virtual disk.
struct ByteRange {
    std::uint64_t offset = 0;
    std::uint64_t length = 0;
    bool operator==(const ByteRange&) const = default;
};

// A persistent dirty bitmap.
struct BitmapRecipe {
    std::string name;               // bytes, 1..255
    std::uint64_t granularity = 0;  // bytes, a power of two
    bool enabled = true;
    std::vector<ByteRange> dirty;
    bool operator==(const BitmapRecipe&) const = default;
};

// A value put where it does not belong once the image is built: into a field that the format's
// damage table names ("header.l1_offset"), the `index`th of its kind; or, with the field "bytes",
// the low byte of `value` xored into byte `index` of the file; or, with "length", the file cut to
// `value` bytes.
struct Damage {
    std::string field;
    std::uint64_t index = 0;
    std::uint64_t value = 0;
    bool operator==(const Damage&) const = default;
};

struct ImageRecipe {
    std::string id;      // [a-z][a-z0-9_]{0,15}, unique in the case
    std::string format;  // as qemu-img spells it: "raw", "qcow2", "vmdk", "vpc"
    // Virtual size asked for, bytes. What the format makes of it: Format::actual_size.
    std::uint64_t size = 0;
    std::vector<FormatOption> options;   // creation options, in order
    std::optional<std::string> backing;  // id of an earlier image of the case
    std::vector<ContentWrite> content;
    std::vector<SnapshotRecipe> snapshots = {};
    std::vector<BitmapRecipe> bitmaps = {};
    std::vector<Damage> damage = {};
    bool operator==(const ImageRecipe&) const = default;
};

// A file that a step is to make: its id and format, so that it can be inspected afterwards.
struct OutputImage {
    std::string id;
    std::string format;
    bool operator==(const OutputImage&) const = default;
};

}  // namespace difffuzz
