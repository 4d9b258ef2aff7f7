#include "images/neutral_build.hpp"

#include <fmt/format.h>

#include "images/content_model.hpp"
#include "images/file.hpp"
#include "images/image_error.hpp"
#include "images/raw.hpp"

namespace difffuzz {

void build_by_convert(const Case& c, const ImageRecipe& recipe, std::uint64_t raw_bytes,
                      std::string_view options, const std::string& directory, NeutralTools& tools) {
    const std::string name = file_name(recipe.id, recipe.format);
    const TemporaryFile content(directory, name + ".content");
    build_raw_file(*model_of(c, recipe.id), raw_bytes, directory, content.name());
    std::vector<std::string> arguments{"convert", "-f", "raw", "-O", recipe.format};
    if (!options.empty()) {
        arguments.insert(arguments.end(), {"-o", std::string(options)});
    }
    arguments.insert(arguments.end(), {content.name(), name});
    const Outcome outcome = tools.qemu_img(arguments);
    if (outcome_class(outcome.ending) != OutcomeClass::succeeded) {
        throw ImageError(fmt::format("image {}: qemu-img could not make it: {}", recipe.id,
                                     outcome.err.head.empty() ? "no message" : outcome.err.head));
    }
}

}  // namespace difffuzz
