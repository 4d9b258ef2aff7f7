// Damaging an image after it was built: named fields of its structures, and blind damage.
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "core/cases/image_recipe.hpp"
#include "images/file.hpp"

namespace difffuzz {

enum class ByteOrder { big, little };

// One kind of field of a format's structures. A format's table names every field that tools read.
struct DamageField {
    std::string_view name;  // "header.l1_offset"; [a-z0-9_.]
    unsigned bytes = 4;     // 1, 2, 4 or 8; of text: 0
    ByteOrder order = ByteOrder::big;
    std::uint64_t offset = 0;  // in the file, where `places` is null
    // Offsets of all fields of the kind, at most max_places; empty where the image has none. The
    // file is well formed: it is looked at before anything is damaged.
    std::vector<std::uint64_t> (*places)(const File& file) = nullptr;
    // Why no tool's outcome depends on the field; empty where one does.
    std::string_view ignored = {};
    // Of a field that says where in the file something lies: the bytes that one of its units
    // stands for, and the bits of it that count. 0: it does not say that.
    std::uint64_t pointer_unit = 0;
    std::uint64_t pointer_bits = UINT64_MAX;
    // Sums over other fields. They are put right when others are damaged, and spoilt after that.
    bool checksum = false;
    // Of text: what it may be replaced by, "" among it or not. The text reaches to the next blank,
    // quote, line end or NUL, and what follows it up to a NUL moves. A value is the index of a
    // word, or, above these, a number that is written in decimal.
    std::span<const std::string_view> words = {};
    // Values that mean something of their own, which no general number is likely to hit.
    std::span<const std::uint64_t> telling = {};
};
inline constexpr std::size_t max_places = 4096;

// What of a format's structures can be damaged.
struct DamageTable {
    std::span<const DamageField> fields = {};
    // Puts structures there that its builder leaves out; null where there are none.
    void (*prepare)(const ImageRecipe& recipe, const File& file) = nullptr;
    // Puts all checksums right; null where the format has none. Bounded whatever the file says.
    void (*reseal)(const File& file) = nullptr;
};

// What every format has: "bytes" and "length" (core/cases/image_recipe.hpp).
inline constexpr std::string_view damage_bytes = "bytes";
inline constexpr std::string_view damage_length = "length";

// Null when the table has no field of that name.
const DamageField* find_field(std::span<const DamageField> fields, std::string_view name);

// Everything wrong with the recipe's damage for a format with these fields; empty if fine. Pure.
std::string broken_damage(const ImageRecipe& recipe, std::span<const DamageField> fields);

// Whether all damage of the recipe, and there is some, are pointers to places where no file of an
// image of its size reaches: what most tools refuse or read as zeros, in many words. Pure.
bool points_past_end(const ImageRecipe& recipe, std::span<const DamageField> fields);

// Does what the recipe says to the file; `index` counts modulo the number of places, and what has
// no place is left out. All places are found before the first change. In this order:
//   1. bytes, and fields that are numbers; 2. text, from the end of the file on;
//   3. checksums put right, if a named field was damaged that is none; 4. checksums; 5. the length.
// Blind damage alone leaves checksums as they are. Throws ImageError.
void apply_damage(const ImageRecipe& recipe, const DamageTable& table,
                  const std::string& directory);

}  // namespace difffuzz
