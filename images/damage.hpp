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
    unsigned bytes = 4;     // 1, 2, 4 or 8
    ByteOrder order = ByteOrder::big;
    std::uint64_t offset = 0;  // in the file, where `places` is null
    // Offsets of all fields of the kind, at most max_places; empty where the image has none. The
    // file is well formed: it is looked at before anything is damaged.
    std::vector<std::uint64_t> (*places)(const File& file) = nullptr;
    // Why no tool's outcome depends on the field; empty where one does.
    std::string_view ignored = {};
};
inline constexpr std::size_t max_places = 4096;

// What every format has: "bytes" and "length" (core/cases/image_recipe.hpp).
inline constexpr std::string_view damage_bytes = "bytes";
inline constexpr std::string_view damage_length = "length";

// Null when the table has no field of that name.
const DamageField* find_field(std::span<const DamageField> fields, std::string_view name);

// Everything wrong with the recipe's damage for a format with these fields; empty if fine. Pure.
std::string broken_damage(const ImageRecipe& recipe, std::span<const DamageField> fields);

// Does what the recipe says to the file; `index` counts modulo the number of places, and what has
// no place is left out. All places are found before the first change. `reseal`, where not null,
// then puts checksums right that the damage is not about. Throws ImageError.
void apply_damage(const ImageRecipe& recipe, std::span<const DamageField> fields,
                  void (*reseal)(const File& file), const std::string& directory);

}  // namespace difffuzz
