// A case as JSON and back: the recipe. docs/recipe.schema.json describes the same format.
#pragma once

#include <string>
#include <string_view>

#include <nlohmann/json_fwd.hpp>

#include "core/cases/case.hpp"
#include "core/cases/json_fields.hpp"

namespace difffuzz {

inline constexpr std::string_view recipe_schema = "difffuzz.recipe/1";

// Bounds of what a recipe may hold, checked before anything is built from it.
struct RecipeLimits {
    std::size_t file_bytes = std::size_t{4} << 20;
    std::size_t images = 16;
    std::size_t outputs = 16;
    std::size_t steps = 32;
    std::size_t arguments = 64;
    std::size_t options = 32;
    std::size_t writes = 4096;
    std::size_t snapshots = 64;  // of one image
    std::size_t bitmaps = 64;    // of one image
    std::size_t damage = 64;     // of one image
    std::size_t text_bytes = 4096;
    std::uint64_t image_size = std::uint64_t{1} << 62;       // bytes, virtual
    std::uint64_t content_bytes = std::uint64_t{512} << 20;  // bytes of data in all images
};

// Canonical: equal cases give equal text from dump().
nlohmann::json to_json(const Case& c);

// Throws RecipeError (pointer and reason) for anything that is not a recipe: unknown or missing
// fields, values of another type or out of bounds, text that a tool could take for a path outside
// of the workspace, a protocol or a "json:" reference, references to images that do not exist.
Case case_from_json(const nlohmann::json& json);
Case case_from_text(std::string_view text);

}  // namespace difffuzz
