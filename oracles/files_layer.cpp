#include <algorithm>
#include <map>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "oracles/comparing.hpp"
#include "oracles/file_lists.hpp"
#include "oracles/layer_functions.hpp"
#include "oracles/shown_text.hpp"

namespace difffuzz {
namespace {

constexpr std::size_t max_listed = 16;
constexpr std::size_t max_shown_name = 120;

// What differs, in the order in which one of them becomes the symptom's field.
enum class Kind { missing, leftover, type, size, process };

std::string_view name_of(Kind kind) {
    switch (kind) {
        case Kind::missing:
            return "missing";
        case Kind::leftover:
            return "leftover";
        case Kind::type:
            return "type";
        case Kind::size:
            return "size";
        case Kind::process:
            break;
    }
    return "process";
}

struct FileDifference {
    Kind kind = Kind::size;
    Direction direction = Direction::differ;
    std::string name;
    nlohmann::json subject;
    nlohmann::json reference;
};

std::string_view type_name(FileType type) {
    switch (type) {
        case FileType::regular:
            return "regular";
        case FileType::directory:
            return "directory";
        case FileType::link:
            return "link";
        case FileType::other:
            break;
    }
    return "other";
}

nlohmann::json shown(const FileEntry& entry) {
    return {{"type", type_name(entry.type)}, {"bytes", entry.bytes}};
}

bool was_there(const Comparison& comparison, const Observation& side, const std::string& name) {
    const auto& before =
        comparison.step == 0 ? side.initial : side.steps[comparison.step - 1].files;
    return std::any_of(before.begin(), before.end(),
                       [&](const FileEntry& entry) { return entry.name == name; });
}

// A file that only one side has: an image, a declared output or a file that was there before is
// missing on the other side; anything else is left over on this one.
FileDifference one_sided(const Comparison& comparison, const FileEntry& entry, bool on_subject) {
    const FileRole role = role_of(comparison.c, entry.name);
    const Observation& side = on_subject ? comparison.subject : comparison.reference;
    const bool missing = role != FileRole::other || was_there(comparison, side, entry.name);
    FileDifference difference;
    difference.kind = missing ? Kind::missing : Kind::leftover;
    difference.direction = missing == on_subject ? Direction::reference : Direction::subject;
    difference.name = entry.name;
    (on_subject ? difference.subject : difference.reference) = shown(entry);
    return difference;
}

std::optional<FileDifference> on_both(const Comparison& comparison, const FileEntry& subject,
                                      const FileEntry& reference) {
    const bool type_differs = subject.type != reference.type;
    const bool size_differs = subject.bytes != reference.bytes &&
                              subject.type == FileType::regular &&
                              role_of(comparison.c, subject.name) == FileRole::other;
    if (!type_differs && !size_differs) {
        return std::nullopt;
    }
    return FileDifference{type_differs ? Kind::type : Kind::size, Direction::differ, subject.name,
                          shown(subject), shown(reference)};
}

std::vector<FileDifference> listed_differences(const Comparison& comparison, const Sides& sides) {
    std::map<std::string, std::pair<const FileEntry*, const FileEntry*>> names;
    for (const FileEntry& entry : sides.subject.files) {
        names[entry.name].first = &entry;
    }
    for (const FileEntry& entry : sides.reference.files) {
        names[entry.name].second = &entry;
    }
    std::vector<FileDifference> found;
    for (const auto& [name, entries] : names) {
        const auto& [subject, reference] = entries;
        if (subject == nullptr || reference == nullptr) {
            found.push_back(one_sided(comparison, subject != nullptr ? *subject : *reference,
                                      subject != nullptr));
        } else if (auto difference = on_both(comparison, *subject, *reference)) {
            found.push_back(std::move(*difference));
        }
    }
    return found;
}

LayerResult report(const Comparison& comparison, const Sides& sides,
                   const std::vector<FileDifference>& found) {
    const FileDifference& first = *std::min_element(
        found.begin(), found.end(), [](const auto& a, const auto& b) { return a.kind < b.kind; });
    const bool reference_left_a_process =
        first.kind == Kind::process && first.direction == Direction::reference;
    Difference difference =
        start_difference(comparison, sides, LayerId::files, first.direction,
                         reference_left_a_process ? Severity::reference : Severity::disagreement);
    difference.symptom.field = name_of(first.kind);
    nlohmann::json list = nlohmann::json::array();
    for (const FileDifference& one : found) {
        if (list.size() == max_listed) {
            break;
        }
        list.push_back({{"kind", name_of(one.kind)},
                        {"name", shown_text(one.name, max_shown_name)},
                        {"subject", one.subject},
                        {"reference", one.reference}});
    }
    difference.details = {{"count", found.size()}, {"differences", std::move(list)}};
    return LayerResult::diverge(std::move(difference));
}

const Escapes* escape_of(const StepObservation& side) {
    for (const Inspection& inspection : side.inspections) {
        if (const auto* escapes = std::get_if<Escapes>(&inspection.finding)) {
            return escapes;
        }
    }
    return nullptr;
}

nlohmann::json shown(const Escapes* escapes) {
    if (escapes == nullptr) {
        return nullptr;
    }
    return {{"kind", shown_text(escapes->kind, max_shown_name)},
            {"name", shown_text(without_harness(escapes->name), max_shown_name)}};
}

std::optional<LayerResult> escaping(const Comparison& comparison, const Sides& sides) {
    const Escapes* subject = escape_of(sides.subject);
    const Escapes* reference = escape_of(sides.reference);
    if (subject == nullptr && reference == nullptr) {
        return std::nullopt;
    }
    const Direction direction = reference == nullptr ? Direction::subject
                                : subject == nullptr ? Direction::reference
                                                     : Direction::both;
    Difference difference = start_difference(
        comparison, sides, LayerId::files, direction,
        direction == Direction::subject ? Severity::corruption : Severity::reference);
    difference.symptom.field = "escapes";
    difference.details = {
        {"count", 1},
        {"differences", nlohmann::json::array()},
        {"escapes", {{"subject", shown(subject)}, {"reference", shown(reference)}}}};
    return LayerResult::diverge(std::move(difference));
}

// A listing is cut when a workspace holds more files than we list: on one side only, that side left
// them there.
FileDifference flooded(bool on_subject) {
    return {Kind::leftover, on_subject ? Direction::subject : Direction::reference,
            "(more files than are listed)", nullptr, nullptr};
}

}  // namespace

LayerResult compare_files(const Comparison& comparison) {
    const auto sides = sides_of(comparison);
    if (!sides) {
        return LayerResult::not_applicable(std::string(reason::step_not_run));
    }
    if (auto escapes = escaping(comparison, *sides)) {
        return *escapes;
    }
    if (!sides->ended_alike()) {
        return LayerResult::not_applicable(std::string(reason::classes_differ));
    }
    const bool subject_cut = sides->subject.files_cut;
    const bool reference_cut = sides->reference.files_cut;
    std::vector<FileDifference> found;
    if (!subject_cut && !reference_cut) {
        found = listed_differences(comparison, *sides);
    } else if (subject_cut != reference_cut) {
        found.push_back(flooded(subject_cut));
    }
    const bool subject_processes = sides->subject.outcome.processes_left > 0;
    const bool reference_processes = sides->reference.outcome.processes_left > 0;
    if (subject_processes != reference_processes) {
        found.push_back({Kind::process,
                         subject_processes ? Direction::subject : Direction::reference, "",
                         subject_processes, reference_processes});
    }
    if (!found.empty()) {
        return report(comparison, *sides, found);
    }
    return subject_cut ? LayerResult::inconclusive(std::string(reason::file_list_cut))
                       : LayerResult::agree();
}

}  // namespace difffuzz
