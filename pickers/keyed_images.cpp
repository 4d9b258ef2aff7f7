#include "pickers/keyed_images.hpp"

#include <algorithm>

#include "images/format.hpp"
#include "pickers/common_options.hpp"
#include "pickers/rules.hpp"

namespace difffuzz {
namespace {

constexpr std::string_view luks = "luks";
// It is written whole.
constexpr std::uint64_t largest = std::uint64_t{4} << 20;

bool is_keyed(const Case& c, const std::string& id) {
    const Format* format = find_format(format_of(c, id));
    return format != nullptr && format->keyed;
}

bool can_be_locked(const Case& c, const ImageRecipe& image) {
    return image.format == "raw" && image.size > 0 && image.size <= largest &&
           image.damage.empty() && std::ranges::none_of(c.images, [&](const ImageRecipe& other) {
               return other.backing == image.id;
           });
}

}  // namespace

void lock_an_image(Case& c, const Picker& picker, const PickContext& context) {
    static constexpr Weighted<std::string_view> locks[] = {{"none", 19}, {luks, 1}};
    if (!picker.kinds.empty() || !context.plan.has_format(luks) ||
        context.draws.pick("lock", locks) != luks) {
        return;
    }
    for (std::size_t i = 0; i < c.images.size(); ++i) {
        if (!can_be_locked(c, c.images[i])) {
            continue;
        }
        Case locked = c;
        locked.images[i].format = luks;
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
                !(opens_image(step, image->id) && has_option(step, image_options_option) &&
                  has_option(step, object_option))) {
                return image->id;
            }
        }
    }
    return {};
}

}  // namespace difffuzz
