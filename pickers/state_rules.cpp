#include "pickers/state_rules.hpp"

#include <algorithm>

namespace difffuzz {

std::string_view common_obstacle(const Case& c, const Step& step, const CaseState& state) {
    if (has_option(step, unknown_option)) {
        return "unknown-option";
    }
    const std::size_t files = positionals(step).size();
    if (files != 1) {
        return files == 0 ? "no-file" : "two-files";
    }
    const std::string id = image_of_step(step);
    const auto image = state.find(id);
    if (image == state.end()) {
        return find_output(c, id) != nullptr ? "missing-file" : "known-images";
    }
    if (option_value<LiteralValue>(step, "-f") != nullptr) {
        return "unknown-format";
    }
    const auto* format = option_value<WordValue>(step, "-f");
    if (format != nullptr && format->text != image->second.format) {
        return format->text == "raw" ? "own-format" : "other-format";
    }
    return {};
}

void use_raw_image(Case& c) {
    ImageRecipe extra;
    extra.id = "extra";
    extra.format = "raw";
    extra.size = 65536;
    c.images.push_back(extra);
    Step& step = last_step(c);
    if (has_option(step, "-f")) {
        set_option(step, "-f", WordValue{extra.format});
    }
    for (Argument& argument : step.arguments) {
        if (argument.option.empty()) {
            argument.value = ImageValue{extra.id};
        }
    }
}

bool has_qed(const Case& c) {
    return std::ranges::find(c.images, "qed", &ImageRecipe::format) != c.images.end();
}

Rule qed_write_rule() {
    return {"qed-write", false,
            "nothing writes to a qed image between the steps: a write to a part of a cluster of "
            "zeros makes the rest of it show the backing file, by qemu-io 7.2",
            [](const Case& c) {
                return std::ranges::any_of(c.steps, [&](const Step& step) {
                    return step.actor == Actor::neutral &&
                           format_of(c, image_of_step(step)) == "qed";
                });
            }};
}

}  // namespace difffuzz
