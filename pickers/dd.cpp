#include "pickers/dd.hpp"

#include <algorithm>
#include <array>

#include "images/format.hpp"
#include "images/probed_format.hpp"
#include "pickers/creation_options.hpp"
#include "pickers/draw_image.hpp"
#include "pickers/rules.hpp"
#include "pickers/value_rules.hpp"

namespace difffuzz {
namespace {

// Without parallels: its files grow by 128 MiB at once, which is more than a tool may write.
constexpr std::string_view output_formats[] = {"raw", "qcow2", "vmdk", "vpc",
                                               "vdi", "vhdx",  "qed",  "qcow"};

// Formats that cannot be of size 0.
bool needs_content(std::string_view format) { return format == "vmdk" || format == "qcow"; }

std::string_view draw_target(const Draws& draws, const Plan& plan) {
    static constexpr Weighted<std::string_view> targets[] = {{"qcow2", 10}, {"raw", 9}, {"vmdk", 3},
                                                             {"vpc", 3},    {"vdi", 2}, {"vhdx", 1},
                                                             {"qed", 2},    {"qcow", 1}};
    std::vector<Weighted<std::string_view>> declared;
    for (const auto& target : targets) {
        if (plan.has_format(target.value)) {
            declared.push_back(target);
        }
    }
    return draws.pick("arg[-O]", std::span<const Weighted<std::string_view>>(declared));
}

// The operands in any order.
void add_operands(Step& step, const Draws& draws, std::vector<Argument> operands) {
    while (!operands.empty()) {
        const auto next = operands.begin() +
                          static_cast<std::ptrdiff_t>(draws.between(
                              "order" + std::to_string(operands.size()), 0, operands.size() - 1));
        step.arguments.push_back(std::move(*next));
        operands.erase(next);
    }
}

// A number of blocks. Now and then with a suffix, which 10.0 refuses.
SizeValue draw_count(const Draws& draws, std::uint64_t blocks) {
    return draws.chance("suffix", 4) ? draw_spelling(draws, blocks) : plain_size(blocks);
}

Case draw_valid(const PickContext& context) {
    Case c;
    c.operation = "dd";
    const Draws draws = context.draws.scope("step[0]");
    ImageWish wish = every_image();
    wish.max_content = std::uint64_t{2} << 20;
    if (!draws.chance("large", 25)) {
        wish.max_size = dd_max_bytes;
    }
    const std::string source = draw_image(c, context, "src", wish);
    const std::string_view target = draw_target(draws, context.plan);
    c.outputs.push_back({std::string(target_id), std::string(target)});

    const ImageRecipe& image = *find_image(c, source);
    const DdNumbers numbers = draw_dd_numbers(draws, find_format(image.format)->actual_size(image),
                                              !needs_content(target));
    std::vector<Argument> operands{{"if", ImageValue{source}},
                                   {"of", ImageValue{std::string(target_id)}}};
    if (numbers.block) {
        operands.push_back({"bs", draw_spelling(draws.scope("bs"), *numbers.block)});
    }
    const auto add_count = [&](const char* name, const std::optional<std::uint64_t>& number) {
        if (number) {
            operands.push_back({name, draw_count(draws.scope(name), *number)});
        }
    };
    add_count("skip", numbers.skip);
    add_count("count", numbers.count);

    Step step{Actor::tool, "dd", "dd", ValidIntent{}, {}};
    const bool operands_first = draws.chance("operands-first", 15);
    if (operands_first) {
        add_operands(step, draws, std::move(operands));
    }
    if (draws.chance("arg[-f]", 85) || !shows_its_format(image)) {
        step.arguments.push_back({"-f", WordValue{image.format}});
    }
    if (target != "raw" || draws.chance("arg[-O].given", 75)) {
        step.arguments.push_back({"-O", WordValue{std::string(target)}});
    }
    if (draws.chance("arg[-U]", 15)) {
        step.arguments.push_back({"-U", std::nullopt});
    }
    if (!operands_first) {
        add_operands(step, draws, std::move(operands));
    }
    c.steps.push_back(std::move(step));
    return c;
}

// --- rules -------------------------------------------------------------------------------------

struct OutputFormatOption {
    static constexpr std::string_view option = "-O";
    static constexpr std::string_view text_rule = "unknown-output-format";
    static constexpr std::string_view texts[] = {"qcow9", "RAW", "vdmk", "", "bochs", "cloop"};
};
struct BlockOperand {
    static constexpr std::string_view option = "bs";
    static constexpr std::string_view text_rule = "block-size-not-a-size";
    static constexpr std::string_view range_rule = "block-size-out-of-range";
    static constexpr std::string_view texts[] = {"abc", "", "-1", "4Q", "4kk"};
    static constexpr std::uint64_t outside[] = {0, dd_max_block + 1, std::uint64_t{1} << 40};
};
struct SkipOperand {
    static constexpr std::string_view option = "skip";
    static constexpr std::string_view text_rule = "skip-not-a-number";
    static constexpr std::string_view texts[] = {"abc", "", "-1", "1x", "2kk"};
};
struct CountOperand {
    static constexpr std::string_view option = "count";
    static constexpr std::string_view text_rule = "count-not-a-number";
    static constexpr std::string_view texts[] = {"abc", "", "-1", "1x", "2kk"};
};

const ImageRecipe* source_image(const Case& c) { return find_image(c, dd_source(last_step(c))); }

bool block_out_of_range(const Step& step) {
    const auto block = bytes_of(step, "bs");
    return block && (*block == 0 || *block > dd_max_block);
}

Rule block_range_rule() {
    return {BlockOperand::range_rule, true, "bs must be from 1 to 2147483647",
            [](const Case& c) { return block_out_of_range(last_step(c)); },
            [](Case& c, const Draws& draws) {
                set_option(last_step(c), "bs",
                           suffixed_size(draws.pick("outside", BlockOperand::outside)));
            }};
}

Rule no_input_rule() {
    return {"no-input", true, "if= must name the image to read",
            [](const Case& c) { return !has_option(last_step(c), "if"); },
            [](Case& c, const Draws&) { remove_option(last_step(c), "if"); }};
}

Rule no_output_rule() {
    return {"no-output", true, "of= must name the file to write",
            [](const Case& c) { return !has_option(last_step(c), "of"); },
            [](Case& c, const Draws&) { remove_option(last_step(c), "of"); }};
}

bool is_unknown_operand(const Argument& argument) {
    return argument.option.empty() || argument.option == "seek" || argument.option == "conv";
}

// Operands of dd(1) that qemu-img does not have, and a word without '='.
Rule unknown_operand_rule() {
    return {"unknown-operand", true, "every operand must be one that the command has",
            [](const Case& c) {
                return std::ranges::any_of(last_step(c).arguments, is_unknown_operand);
            },
            [](Case& c, const Draws& draws) {
                const Argument unknown[] = {
                    {"seek", plain_size(1)}, {"conv", WordValue{"sync"}}, {"", WordValue{"sync"}}};
                last_step(c).arguments.push_back(
                    unknown[draws.between("operand", 0, std::size(unknown) - 1)]);
            }};
}

Rule missing_source_rule() {
    return {"missing-file", true, "the image must exist",
            [](const Case& c) {
                const std::string id = dd_source(last_step(c));
                return !id.empty() && find_image(c, id) == nullptr;
            },
            [](Case& c, const Draws&) {
                c.outputs.push_back({"absent", source_image(c)->format});
                set_option(last_step(c), "if", ImageValue{"absent"});
            }};
}

Rule output_rule() {
    return {"output-position", false,
            "what is written is the output and no image of the case; qemu-img writes over an "
            "image where locks do not keep it from that",
            [](const Case& c) {
                const auto* image = option_value<ImageValue>(last_step(c), "of");
                return image != nullptr && image->id != target_id;
            }};
}

Rule other_source_format_rule() {
    return {"other-format", true, "the image must be of the format that -f names",
            [](const Case& c) {
                const auto* word = option_value<WordValue>(last_step(c), "-f");
                const ImageRecipe* image = source_image(c);
                return word != nullptr && image != nullptr && word->text != "raw" &&
                       std::ranges::find(known_formats(), word->text) != known_formats().end() &&
                       word->text != image->format;
            },
            [](Case& c, const Draws& draws) {
                std::vector<std::string_view> others;
                for (const std::string_view format : known_formats()) {
                    if (format != "raw" && format != source_image(c)->format) {
                        others.push_back(format);
                    }
                }
                set_option(last_step(c), "-f",
                           WordValue{std::string(
                               draws.pick("format", std::span<const std::string_view>(others)))});
            }};
}

Rule own_source_format_rule() {
    return {"own-format", false,
            "the image must be of the format that -f names; raw is accepted for any",
            [](const Case& c) {
                const auto* word = option_value<WordValue>(last_step(c), "-f");
                const ImageRecipe* image = source_image(c);
                return word != nullptr && image != nullptr && word->text == "raw" &&
                       image->format != "raw";
            }};
}

Rule probed_rule() {
    return {"taken-for-raw", false, "the format of an image that does not show it is named",
            [](const Case& c) {
                const ImageRecipe* image = source_image(c);
                return image != nullptr && !has_option(last_step(c), "-f") &&
                       !shows_its_format(*image);
            }};
}

Rule empty_window_rule() {
    return {"empty-output",
            true,
            "a vmdk or qcow image cannot be of size 0",
            [](const Case& c) {
                const auto window = dd_window(c);
                return window && needs_content(target_format(c)) && window->length == 0;
            },
            [](Case& c, const Draws& draws) {
                if (draws.chance("count", 50)) {
                    set_option(last_step(c), "count", plain_size(0));
                } else {
                    set_option(last_step(c), "skip", suffixed_size(std::uint64_t{1} << 40));
                }
            },
            [](const Case& c) { return needs_content(target_format(c)); }};
}

Rule too_much_rule() {
    return {"takes-too-long", false, "all tools do it, but a request for each block takes its time",
            [](const Case& c) {
                const auto window = dd_window(c);
                return window && (window->blocks > dd_max_blocks || window->length > dd_max_bytes);
            }};
}

}  // namespace

const Picker& dd_picker() {
    static const OptionSpec options[] = {
        {"-f", ValueKind::word, {}},         {"-O", ValueKind::word, output_formats},
        {"-U", ValueKind::none, {}},         {"bs", ValueKind::size, {}},
        {"count", ValueKind::size, {}},      {"skip", ValueKind::size, {}},
        {"if", ValueKind::image, {}, 1, 1},  {"of", ValueKind::image, {}, 1, 1},
        {"seek", ValueKind::size, {}, 0, 0}, {"conv", ValueKind::word, {}, 0, 0},
        {"", ValueKind::word, {}, 0, 0},     {unknown_option, ValueKind::none, {}, 0, 0},
    };
    static const Rule rules[] = {
        unknown_option_rule(),
        unknown_format_rule(),
        known_images_rule(),
        missing_source_rule(),
        output_rule(),
        other_source_format_rule(),
        own_source_format_rule(),
        probed_rule(),
        no_input_rule(),
        no_output_rule(),
        unknown_operand_rule(),
        text_rule<BlockOperand>("bs must be a size"),
        block_range_rule(),
        text_rule<SkipOperand>("skip must be a number"),
        text_rule<CountOperand>("count must be a number"),
        target_format_rule("-O"),
        text_rule<OutputFormatOption>("-O must name a format that can be written"),
        empty_window_rule(),
        too_much_rule(),
    };
    static const LeftOut left_out[] = {{"--image-opts", "names protocols"}};
    static const Picker picker{"dd", "dd", draw_valid, options, rules, left_out};
    return picker;
}

std::string dd_source(const Step& step) {
    const auto* image = option_value<ImageValue>(step, "if");
    return image == nullptr ? std::string{} : image->id;
}

std::optional<DdWindow> dd_window(const Case& c) {
    const Step& step = last_step(c);
    const ImageRecipe* image = source_image(c);
    const bool numbers =
        std::ranges::all_of(std::array{"bs", "skip", "count"}, [&](const char* operand) {
            return !has_option(step, operand) || bytes_of(step, operand).has_value();
        });
    if (image == nullptr || !numbers || block_out_of_range(step)) {
        return std::nullopt;
    }
    return dd_window(dd_numbers(step), find_format(image->format)->actual_size(*image));
}

}  // namespace difffuzz
