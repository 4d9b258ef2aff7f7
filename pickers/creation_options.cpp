#include "pickers/creation_options.hpp"

#include <algorithm>

#include "pickers/creation_option_values.hpp"
#include "pickers/rules.hpp"

namespace difffuzz {
namespace {

// Bytes of an entry of a second-level table.
std::uint64_t table_entry(const std::vector<FormatOption>& options) {
    return word_of(options, "extended_l2") == "on" ? 16 : 8;
}

}  // namespace

void add_creation_options(Step& step, const Draws& draws, std::vector<FormatOption> options) {
    if (options.empty()) {
        return;
    }
    OptionList rest;
    if (options.size() > 1 && draws.chance("split", 15)) {
        const auto at = options.begin() + static_cast<std::ptrdiff_t>(
                                              draws.between("split.at", 1, options.size() - 1));
        rest.options.assign(at, options.end());
        options.erase(at, options.end());
    }
    step.arguments.push_back({"-o", OptionList{std::move(options)}});
    if (!rest.options.empty()) {
        step.arguments.push_back({"-o", std::move(rest)});
    }
}

std::vector<FormatOption> creation_options(const Step& step) {
    std::vector<FormatOption> options;
    for (const Argument& argument : step.arguments) {
        const auto* list = argument.option == "-o" && argument.value
                               ? std::get_if<OptionList>(&*argument.value)
                               : nullptr;
        if (list != nullptr) {
            options.insert(options.end(), list->options.begin(), list->options.end());
        }
    }
    return options;
}

const Scalar* find_creation_option(const std::vector<FormatOption>& options,
                                   std::string_view name) {
    const auto found =
        std::find_if(options.rbegin(), options.rend(),
                     [&](const FormatOption& option) { return option.name == name; });
    return found == options.rend() ? nullptr : &found->value;
}

void erase_creation_option(Step& step, std::string_view name) {
    for (Argument& argument : step.arguments) {
        if (argument.option == "-o" && argument.value) {
            if (auto* list = std::get_if<OptionList>(&*argument.value)) {
                std::erase_if(list->options,
                              [&](const FormatOption& option) { return option.name == name; });
            }
        }
    }
    std::erase_if(step.arguments, [](const Argument& argument) {
        return argument.option == "-o" && argument.value == Value{OptionList{}};
    });
}

void set_creation_option(Step& step, std::string_view name, Scalar value) {
    erase_creation_option(step, name);
    const FormatOption option{std::string(name), std::move(value)};
    for (Argument& argument : step.arguments) {
        if (argument.option == "-o" && argument.value) {
            if (auto* list = std::get_if<OptionList>(&*argument.value)) {
                list->options.push_back(option);
                return;
            }
        }
    }
    set_option(step, "-o", OptionList{{option}});
}

std::string_view target_format(const Case& c) {
    if (const OutputImage* output = find_output(c, target_id)) {
        return output->format;
    }
    const auto* word = option_value<WordValue>(last_step(c), "-O");
    return word == nullptr ? std::string_view{} : std::string_view(word->text);
}

ImageRecipe target_recipe(const Case& c, std::uint64_t size) {
    ImageRecipe recipe;
    recipe.id = target_id;
    recipe.format = target_format(c);
    recipe.size = size;
    recipe.options = creation_options(last_step(c));
    return recipe;
}

bool makes_version_2(const Case& c) {
    return makes_qcow2(c) && is_version_2(creation_options(last_step(c)));
}

std::uint64_t target_cluster(const Case& c) {
    return makes_qcow2(c) ? cluster_of(creation_options(last_step(c))) : default_cluster;
}

UpFront target_up_front(const Case& c, std::uint64_t size) {
    const auto options = creation_options(last_step(c));
    const std::uint64_t cluster = target_cluster(c);
    UpFront cost;
    if (makes_qcow2(c)) {
        // One first-level entry per table of the second level.
        const std::uint64_t tables = size / cluster / (cluster / table_entry(options)) + 1;
        cost.bytes += tables * 8 + 4 * cluster;
        cost.clusters += tables * 8 / cluster + 4;
    }
    const std::string_view mode = word_of(options, "preallocation");
    if (mode == "full" || mode == "falloc") {
        cost.bytes += size;
    }
    if (has_preallocation(options)) {
        cost.clusters += size / cluster;
    }
    return cost;
}

}  // namespace difffuzz
