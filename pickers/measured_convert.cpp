#include "pickers/measured_convert.hpp"

#include <algorithm>
#include <array>

#include "images/format.hpp"
#include "pickers/creation_options.hpp"
#include "pickers/rules.hpp"

namespace difffuzz {
namespace {

// Small enough for any preallocation and any cluster size.
constexpr std::uint64_t largest_size = std::uint64_t{16} << 20;

// What both commands take and mean alike.
constexpr std::array<std::string_view, 5> shared{"-f", "-O", "-o", "-U", "-l"};

bool is_convert_to_measure(const Case& c, const Step& step) {
    std::optional<Step> meant = convert_to_measure(c);
    if (!meant || std::holds_alternative<RefusedIntent>(last_step(c).intent)) {
        return false;
    }
    meant->intent = step.intent;
    return *meant == step;
}

std::optional<Step> draw_none(Case&, const PickContext&, const CaseState&) { return std::nullopt; }

std::string_view apply(const Case& c, const Step& step, CaseState&) {
    return is_convert_to_measure(c, step) ? std::string_view{} : "convert-to-measure";
}

std::vector<std::string> changes(const Case&, const Step&, const CaseState&) {
    return {std::string(target_id)};
}

}  // namespace

std::optional<Step> convert_to_measure(const Case& c) {
    const Step& measure = last_step(c);
    const auto named = positionals(measure);
    const auto* source =
        named.size() == 1 ? std::get_if<ImageValue>(&*named.front()->value) : nullptr;
    const ImageRecipe* image = source == nullptr ? nullptr : find_image(c, source->id);
    const Format* format = image == nullptr ? nullptr : find_format(image->format);
    const std::vector<FormatOption> options = creation_options(measure);
    if (format == nullptr || format->actual_size(*image) > largest_size ||
        find_creation_option(options, "backing_file") != nullptr) {
        return std::nullopt;
    }
    Step convert{Actor::tool, "convert", "convert", ValidIntent{}, {}};
    for (const Argument& argument : measure.arguments) {
        if (std::ranges::find(shared, argument.option) != shared.end()) {
            convert.arguments.push_back(argument);
        }
    }
    convert.arguments.push_back({"", ImageValue{source->id}});
    convert.arguments.push_back({"", ImageValue{std::string(target_id)}});
    return convert;
}

void add_convert_to_measure(Case& c) {
    if (std::optional<Step> convert = convert_to_measure(c)) {
        const std::string format(target_format(c));
        c.outputs.push_back({std::string(target_id), format.empty() ? "raw" : format});
        c.steps.insert(c.steps.end() - 1, *std::move(convert));
    }
}

const StepKind& measured_convert_kind() {
    static const OptionSpec options[] = {
        {"-f", ValueKind::word, {}},          {"-O", ValueKind::word, {}},
        {"-o", ValueKind::options, {}, 0, 2}, {"-U", ValueKind::none, {}},
        {"-l", ValueKind::any, {}},           {"", ValueKind::image, {}, 2, 2},
    };
    static const StepKind kind{"convert", "convert", Actor::tool, options,
                               draw_none, apply,     changes};
    return kind;
}

Rule convert_to_measure_rule() {
    return {"convert-to-measure", false, "a convert in front is the one that is measured",
            [](const Case& c) {
                return c.steps.size() > 2 ||
                       (c.steps.size() == 2 && !is_convert_to_measure(c, c.steps.front()));
            }};
}

}  // namespace difffuzz
