// UUIDs that stand for a recipe.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>

#include "images/bytes.hpp"
#include "images/recipe_hash.hpp"

namespace difffuzz {

using Uuid = std::array<std::byte, 16>;

// The `number`th UUID of a recipe: RFC 4122 version 4, in the byte order of Windows GUIDs (the
// first three fields little-endian), as vdi and vhdx store them.
inline Uuid recipe_guid(const RecipeHash& hash, std::uint64_t number) {
    // An odd multiplier keeps the numbers of one recipe apart.
    const std::uint64_t shift = number * 0x9e3779b97f4a7c15U;
    Uuid guid{};
    store_le(guid.data(), hash.high + shift);
    store_le(guid.data() + 8, hash.low ^ shift);
    guid[7] = (guid[7] & std::byte{0x0f}) | std::byte{0x40};
    guid[8] = (guid[8] & std::byte{0x3f}) | std::byte{0x80};
    return guid;
}

}  // namespace difffuzz
