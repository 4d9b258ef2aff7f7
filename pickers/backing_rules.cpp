#include "pickers/backing_rules.hpp"

#include <algorithm>

#include "pickers/creation_options.hpp"
#include "pickers/rules.hpp"

namespace difffuzz {
namespace {

using Words = std::string_view;

bool can_have_backing(std::string_view format) { return format == "qcow2" || format == "vmdk"; }

// The value of -F, or of backing_fmt; null where neither is given.
const std::string* backing_format(const Step& step) {
    if (const auto* word = option_value<WordValue>(step, "-F")) {
        return &word->text;
    }
    for (const Argument& argument : step.arguments) {
        const auto* list = argument.value ? std::get_if<OptionList>(&*argument.value) : nullptr;
        if (list == nullptr) {
            continue;
        }
        for (const FormatOption& option : list->options) {
            const auto* word = std::get_if<WordValue>(&option.value);
            if (option.name == "backing_fmt" && word != nullptr) {
                return &word->text;
            }
        }
    }
    return nullptr;
}

bool has_format_literal(const Step& step) {
    return option_value<LiteralValue>(step, "-F") != nullptr;
}

// With -u the backing file is not opened, so nothing holds its format against it.
bool is_opened(const Case& c) { return !has_option(last_step(c), "-u"); }

// The format of the backing image where the case has one that is named and exists.
std::string_view true_format(const Case& c) {
    const auto backing = named_backing(last_step(c));
    return backing && find_image(c, *backing) != nullptr ? format_of(c, *backing)
                                                         : std::string_view{};
}

bool is_opened_by_qcow2(const Case& c) {
    return is_opened(c) && !true_format(c).empty() && target_format(c) == "qcow2";
}

// An image made for a rule that needs one: a small empty raw one.
std::string add_extra_image(Case& c) {
    ImageRecipe extra;
    extra.id = "extra";
    extra.format = "raw";
    extra.size = 65536;
    c.images.push_back(extra);
    return extra.id;
}

Rule format_missing_rule() {
    return {
        "backing-without-format", true, "a backing file needs its format",
        [](const Case& c) {
            const Step& step = last_step(c);
            return named_backing(step) && backing_format(step) == nullptr &&
                   !has_format_literal(step);
        },
        [](Case& c, const Draws&) {
            remove_option(last_step(c), "-F");
            erase_creation_option(last_step(c), "backing_fmt");
        },
        // A vmdk names the format of its parent by itself.
        [](const Case& c) { return named_backing(last_step(c)) && target_format(c) == "qcow2"; }};
}

Rule format_alone_rule() {
    return {
        "format-without-backing",
        true,
        "a backing format needs a backing file",
        [](const Case& c) {
            const Step& step = last_step(c);
            return !named_backing(step) && backing_format(step) != nullptr;
        },
        [](Case& c, const Draws& draws) {
            static constexpr Words formats[] = {"raw", "qcow2"};
            set_option(last_step(c), "-F", WordValue{std::string(draws.pick("format", formats))});
        },
        [](const Case& c) { return target_format(c) == "qcow2" && !named_backing(last_step(c)); }};
}

Rule unknown_format() {
    return {"unknown-backing-format",
            true,
            "-F must name a format that exists",
            [](const Case& c) { return has_format_literal(last_step(c)); },
            [](Case& c, const Draws& draws) {
                static constexpr Words words[] = {"qcow9", "RAW", "vdmk", "none"};
                erase_creation_option(last_step(c), "backing_fmt");
                set_option(last_step(c), "-F",
                           LiteralValue{std::string(draws.pick("format", words))});
            },
            is_opened_by_qcow2};
}

Rule other_backing_format_rule() {
    return {"other-backing-format",
            true,
            "the backing file must be of the format that -F names",
            [](const Case& c) {
                const std::string* word = backing_format(last_step(c));
                const std::string_view format = true_format(c);
                return word != nullptr && is_opened(c) && !format.empty() && *word != "raw" &&
                       *word != format;
            },
            [](Case& c, const Draws& draws) {
                std::vector<Words> others;
                for (const Words format : known_formats()) {
                    if (format != "raw" && format != true_format(c)) {
                        others.push_back(format);
                    }
                }
                erase_creation_option(last_step(c), "backing_fmt");
                set_option(
                    last_step(c), "-F",
                    WordValue{std::string(draws.pick("format", std::span<const Words>(others)))});
            },
            is_opened_by_qcow2};
}

Rule own_backing_format_rule() {
    return {
        "own-backing-format", false,
        "the backing file must be of the format that -F names; raw is accepted for any, and any "
        "with -u",
        [](const Case& c) {
            const std::string* word = backing_format(last_step(c));
            const std::string_view format = true_format(c);
            return word != nullptr && !format.empty() && *word != format &&
                   (*word == "raw" || !is_opened(c));
        }};
}

// Captureless functions for either spelling of the option.
template <char letter>
void name_extra_as_backing(Case& c, const Draws&) {
    Step& step = last_step(c);
    static constexpr char option[] = {'-', letter, '\0'};
    set_option(step, option, ImageValue{add_extra_image(c)});
    set_option(step, "-F", WordValue{"raw"});
}

template <char letter>
Rule unsupported_rule() {
    return {"backing-unsupported",
            true,
            "the format must have backing files",
            [](const Case& c) {
                return named_backing(last_step(c)) && !can_have_backing(target_format(c));
            },
            name_extra_as_backing<letter>,
            [](const Case& c) {
                return !can_have_backing(target_format(c)) && find_image(c, "extra") == nullptr &&
                       positionals(last_step(c)).size() <= 2;
            }};
}

}  // namespace

std::optional<std::string> named_backing(const Step& step) {
    for (const std::string_view option : {"-b", "-B"}) {
        if (const auto* image = option_value<ImageValue>(step, option)) {
            return image->id;
        }
    }
    const auto options = creation_options(step);
    const Scalar* value = find_creation_option(options, "backing_file");
    const auto* image = value == nullptr ? nullptr : std::get_if<ImageValue>(value);
    return image == nullptr ? std::nullopt : std::optional(image->id);
}

void draw_backing(Step& step, const Draws& draws, std::string_view option,
                  const std::string& backing, std::string_view format,
                  std::vector<FormatOption>& options) {
    const bool file_as_option = draws.chance("backing_file", 20);
    const bool format_as_option = draws.chance("backing_fmt", 20);
    std::vector<FormatOption> front;
    if (file_as_option) {
        front.push_back({"backing_file", ImageValue{backing}});
    } else {
        step.arguments.push_back({std::string(option), ImageValue{backing}});
    }
    if (format_as_option) {
        front.push_back({"backing_fmt", WordValue{std::string(format)}});
    } else {
        step.arguments.push_back({"-F", WordValue{std::string(format)}});
    }
    options.insert(options.begin(), front.begin(), front.end());
}

std::vector<Rule> backing_rules(std::string_view option) {
    return {format_missing_rule(),
            format_alone_rule(),
            unknown_format(),
            other_backing_format_rule(),
            own_backing_format_rule(),
            option == "-b" ? unsupported_rule<'b'>() : unsupported_rule<'B'>()};
}

}  // namespace difffuzz
