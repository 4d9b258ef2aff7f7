#include "core/cases/case.hpp"

#include <algorithm>

namespace difffuzz {
namespace {

template <typename Range>
auto find_id(const Range& range, std::string_view id) -> decltype(&*range.begin()) {
    const auto found =
        std::find_if(range.begin(), range.end(), [&](const auto& item) { return item.id == id; });
    return found == range.end() ? nullptr : &*found;
}

}  // namespace

std::string_view broken_rule(const Case& c) {
    for (const Step& step : c.steps) {
        if (const auto* refused = std::get_if<RefusedIntent>(&step.intent)) {
            return refused->rule;
        }
    }
    return {};
}

std::string_view intent_name(const Case& c) {
    for (const Step& step : c.steps) {
        if (std::holds_alternative<RefusedIntent>(step.intent)) {
            return "refused";
        }
        if (std::holds_alternative<DamagedIntent>(step.intent)) {
            return "damaged";
        }
    }
    return "valid";
}

const ImageRecipe* find_image(const Case& c, std::string_view id) { return find_id(c.images, id); }

const OutputImage* find_output(const Case& c, std::string_view id) {
    return find_id(c.outputs, id);
}

std::string file_name(std::string_view id, std::string_view format) {
    return std::string(id) + "." + std::string(format);
}

std::string_view format_of(const Case& c, std::string_view id) {
    if (const ImageRecipe* image = find_image(c, id)) {
        return image->format;
    }
    if (const OutputImage* output = find_output(c, id)) {
        return output->format;
    }
    return {};
}

std::string file_name_of(const Case& c, std::string_view id) {
    const std::string_view format = format_of(c, id);
    return format.empty() ? std::string{} : file_name(id, format);
}

const Argument* find_argument(const Step& step, std::string_view option) {
    const auto found =
        std::find_if(step.arguments.begin(), step.arguments.end(),
                     [&](const Argument& argument) { return argument.option == option; });
    return found == step.arguments.end() ? nullptr : &*found;
}

bool has_option(const Step& step, std::string_view option) {
    return find_argument(step, option) != nullptr;
}

std::vector<const Argument*> positionals(const Step& step) {
    std::vector<const Argument*> result;
    for (const Argument& argument : step.arguments) {
        if (argument.option.empty()) {
            result.push_back(&argument);
        }
    }
    return result;
}

}  // namespace difffuzz
