#include "pickers/common_options.hpp"

#include <algorithm>

#include "core/tools/dialect.hpp"
#include "images/luks.hpp"
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

// Its id is the one by which the dialect has luks images opened.
const Value& secret() {
    static const Value value = OptionList{{{"qom-type", WordValue{"secret"}},
                                           {"id", WordValue{std::string(secret_id)}},
                                           {"data", WordValue{std::string(luks_password)}}}};
    return value;
}

bool names_an_image(const Argument& argument) {
    return (argument.option.empty() || argument.option == "if") && argument.value &&
           std::holds_alternative<ImageValue>(*argument.value);
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

bool opens_image(const Step& step, std::string_view id) {
    return std::ranges::any_of(step.arguments, [&](const Argument& argument) {
        return names_an_image(argument) && std::get<ImageValue>(*argument.value).id == id;
    });
}

// Formats are then part of the images' names.
void give_image_options(Step& step) {
    remove_option(step, "-f");
    if (step.command == "compare") {
        remove_option(step, "-F");
    }
    step.arguments.insert(step.arguments.begin(),
                          {std::string(image_options_option), std::nullopt});
}

void give_object(Step& step) {
    step.arguments.insert(step.arguments.begin(), {std::string(object_option), secret()});
}

bool is_common_option(const Step& step, const Argument& argument) {
    if (step.actor != Actor::tool || find_argument(step, argument.option) != &argument ||
        !takes(step.command, argument.option)) {
        return false;
    }
    return argument.option == object_option
               ? argument.value == secret()
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
            give_image_options(changed.steps[s]);
        }
        if (object) {
            give_object(changed.steps[s]);
        }
        if (validate_case(picker, changed).empty()) {
            c = std::move(changed);
        }
    }
}

}  // namespace difffuzz
