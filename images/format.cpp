#include "images/format.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "core/tools/dialect.hpp"
#include "images/image_error.hpp"
#include "images/luks.hpp"
#include "images/parallels.hpp"
#include "images/qcow.hpp"
#include "images/qcow2.hpp"
#include "images/qed.hpp"
#include "images/raw.hpp"
#include "images/recipe_rules.hpp"
#include "images/vdi.hpp"
#include "images/vhdx.hpp"
#include "images/vmdk.hpp"
#include "images/vpc.hpp"

namespace difffuzz {
namespace {

void require_sound(const Case& c, std::vector<ImageRecipe>::const_iterator image) {
    const auto fail = [&](const std::string& what) {
        throw ImageError(fmt::format("image {}: {}", image->id, what));
    };
    const Format* format = find_format(image->format);
    if (format == nullptr) {
        fail(fmt::format("unknown format '{}'", image->format));
    }
    if (const std::string broken = broken_recipe(*image); !broken.empty()) {
        throw ImageError(broken);
    }
    const auto earlier = [&](const std::string& id) {
        return std::find_if(c.images.begin(), image,
                            [&](const ImageRecipe& other) { return other.id == id; }) != image;
    };
    if (earlier(image->id)) {
        fail("the case has two images of this name");
    }
    if (image->backing && !earlier(*image->backing)) {
        fail(fmt::format("its backing image '{}' is not an earlier image of the case",
                         *image->backing));
    }
}

}  // namespace

const std::vector<Format>& formats() {
    static const std::vector<Format> table{
        raw_format(),  qcow2_format(), vmdk_format(), vpc_format(),       vdi_format(),
        vhdx_format(), qed_format(),   qcow_format(), parallels_format(), luks_format()};
    return table;
}

const Format* find_format(std::string_view name) {
    const auto found = std::ranges::find(formats(), name, &Format::name);
    return found == formats().end() ? nullptr : &*found;
}

bool is_keyed(const ImageRecipe& recipe) {
    const Format* format = find_format(recipe.format);
    return (format != nullptr && format->keyed) ||
           !word_option(recipe, encryption_option, "").empty();
}

std::vector<std::string> files_of(const ImageRecipe& recipe) {
    std::vector<std::string> names{file_name(recipe.id, recipe.format)};
    const Format* format = find_format(recipe.format);
    if (format != nullptr && format->extra_files != nullptr) {
        const std::vector<std::string> more = format->extra_files(recipe);
        names.insert(names.end(), more.begin(), more.end());
    }
    return names;
}

std::string broken_recipe(const ImageRecipe& recipe) {
    const Format& format = *find_format(recipe.format);
    const std::string broken = format.validate(recipe);
    return broken.empty() ? broken_damage(recipe, format.damage.fields) : broken;
}

std::string_view damage_feature(const Case& c) {
    bool damaged = false;
    for (const ImageRecipe& image : c.images) {
        if (const Format* format = find_format(image.format);
            format != nullptr && !image.damage.empty()) {
            damaged = true;
            if (!points_past_end(image, format->damage.fields)) {
                return {};
            }
        }
    }
    return damaged ? "pointers past the end" : "";
}

bool stays_inside(const ForeignReference& reference) {
    // A colon ends a protocol's name ("nbd:", "json:"); a backslash separates for readers that come
    // from Windows.
    const std::string_view name = reference.name;
    return !name.empty() && name.size() <= 255 && name != "." && name != ".." &&
           name.find_first_of(std::string_view("/\\:\0", 4)) == std::string_view::npos;
}

void build_images(const Case& c, const std::string& directory, NeutralTools& tools) {
    for (auto image = c.images.begin(); image != c.images.end(); ++image) {
        require_sound(c, image);
        const Format& format = *find_format(image->format);
        // Ids that stand for the recipe are those of the sound image.
        ImageRecipe sound = *image;
        sound.damage.clear();
        format.build(c, sound, directory, tools);
        apply_damage(*image, format.damage, directory);
    }
}

}  // namespace difffuzz
