#include "campaign/corpus/corpus.hpp"

#include <algorithm>
#include <filesystem>
#include <map>

#include "campaign/corpus/git_index.hpp"
#include "campaign/execution/recorded.hpp"
#include "core/cases/json_fields.hpp"
#include "core/cases/recipe_json.hpp"

namespace difffuzz {
namespace {

using nlohmann::json;

constexpr std::size_t max_text = 4096;
constexpr std::size_t max_word = 64;
constexpr int max_depth = 64;

json range_json(const ToolRange& range) {
    return {{"tool", range.tool}, {"versions", range.versions.text()}};
}

std::optional<ToolRange> range_from(ObjectFields& fields, const std::string& name) {
    const json* value = fields.optional(name);
    if (value == nullptr) {
        return std::nullopt;
    }
    ObjectFields range(*value, fields.at(name));
    ToolRange result;
    result.tool = range.text("tool", max_word);
    const auto versions = VersionRange::parse(range.text("versions", max_word));
    range.finish();
    if (!versions) {
        throw RecipeError(range.at("versions"),
                          "must be a list of bounds such as '>=7.2 <8.0', or empty");
    }
    result.versions = *versions;
    return result;
}

// The same error, of a part that lies at `place`.
[[noreturn]] void rethrow_below(const std::string& place, const RecipeError& error) {
    const std::string text = error.what();
    const std::size_t end = text.find(": ");
    const std::string pointer = text.substr(0, end);
    throw RecipeError(place + (pointer.starts_with('/') ? pointer : ""), text.substr(end + 2));
}

Case recipe_from(const json& value) {
    Case c;
    try {
        c = case_from_json(value);
    } catch (const RecipeError& error) {
        rethrow_below("/recipe", error);
    }
    if (const auto violations = validate(c); !violations.empty()) {
        throw RecipeError("/recipe", "lies outside of the envelope of '" + c.operation +
                                         "': " + violations.front().rule + ", " +
                                         violations.front().detail);
    }
    return c;
}

RecordedReference recorded_from(const json& value, const Case& c) {
    ObjectFields fields(value, "/recorded");
    RecordedReference recorded{fields.text("version", max_text), fields.required("outcomes")};
    fields.finish();
    const Observation side = observation_from_recorded(recorded.outcomes, fields.at("outcomes"));
    if (side.steps.size() > c.steps.size()) {
        throw RecipeError(fields.at("outcomes"), "holds more outcomes than the recipe has steps");
    }
    return recorded;
}

CorpusVerdict judge_run_of(const CorpusEntry& entry, const CaseReport& report) {
    const bool open = entry.state == CorpusState::open;
    if (report.agreed()) {
        return open ? CorpusVerdict::gone : CorpusVerdict::holds;
    }
    if (report.terminal != Terminal::diverged) {
        return CorpusVerdict::unclear;
    }
    if (!open) {
        return CorpusVerdict::returned;
    }
    return report.symptom == to_json(*entry.symptom) ? CorpusVerdict::holds
                                                     : CorpusVerdict::changed;
}

}  // namespace

std::string_view to_string(CorpusState state) {
    return state == CorpusState::open ? "open" : "closed";
}

std::string_view to_string(CorpusVerdict verdict) {
    switch (verdict) {
        case CorpusVerdict::holds:
            return "holds";
        case CorpusVerdict::gone:
            return "gone";
        case CorpusVerdict::changed:
            return "changed";
        case CorpusVerdict::returned:
            return "returned";
        case CorpusVerdict::unclear:
            return "unclear";
        case CorpusVerdict::not_asked:
            return "not asked";
        case CorpusVerdict::not_recorded:
            return "not recorded";
    }
    return "unclear";
}

json to_json(const CorpusEntry& entry) {
    json value{{"schema", corpus_schema},
               {"state", to_string(entry.state)},
               {"why", entry.why},
               {"recipe", to_json(entry.recipe)}};
    if (entry.subject) {
        value["subject"] = range_json(*entry.subject);
    }
    if (entry.reference) {
        value["reference"] = range_json(*entry.reference);
    }
    if (entry.symptom) {
        value["symptom"] = to_json(*entry.symptom);
    }
    if (!entry.promoted_by.empty()) {
        value["promoted_by"] = entry.promoted_by;
    }
    if (entry.recorded) {
        value["recorded"] = {{"version", entry.recorded->version},
                             {"outcomes", entry.recorded->outcomes}};
    }
    return value;
}

CorpusEntry parse_corpus_entry(const JsonFile& file) {
    const json value = parse_bounded(file.text, max_corpus_entry_bytes, max_depth);
    ObjectFields fields(value, "");
    require_schema(fields.text("schema", max_word), corpus_schema);
    CorpusEntry entry;
    entry.name = file.name;
    entry.path = file.path;
    const std::string state = fields.text("state", max_word);
    if (state != "open" && state != "closed") {
        throw RecipeError("/state", "must be open or closed");
    }
    entry.state = state == "open" ? CorpusState::open : CorpusState::closed;
    entry.why = fields.text("why", max_text);
    entry.subject = range_from(fields, "subject");
    entry.reference = range_from(fields, "reference");
    entry.recipe = recipe_from(fields.required("recipe"));
    if (const json* symptom = fields.optional("symptom")) {
        try {
            entry.symptom = symptom_from_json(*symptom);
        } catch (const RecipeError& error) {
            rethrow_below("/symptom", error);
        }
    } else if (entry.state == CorpusState::open) {
        throw RecipeError("", "needs a symptom, as it is open");
    }
    if (fields.optional("promoted_by") != nullptr) {
        entry.promoted_by = fields.text("promoted_by", max_text);
    }
    if (const json* recorded = fields.optional("recorded")) {
        entry.recorded = recorded_from(*recorded, entry.recipe);
    }
    fields.finish();
    return entry;
}

std::vector<CorpusEntry> read_corpus(const std::string& directory) {
    std::vector<CorpusEntry> entries;
    std::map<std::string, std::string> paths;  // by the recipe's text
    const GitTracking tracking = git_tracking(directory);
    for (const JsonFile& file : read_json_files(directory)) {
        const auto unusable = [&](const std::string& reason) {
            throw UsageError("'" + file.path + "' is no entry of a corpus: " + reason);
        };
        if (!is_tracked(tracking, file.path)) {
            unusable("git does not track it; 'git add' it, with -f where an ignore file hides it");
        }
        try {
            entries.push_back(parse_corpus_entry(file));
        } catch (const RecipeError& error) {
            unusable(error.what());
        }
        const auto [other, first] =
            paths.try_emplace(to_json(entries.back().recipe).dump(), file.path);
        if (!first) {
            unusable("its recipe is that of '" + other->second + "'; keep one of them");
        }
    }
    return entries;
}

bool speaks_of(const CorpusEntry& entry, const ToolVersion& subject, const ToolVersion* reference) {
    return (!entry.subject || entry.subject->holds(subject)) &&
           (!entry.reference || reference == nullptr || entry.reference->holds(*reference));
}

CorpusVerdict judge_entry(const CorpusEntry& entry, const std::vector<CaseReport>& runs) {
    std::optional<CorpusVerdict> all;
    for (const CaseReport& run : runs) {
        const CorpusVerdict one = judge_run_of(entry, run);
        if (all && *all != one) {
            return CorpusVerdict::unclear;
        }
        all = one;
    }
    return all.value_or(CorpusVerdict::unclear);
}

ExitCode corpus_exit(const std::vector<CorpusVerdict>& verdicts) {
    const auto any = [&](auto... wanted) {
        return std::ranges::any_of(
            verdicts, [&](CorpusVerdict verdict) { return ((verdict == wanted) || ...); });
    };
    if (any(CorpusVerdict::gone, CorpusVerdict::changed, CorpusVerdict::returned)) {
        return ExitCode::does_not_hold;
    }
    return any(CorpusVerdict::unclear) || !any(CorpusVerdict::holds) ? ExitCode::no_verdict
                                                                     : ExitCode::holds;
}

std::string not_recorded_reason(const CorpusEntry& entry) {
    if (const std::string reason = needs_reference(entry.recipe); !reason.empty()) {
        return reason;
    }
    if (!entry.recorded) {
        return "nothing is recorded";
    }
    const auto layers = recorded_layers();
    return entry.state == CorpusState::open &&
                   std::ranges::find(layers, entry.symptom->layer) == layers.end()
               ? "its symptom shows in more than endings and streams"
               : "";
}

}  // namespace difffuzz
