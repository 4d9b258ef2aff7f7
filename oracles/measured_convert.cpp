#include "oracles/measured_convert.hpp"

#include <algorithm>

namespace difffuzz {
namespace {

std::string word_of(const Step& step, std::string_view option, std::string_view otherwise) {
    const auto* word = option_value<WordValue>(step, option);
    return word == nullptr ? std::string(otherwise) : word->text;
}

std::vector<FormatOption> creation_options_of(const Step& step) {
    std::vector<FormatOption> all;
    for (const Argument& argument : step.arguments) {
        const auto* list = argument.value ? std::get_if<OptionList>(&*argument.value) : nullptr;
        if (argument.option == "-o" && list != nullptr) {
            all.insert(all.end(), list->options.begin(), list->options.end());
        }
    }
    return all;
}

std::vector<std::string> images_of(const Step& step) {
    std::vector<std::string> ids;
    for (const Argument* argument : positionals(step)) {
        if (const auto* image = std::get_if<ImageValue>(&*argument->value)) {
            ids.push_back(image->id);
        }
    }
    return ids;
}

bool done(const OneSide& side, std::size_t step) {
    return outcome_class(side.observation.steps[step].outcome.ending) == OutcomeClass::succeeded;
}

std::optional<Value> snapshot_of(const Step& step) {
    const Argument* argument = find_argument(step, "-l");
    return argument == nullptr ? std::nullopt : argument->value;
}

// Whether `convert` does what `measure` was asked about.
bool belong_together(const Step& measure, const Step& convert) {
    if (measure.command != "measure" || convert.command != "convert") {
        return false;
    }
    for (const std::string_view option : {"-n", "-B", "--bitmaps"}) {
        if (has_option(convert, option)) {
            return false;
        }
    }
    const auto* sparse = option_value<SizeValue>(convert, "-S");
    const std::vector<std::string> measured = images_of(measure);
    const std::vector<std::string> converted = images_of(convert);
    return !(sparse != nullptr && sparse->bytes == 0) && measured.size() == 1 &&
           converted.size() == 2 && measured[0] == converted[0] &&
           word_of(measure, "-O", "raw") == word_of(convert, "-O", "raw") &&
           snapshot_of(measure) == snapshot_of(convert) &&
           creation_options_of(measure) == creation_options_of(convert);
}

}  // namespace

std::optional<MeasuredConvert> measured_convert(const OneSide& side) {
    const Case& c = side.comparison.c;
    const std::size_t now = side.comparison.step;
    for (std::size_t other = now; other-- > 0;) {
        const bool measure_first = c.steps[other].command == "measure";
        const std::size_t measure = measure_first ? other : now;
        const std::size_t convert = measure_first ? now : other;
        if (!belong_together(c.steps[measure], c.steps[convert]) || !done(side, other)) {
            continue;
        }
        const std::vector<FormatOption> options = creation_options_of(c.steps[convert]);
        const auto has = [&](const FormatOption& wanted) {
            return std::ranges::find(options, wanted) != options.end();
        };
        const std::string name = file_name_of(c, images_of(c.steps[convert])[1]);
        const auto& files = side.seen().files;
        const auto file = std::ranges::find(files, name, &FileEntry::name);
        if (std::ranges::find(options, "data_file", &FormatOption::name) != options.end() ||
            file == files.end()) {
            return std::nullopt;
        }
        return MeasuredConvert{measure, convert, file->bytes,
                               has({"preallocation", WordValue{"metadata"}})};
    }
    return std::nullopt;
}

}  // namespace difffuzz
