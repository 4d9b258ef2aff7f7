#include "pickers/rules.hpp"

#include <algorithm>
#include <array>

namespace difffuzz {
namespace {

constexpr std::array<std::string_view, 9> formats_array{"raw", "qcow2", "vmdk", "vpc",      "vhdx",
                                                        "vdi", "qed",   "qcow", "parallels"};
constexpr std::array<std::string_view, 2> output_array{"human", "json"};

template <typename Range>
bool has_word(const Range& words, std::string_view word) {
    return std::find(words.begin(), words.end(), word) != words.end();
}

std::vector<Argument>::iterator first_positional(Step& step) {
    return std::find_if(step.arguments.begin(), step.arguments.end(),
                        [](const Argument& argument) { return argument.option.empty(); });
}

// The option's value is a word outside of `words`, or no word at all.
template <typename Range>
bool outside(const Case& c, std::string_view option, const Range& words) {
    const Argument* argument = find_argument(last_step(c), option);
    if (argument == nullptr || !argument->value) {
        return false;
    }
    const auto* word = std::get_if<WordValue>(&*argument->value);
    return word == nullptr || !has_word(words, word->text);
}

const ImageValue* first_image(const Case& c) {
    for (const Argument* argument : positionals(last_step(c))) {
        if (const auto* image = std::get_if<ImageValue>(&*argument->value)) {
            return image;
        }
    }
    return nullptr;
}

}  // namespace

const Step& last_step(const Case& c) { return c.steps.back(); }
Step& last_step(Case& c) { return c.steps.back(); }

void set_option(Step& step, std::string_view option, Value value) {
    for (Argument& argument : step.arguments) {
        if (argument.option == option) {
            argument.value = std::move(value);
            return;
        }
    }
    step.arguments.insert(first_positional(step), Argument{std::string(option), std::move(value)});
}

void remove_option(Step& step, std::string_view option) {
    std::erase_if(step.arguments,
                  [&](const Argument& argument) { return argument.option == option; });
}

void add_flag(Step& step, std::string_view option) {
    step.arguments.insert(first_positional(step), Argument{std::string(option), std::nullopt});
}

std::span<const std::string_view> known_formats() { return formats_array; }
std::span<const std::string_view> output_words() { return output_array; }

Rule unknown_option_rule() {
    return {"unknown-option", true, "every option must be one that the command has",
            [](const Case& c) { return has_option(last_step(c), unknown_option); },
            [](Case& c, const Draws&) { add_flag(last_step(c), unknown_option); }};
}

Rule unknown_format_rule() {
    return {"unknown-format", true, "-f must name a format that exists",
            [](const Case& c) { return outside(c, "-f", formats_array); },
            [](Case& c, const Draws& draws) {
                static constexpr std::string_view words[] = {"qcow9", "RAW", "vdmk", "none"};
                set_option(last_step(c), "-f",
                           LiteralValue{std::string(draws.pick("format", words))});
            }};
}

Rule unknown_output_rule() {
    return {"unknown-output", true, "--output must be human or json",
            [](const Case& c) { return outside(c, "--output", output_array); },
            [](Case& c, const Draws& draws) {
                static constexpr std::string_view words[] = {"xml", "JSON", "jsonl"};
                set_option(last_step(c), "--output",
                           LiteralValue{std::string(draws.pick("output", words))});
            }};
}

Rule missing_file_rule() {
    return {"missing-file", true, "the image must exist",
            [](const Case& c) {
                const ImageValue* image = first_image(c);
                return image != nullptr && find_image(c, image->id) == nullptr;
            },
            [](Case& c, const Draws&) {
                for (Argument& argument : last_step(c).arguments) {
                    if (argument.option.empty()) {
                        c.outputs.push_back(
                            {"absent",
                             std::string(format_of(c, std::get<ImageValue>(*argument.value).id))});
                        argument.value = ImageValue{"absent"};
                        return;
                    }
                }
            }};
}

Rule no_file_rule() {
    return {"no-file", true, "an image must be named",
            [](const Case& c) { return positionals(last_step(c)).empty(); },
            [](Case& c, const Draws&) { remove_option(last_step(c), ""); }};
}

Rule two_files_rule() {
    return {"two-files", true, "only one image may be named",
            [](const Case& c) { return positionals(last_step(c)).size() > 1; },
            [](Case& c, const Draws&) {
                const Argument again = *positionals(last_step(c)).front();
                last_step(c).arguments.push_back(again);
            }};
}

Rule own_format_rule() {
    return {"own-format", false,
            "the image must be of the format that -f names; raw is accepted for any",
            [](const Case& c) {
                const auto* word = option_value<WordValue>(last_step(c), "-f");
                const ImageValue* image = first_image(c);
                return word != nullptr && word->text == "raw" && image != nullptr &&
                       find_image(c, image->id) != nullptr && format_of(c, image->id) != "raw";
            }};
}

Rule known_images_rule() {
    return {"known-images", false, "arguments may only name images and outputs of the case",
            [](const Case& c) {
                const auto unknown = [&](const auto& value) {
                    const auto* image = std::get_if<ImageValue>(&value);
                    return image != nullptr && file_name_of(c, image->id).empty();
                };
                for (const Argument& argument : last_step(c).arguments) {
                    if (!argument.value) {
                        continue;
                    }
                    const auto* list = std::get_if<OptionList>(&*argument.value);
                    if (unknown(*argument.value) ||
                        (list != nullptr &&
                         std::any_of(list->options.begin(), list->options.end(),
                                     [&](const FormatOption& o) { return unknown(o.value); }))) {
                        return true;
                    }
                }
                return false;
            }};
}

Rule other_format_rule() {
    return {"other-format", true, "the image must be of the format that -f names",
            [](const Case& c) {
                const auto* word = option_value<WordValue>(last_step(c), "-f");
                const ImageValue* image = first_image(c);
                return word != nullptr && image != nullptr && find_image(c, image->id) != nullptr &&
                       word->text != "raw" && has_word(formats_array, word->text) &&
                       word->text != format_of(c, image->id);
            },
            [](Case& c, const Draws& draws) {
                std::vector<std::string_view> others;
                for (const std::string_view format : formats_array) {
                    if (format != "raw" && format != format_of(c, first_image(c)->id)) {
                        others.push_back(format);
                    }
                }
                set_option(last_step(c), "-f",
                           WordValue{std::string(
                               draws.pick("format", std::span<const std::string_view>(others)))});
            }};
}

}  // namespace difffuzz
