#include "images/neutral_build.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <vector>

#include "images/content_model.hpp"
#include "images/file.hpp"
#include "images/image_error.hpp"
#include "images/raw.hpp"

namespace difffuzz {
namespace {

void convert(const ImageRecipe& recipe, const std::string& source, std::string_view source_format,
             std::string_view options, NeutralTools& tools) {
    std::vector<std::string> arguments{"convert", "-f", std::string(source_format), "-O",
                                       recipe.format};
    if (!options.empty()) {
        arguments.insert(arguments.end(), {"-o", std::string(options)});
    }
    arguments.insert(arguments.end(), {source, file_name(recipe.id, recipe.format)});
    const Outcome outcome = tools.qemu_img(arguments);
    if (outcome_class(outcome.ending) != OutcomeClass::succeeded) {
        throw ImageError(fmt::format("image {}: qemu-img could not make it: {}", recipe.id,
                                     outcome.err.head.empty() ? "no message" : outcome.err.head));
    }
}

}  // namespace

void build_by_convert(const Case& c, const ImageRecipe& recipe, std::uint64_t raw_bytes,
                      std::string_view options, const std::string& directory, NeutralTools& tools) {
    const TemporaryFile content(directory, file_name(recipe.id, recipe.format) + ".content");
    build_raw_file(*model_of(c, recipe.id), raw_bytes, directory, content.name());
    convert(recipe, content.name(), "raw", options, tools);
}

void build_overlay_by_convert(const Case& c, const ImageRecipe& recipe, std::string_view options,
                              const std::string& directory, NeutralTools& tools) {
    Case with_overlay = c;
    ImageRecipe& overlay = *std::ranges::find(with_overlay.images, recipe.id, &ImageRecipe::id);
    overlay.format = "qcow2";
    overlay.options.clear();
    // Ids are unique, so no image of the case has this name.
    const TemporaryFile content(directory, file_name(overlay.id, overlay.format));
    find_format(overlay.format)->build(with_overlay, overlay, directory, tools);
    const std::string backing =
        fmt::format("{}backing_file={},backing_fmt={}", options.empty() ? "" : ",",
                    file_name_of(c, *recipe.backing), format_of(c, *recipe.backing));
    convert(recipe, content.name(), overlay.format, std::string(options) + backing, tools);
}

}  // namespace difffuzz
