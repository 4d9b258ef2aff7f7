#include "pickers/case_reach.hpp"

#include <algorithm>

#include "pickers/image_feature.hpp"

namespace difffuzz {
namespace {

template <typename T>
void settle(std::vector<T>& items) {
    std::ranges::sort(items);
    items.erase(std::unique(items.begin(), items.end()), items.end());
}

void add_options(const Step& step, std::vector<std::string>& options) {
    for (const Argument& argument : step.arguments) {
        if (argument.option.empty()) {
            continue;
        }
        options.push_back(argument.option);
        const auto* list = argument.value ? std::get_if<OptionList>(&*argument.value) : nullptr;
        if (list != nullptr && argument.option == "-o") {
            for (const FormatOption& option : list->options) {
                options.push_back(creation_option_name(option.name));
            }
        }
    }
}

}  // namespace

CaseReach reach_of_case(const Case& c) {
    CaseReach reach;
    for (const Step& step : c.steps) {
        if (step.actor == Actor::tool) {
            add_options(step, reach.options);
        }
    }
    for (const ImageRecipe& image : c.images) {
        reach.formats.push_back(image.format);
        for (const ImageFeature& feature : image_features()) {
            if (feature.has(image)) {
                reach.features.emplace_back(feature.name, image.format);
            }
        }
    }
    for (const OutputImage& output : c.outputs) {
        reach.formats.push_back(output.format);
    }
    settle(reach.options);
    settle(reach.formats);
    settle(reach.features);
    return reach;
}

std::string creation_option_name(std::string_view name) { return "-o " + std::string(name); }

}  // namespace difffuzz
