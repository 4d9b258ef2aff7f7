// A case: the whole input of one comparison, as pure data.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

#include "core/cases/image_recipe.hpp"
#include "core/cases/value.hpp"

namespace difffuzz {

// One argument: an option with or without a value, or a positional value (empty option).
struct Argument {
    std::string option;
    std::optional<Value> value;
    bool operator==(const Argument&) const = default;
};

// Who runs a step: each side its own tool, or the same neutral tool (the reference's) on both.
enum class Actor { tool, neutral };

// What a step is meant to be: something every tool should do, something that breaks exactly one
// named rule and is to be refused, or anything at all done to a damaged image.
struct ValidIntent {
    bool operator==(const ValidIntent&) const = default;
};
struct RefusedIntent {
    std::string rule;
    bool operator==(const RefusedIntent&) const = default;
};
struct DamagedIntent {
    bool operator==(const DamagedIntent&) const = default;
};
using Intent = std::variant<ValidIntent, RefusedIntent, DamagedIntent>;

struct Step {
    Actor actor = Actor::tool;
    std::string operation;  // the name in the operations table
    std::string command;    // the word of the default dialect: "info", "convert", ...
    Intent intent;
    std::vector<Argument> arguments;
    bool operator==(const Step&) const = default;
};

struct Case {
    std::string operation;  // the row that drew it and that validates it
    std::vector<ImageRecipe> images;
    std::vector<OutputImage> outputs;
    std::vector<Step> steps;
    bool operator==(const Case&) const = default;
};

// "valid", "refused" or "damaged": what the first step is that is not valid.
std::string_view intent_name(const Case& c);
// The broken rule of the first refused step, or empty.
std::string_view broken_rule(const Case& c);

const ImageRecipe* find_image(const Case& c, std::string_view id);
const OutputImage* find_output(const Case& c, std::string_view id);

// The file name of an image or output, the same on both sides: "<id>.<format>". Never a path.
std::string file_name(std::string_view id, std::string_view format);
// The file name of the image or output `id` of the case; empty if there is none.
std::string file_name_of(const Case& c, std::string_view id);
// The format of the image or output `id`; empty if there is none.
std::string_view format_of(const Case& c, std::string_view id);

// Look-ups in one step. `option` is the exact spelling ("-f", "--output").
const Argument* find_argument(const Step& step, std::string_view option);
bool has_option(const Step& step, std::string_view option);
// The value of an option as T (e.g. WordValue), or null when absent or of another type.
template <typename T>
const T* option_value(const Step& step, std::string_view option) {
    const Argument* argument = find_argument(step, option);
    return argument != nullptr && argument->value ? std::get_if<T>(&*argument->value) : nullptr;
}
// Positional arguments in order.
std::vector<const Argument*> positionals(const Step& step);

}  // namespace difffuzz
