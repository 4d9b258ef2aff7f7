#include "pickers/keyed_images.hpp"

#include <algorithm>

#include "core/tools/dialect.hpp"
#include "images/format.hpp"
#include "pickers/common_options.hpp"
#include "pickers/rules.hpp"

namespace difffuzz {
namespace {

constexpr std::string_view luks = "luks";
constexpr std::string_view encrypted = "encrypted";
// What is written is written whole.
constexpr std::uint64_t largest = std::uint64_t{4} << 20;

bool is_keyed(const Case& c, const std::string& id) {
    const auto image = std::ranges::find(c.images, id, &ImageRecipe::id);
    const Format* format = find_format(format_of(c, id));
    return image != c.images.end() ? is_keyed(*image) : format != nullptr && format->keyed;
}

bool is_a_backing(const Case& c, const std::string& id) {
    return std::ranges::any_of(c.images,
                               [&](const ImageRecipe& other) { return other.backing == id; });
}

bool names(const Step& step, const std::string& id) {
    return std::ranges::any_of(step.arguments, [&](const Argument& argument) {
        const auto* image = argument.value ? std::get_if<ImageValue>(&*argument.value) : nullptr;
        return image != nullptr && image->id == id;
    });
}

// Neutral steps name images without a key.
bool is_named_by_neutral_steps(const Case& c, const std::string& id) {
    return std::ranges::any_of(
        c.steps, [&](const Step& step) { return step.actor == Actor::neutral && names(step, id); });
}

bool can_be_locked(const Case& c, const ImageRecipe& image, std::string_view lock) {
    return image.format == (lock == luks ? "raw" : "qcow2") && image.size > 0 &&
           image.size <= largest && image.damage.empty() && !is_a_backing(c, image.id) &&
           !is_named_by_neutral_steps(c, image.id);
}

void lock_image(ImageRecipe& image, std::string_view lock) {
    if (lock == luks) {
        image.format = luks;
    } else {
        image.options.push_back({std::string(encryption_option), WordValue{std::string(luks)}});
    }
}

}  // namespace

void lock_an_image(Case& c, const Picker& picker, const PickContext& context) {
    static constexpr Weighted<std::string_view> locks[] = {{"none", 36}, {luks, 2}, {encrypted, 2}};
    if (!picker.kinds.empty() || !context.plan.has_format(luks)) {
        return;
    }
    const std::string_view lock = context.draws.pick("lock", locks);
    for (std::size_t i = 0; i < c.images.size() && lock != "none"; ++i) {
        if (!can_be_locked(c, c.images[i], lock)) {
            continue;
        }
        Case locked = c;
        lock_image(locked.images[i], lock);
        bool named = false;
        for (Step& step : locked.steps) {
            if (step.actor == Actor::tool && opens_image(step, locked.images[i].id) &&
                common_options(step.command).size() == 2) {
                give_image_options(step);
                give_object(step);
                named = true;
            }
        }
        if (named && validate_case(picker, locked).empty()) {
            c = std::move(locked);
            return;
        }
    }
}

std::string image_without_key(const Case& c) {
    for (const Step& step : c.steps) {
        if (step.actor != Actor::tool) {
            continue;
        }
        for (const Argument& argument : step.arguments) {
            const auto* image =
                argument.value ? std::get_if<ImageValue>(&*argument.value) : nullptr;
            if (image != nullptr && is_keyed(c, image->id) &&
                (names_made_file(step, argument) || !opens_image(step, image->id) ||
                 !has_option(step, image_options_option) || !has_option(step, object_option))) {
                return image->id;
            }
        }
    }
    return {};
}

}  // namespace difffuzz
