#include "images/probed_backing.hpp"

#include <fmt/format.h>

#include <span>

#include "images/image_error.hpp"
#include "images/recipe_rules.hpp"

namespace difffuzz {

std::string backing_name_for_probing(const Case& c, const ImageRecipe& recipe) {
    if (!recipe.backing) {
        return {};
    }
    const ImageRecipe* base = find_image(c, *recipe.backing);
    if (base != nullptr && base->format == "vpc" &&
        word_option(*base, "subformat", "dynamic") == "fixed") {
        throw ImageError(fmt::format(
            "image {}: its backing image '{}' is a fixed vpc image, which has nothing at its start "
            "that tells it from a raw one",
            recipe.id, base->id));
    }
    return file_name_of(c, *recipe.backing);
}

std::string read_name(const File& file, std::uint64_t offset, std::uint32_t length) {
    std::string name(length, '\0');
    name.resize(file.read_at(offset, std::as_writable_bytes(std::span(name))));
    return name;
}

}  // namespace difffuzz
