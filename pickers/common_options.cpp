#include "pickers/common_options.hpp"

#include <algorithm>

#include "pickers/rules.hpp"

namespace difffuzz {
namespace {

// Rare, since every command meets them in the same code.
constexpr unsigned percent = 3;

bool takes(std::string_view command, std::string_view option) {
    if (option == object_option) {
        return command != "bench" && command != "dd";
    }
    return command != "bench" && command != "create";
}

const Value& unused_secret() {
    static const Value value = OptionList{{{"qom-type", WordValue{"secret"}},
                                           {"id", WordValue{"sec0"}},
                                           {"data", WordValue{"letters"}}}};
    return value;
}

bool names_an_image(const Argument& argument) {
    return (argument.option.empty() || argument.option == "if") && argument.value &&
           std::holds_alternative<ImageValue>(*argument.value);
}

// Formats are then part of the images' names.
void name_by_driver(Step& step) {
    remove_option(step, "-f");
    if (step.command == "compare") {
        remove_option(step, "-F");
    }
    step.arguments.insert(step.arguments.begin(),
                          {std::string(image_options_option), std::nullopt});
}

}  // namespace

std::vector<std::string_view> common_options(std::string_view command) {
    std::vector<std::string_view> options;
    for (const std::string_view option : {object_option, image_options_option}) {
        if (takes(command, option)) {
            options.push_back(option);
        }
    }
    return options;
}

bool is_common_option(const Step& step, const Argument& argument) {
    if (step.actor != Actor::tool || find_argument(step, argument.option) != &argument ||
        !takes(step.command, argument.option)) {
        return false;
    }
    return argument.option == object_option
               ? argument.value == unused_secret()
               : argument.option == image_options_option && !argument.value;
}

void add_common_options(Case& c, const Picker& picker, const PickContext& context) {
    for (std::size_t s = 0; s < c.steps.size(); ++s) {
        if (c.steps[s].actor != Actor::tool) {
            continue;
        }
        const Draws draws = context.draws.scope("step[" + std::to_string(s) + "]");
        const Step& plain = c.steps[s];
        const bool by_driver = takes(plain.command, image_options_option) &&
                               std::ranges::any_of(plain.arguments, names_an_image) &&
                               draws.chance("arg[--image-opts]", percent);
        const bool object =
            takes(plain.command, object_option) && draws.chance("arg[--object]", percent);
        if (!by_driver && !object) {
            continue;
        }
        Case changed = c;
        if (by_driver) {
            name_by_driver(changed.steps[s]);
        }
        if (object) {
            changed.steps[s].arguments.insert(changed.steps[s].arguments.begin(),
                                              {std::string(object_option), unused_secret()});
        }
        if (validate_case(picker, changed).empty()) {
            c = std::move(changed);
        }
    }
}

}  // namespace difffuzz
