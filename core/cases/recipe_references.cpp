#include "core/cases/recipe_references.hpp"

#include <set>

#include "core/cases/json_fields.hpp"
#include "core/cases/recipe_json.hpp"

namespace difffuzz {
namespace {

constexpr RecipeLimits limits;

void require_image(const Case& c, const ImageValue* image, const std::string& pointer) {
    if (image != nullptr && format_of(c, image->id).empty()) {
        throw RecipeError(pointer, "names the image '" + image->id + "', which the case lacks");
    }
}

}  // namespace

void require_references(const Case& c) {
    std::set<std::string> ids;
    std::uint64_t data = 0;
    for (std::size_t i = 0; i < c.images.size(); ++i) {
        const ImageRecipe& image = c.images[i];
        const std::string pointer = "/images/" + std::to_string(i);
        if (image.backing && !ids.contains(*image.backing)) {
            throw RecipeError(pointer + "/backing", "must name an earlier image");
        }
        if (!ids.insert(image.id).second) {
            throw RecipeError(pointer + "/id", "is used twice");
        }
        for (const ContentWrite& write : image.content) {
            data += has_data(write.kind) ? write.length : 0;
            if (data > limits.content_bytes) {
                throw RecipeError(pointer + "/content", "brings the data of all images above " +
                                                            std::to_string(limits.content_bytes) +
                                                            " bytes");
            }
        }
    }
    for (std::size_t i = 0; i < c.outputs.size(); ++i) {
        if (!ids.insert(c.outputs[i].id).second) {
            throw RecipeError("/outputs/" + std::to_string(i) + "/id", "is used twice");
        }
    }
    for (std::size_t s = 0; s < c.steps.size(); ++s) {
        for (std::size_t a = 0; a < c.steps[s].arguments.size(); ++a) {
            const auto& value = c.steps[s].arguments[a].value;
            if (!value) {
                continue;
            }
            const std::string pointer =
                "/steps/" + std::to_string(s) + "/arguments/" + std::to_string(a) + "/value";
            require_image(c, std::get_if<ImageValue>(&*value), pointer);
            if (const auto* list = std::get_if<OptionList>(&*value)) {
                for (const FormatOption& option : list->options) {
                    require_image(c, std::get_if<ImageValue>(&option.value), pointer);
                }
            }
        }
    }
}

}  // namespace difffuzz
