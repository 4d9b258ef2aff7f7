#include "oracles/self_difference.hpp"

#include <algorithm>
#include <map>

#include "oracles/comparing.hpp"
#include "oracles/file_lists.hpp"
#include "oracles/json_diff.hpp"
#include "oracles/shown_text.hpp"
#include "oracles/stream_text.hpp"

namespace difffuzz {
namespace {

using nlohmann::json;

constexpr std::size_t max_shown_line = 400;
constexpr std::size_t max_shown_name = 120;

json shown(const Ending& ending) {
    if (const auto* exited = std::get_if<Exited>(&ending)) {
        return "exit status " + std::to_string(exited->code);
    }
    if (const auto* signalled = std::get_if<Signalled>(&ending)) {
        return "signal " + std::to_string(signalled->signal);
    }
    return std::string(to_string(outcome_class(ending)));
}

// Whether a core was dumped is no part of it.
std::optional<SelfDifference> of_status(const StepObservation& first,
                                        const StepObservation& again) {
    json before = shown(first.outcome.ending);
    json after = shown(again.outcome.ending);
    if (before == after) {
        return std::nullopt;
    }
    return SelfDifference{"status", std::move(before), std::move(after)};
}

// JSON is compared as such, and put on one line per value.
std::string stable_text(const Comparison& comparison, const std::string& text) {
    std::string result = without_harness(text);
    if (ParsedJson parsed = parse_output(result); parsed.form == JsonForm::parsed) {
        for (const JsonNormaliser* normaliser : comparison.json_normalisers) {
            normaliser->apply(parsed.value);
        }
        snapshot_date_json().apply(parsed.value);
        return parsed.value.dump(1, ' ', false, json::error_handler_t::replace);
    }
    result = normalised(comparison, std::move(result));
    snapshot_date_text().apply(result);
    return result;
}

std::string_view take_line(std::string_view& text) {
    const std::size_t length = std::min(text.find('\n'), text.size() - 1) + 1;
    const std::string_view line = text.substr(0, length);
    text.remove_prefix(length);
    return line;
}

std::optional<SelfDifference> of_stream(const Comparison& comparison, std::string_view aspect,
                                        const Stream& first, const Stream& again) {
    if (first.cut() || again.cut()) {
        return std::nullopt;
    }
    const std::string before = stable_text(comparison, stream_text(first));
    const std::string after = stable_text(comparison, stream_text(again));
    if (before == after) {
        return std::nullopt;
    }
    std::string_view left = before;
    std::string_view right = after;
    std::string_view left_line;
    std::string_view right_line;
    do {
        left_line = left.empty() ? left : take_line(left);
        right_line = right.empty() ? right : take_line(right);
    } while (left_line == right_line);
    return SelfDifference{aspect, shown_text(left_line, max_shown_line),
                          shown_text(right_line, max_shown_line)};
}

std::string id_of(const Case& c, std::string_view name) {
    for (const std::string& id : file_ids(c)) {
        if (file_name_of(c, id) == name) {
            return id;
        }
    }
    return {};
}

// The listings of one run before and after the step.
struct Listings {
    const std::vector<FileEntry>& before;
    const std::vector<FileEntry>& after;
};

Listings listings_of(const Observation& run, std::size_t step) {
    return {step == 0 ? run.initial : run.steps[step - 1].files, run.steps[step].files};
}

bool step_left_alone(const Listings& run, const FileEntry& after) {
    return std::ranges::find(run.before, after) != run.before.end();
}

// Whether a file that both runs have is the same in them, as far as it must be.
bool is_same_file(const Comparison& comparison, const Listings& first, const FileEntry& before,
                  const Listings& again, const FileEntry& after, bool succeeded) {
    if (before.type != after.type || before == after) {
        return before == after;
    }
    switch (role_of(comparison.c, before.name)) {
        case FileRole::input:
            if (comparison.bytes_stable) {
                return false;
            }
            // Its bytes may differ since an earlier step that wrote to it.
            return std::ranges::count(comparison.may_change, id_of(comparison.c, before.name)) >
                       0 ||
                   step_left_alone(first, before) == step_left_alone(again, after);
        case FileRole::output:
            // What a refused command left of its output is not defined; nor are, later, the bytes
            // of what a step wrote that does not repeat them.
            return !comparison.bytes_stable || !succeeded;
        case FileRole::part:
            return true;
        case FileRole::other:
            break;
    }
    return false;
}

json shown(const FileEntry* file) {
    if (file == nullptr) {
        return nullptr;
    }
    return {{"name", shown_text(file->name, max_shown_name)}, {"bytes", file->bytes}};
}

std::optional<SelfDifference> of_files(const Comparison& comparison, const Observation& first_run,
                                       const Observation& second_run, bool succeeded) {
    if (first_run.steps[comparison.step].files_cut || second_run.steps[comparison.step].files_cut) {
        return std::nullopt;
    }
    const Listings first = listings_of(first_run, comparison.step);
    const Listings again = listings_of(second_run, comparison.step);
    std::map<std::string_view, std::pair<const FileEntry*, const FileEntry*>> files;
    for (const FileEntry& file : first.after) {
        files[file.name].first = &file;
    }
    for (const FileEntry& file : again.after) {
        files[file.name].second = &file;
    }
    for (const auto& [name, entries] : files) {
        const auto& [before, after] = entries;
        if (before == nullptr || after == nullptr ||
            !is_same_file(comparison, first, *before, again, *after, succeeded)) {
            return SelfDifference{"file", shown(before), shown(after)};
        }
    }
    return std::nullopt;
}

// Nothing where the finding tells nothing about the image's content.
std::optional<json> content_of(const Finding& finding) {
    if (const auto* content = std::get_if<ContentFinding>(&finding)) {
        return json{{"size", content->content.size},
                    {"nonzero_sectors", content->content.sectors.size()}};
    }
    if (const auto* bitmaps = std::get_if<BitmapsFinding>(&finding)) {
        return json{{"bitmaps", bitmaps->bitmaps.size()}};
    }
    if (std::holds_alternative<Unreadable>(finding)) {
        return json("unreadable");
    }
    return std::nullopt;
}

bool same_content(const Finding& first, const Finding& again) {
    const auto* content = std::get_if<ContentFinding>(&first);
    const auto* other_content = std::get_if<ContentFinding>(&again);
    if (content != nullptr && other_content != nullptr) {
        return content->content == other_content->content;
    }
    const auto* bitmaps = std::get_if<BitmapsFinding>(&first);
    const auto* other_bitmaps = std::get_if<BitmapsFinding>(&again);
    if (bitmaps != nullptr && other_bitmaps != nullptr) {
        return bitmaps->bitmaps == other_bitmaps->bitmaps;
    }
    return first.index() == again.index();
}

std::optional<SelfDifference> of_contents(const Comparison& comparison,
                                          const StepObservation& first,
                                          const StepObservation& again, bool succeeded) {
    const std::size_t looks = std::min(first.inspections.size(), again.inspections.size());
    for (std::size_t i = 0; i < looks; ++i) {
        const Inspection& before = first.inspections[i];
        const Inspection& after = again.inspections[i];
        if (!succeeded && find_image(comparison.c, before.image) == nullptr) {
            continue;
        }
        std::optional<json> left = content_of(before.finding);
        std::optional<json> right = content_of(after.finding);
        if (left && right && !same_content(before.finding, after.finding)) {
            return SelfDifference{"content",
                                  {{"image", before.image}, {"has", *std::move(left)}},
                                  {{"image", after.image}, {"has", *std::move(right)}}};
        }
    }
    return std::nullopt;
}

}  // namespace

std::optional<SelfDifference> self_difference(const Comparison& comparison,
                                              const Observation& first, const Observation& again) {
    const StepObservation& before = first.steps.at(comparison.step);
    const StepObservation& after = again.steps.at(comparison.step);
    const bool succeeded = step_class(before, comparison.answer_codes) == OutcomeClass::succeeded;
    std::optional<SelfDifference> found = of_status(before, after);
    if (!found) {
        found = of_stream(comparison, "stdout", before.outcome.out, after.outcome.out);
    }
    if (!found) {
        found = of_stream(comparison, "stderr", before.outcome.err, after.outcome.err);
    }
    if (!found) {
        found = of_files(comparison, first, again, succeeded);
    }
    return found ? found : of_contents(comparison, before, after, succeeded);
}

std::string varying_name(std::string_view operation, std::string_view aspect) {
    return std::string(operation) + " " + std::string(aspect);
}

}  // namespace difffuzz
