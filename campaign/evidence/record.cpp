#include "campaign/evidence/record.hpp"

#include "campaign/evidence/files.hpp"
#include "campaign/triage/attribution/attribution.hpp"
#include "campaign/triage/fingerprint.hpp"
#include "core/cases/draws.hpp"
#include "core/cases/recipe_json.hpp"
#include "core/errors.hpp"
#include "oracles/sanitizer_text.hpp"
#include "oracles/shown_text.hpp"
#include "oracles/stream_text.hpp"

namespace difffuzz {
namespace {

using nlohmann::json;

constexpr std::size_t max_shown_bytes = 4096;

std::string normalised(const Stream& stream, const Operation* operation) {
    std::string text = stream.head;
    sanitizer_report_text().apply(text);
    if (operation != nullptr) {
        for (const TextNormaliser* normaliser : operation->text_normalisers) {
            normaliser->apply(text);
        }
    }
    return shown_text(text, max_shown_bytes);
}

json ending_json(const Ending& ending) {
    json result{{"class", to_string(outcome_class(ending))}};
    if (const auto* exited = std::get_if<Exited>(&ending)) {
        result["code"] = exited->code;
    } else if (const auto* signalled = std::get_if<Signalled>(&ending)) {
        result["signal"] = signalled->signal;
    } else if (const auto* limited = std::get_if<Limited>(&ending)) {
        result["limit"] = to_string(limited->which);
    } else if (const auto* failed = std::get_if<FailedToStart>(&ending)) {
        result["failed"] = failed->what;
    }
    return result;
}

json outcomes_json(const Observation& observation, const Operation* operation) {
    json outcomes = json::array();
    for (const StepObservation& step : observation.steps) {
        json outcome = ending_json(step.outcome.ending);
        outcome["stdout"] = normalised(step.outcome.out, operation);
        outcome["stderr"] = normalised(step.outcome.err, operation);
        outcomes.push_back(std::move(outcome));
    }
    return outcomes;
}

json argv_json(const Observation& observation) {
    json steps = json::array();
    for (const StepObservation& step : observation.steps) {
        json words = json::array();
        for (const std::string& word : step.argv) {
            words.push_back(shown_text(word, max_shown_bytes));
        }
        steps.push_back(std::move(words));
    }
    return steps;
}

json side_json(const Profile& profile, json outcomes) {
    return {{"profile", to_json(profile)}, {"outcomes", std::move(outcomes)}};
}

// What every record says, whatever it found.
json base_record(const Case& c, const RecordOrigin& origin, std::string type, std::string status) {
    return {{"schema", record_schema},
            {"type", std::move(type)},
            {"operation", c.operation},
            {"status", std::move(status)},
            {"recipe", to_json(c)},
            {"original_recipe", nullptr},
            {"attribution", to_json(Attribution{})},
            {"seed", origin.seed},
            {"iteration", origin.iteration},
            {"generator", generator_version},
            {"plan", origin.plan_digest},
            {"confirmations", json::array()}};
}

}  // namespace

json make_record(const Case& c, const CaseResult& result, const RecordOrigin& origin) {
    const Difference& difference = *result.difference;
    const Operation* operation = find_operation(c.operation);
    const Classification& known = origin.known;
    json record = base_record(c, origin, record_type(difference.symptom),
                              known.known.empty() ? "untriaged" : known_status(known.known));
    if (!known.inside.empty()) {
        record["inside"] = known.inside;
    }
    record["layer"] = difference.symptom.layer_name;
    record["severity"] = to_string(difference.severity);
    record["symptom"] = to_json(difference.symptom);
    record["fingerprint"] = unshrunk_fingerprint(c, result.culprit_step, difference.symptom);
    record["fingerprint_version"] = unshrunk_fingerprint_version;
    record["details"] = difference.details;
    record["culprit_step"] = result.culprit_step;
    record["attribution"] = to_json(attribute(c, result));
    record["argv"] = {{"subject", argv_json(result.subject)},
                      {"reference", argv_json(result.reference)}};
    record["images"] = origin.image_digests;
    record["subject"] = side_json(origin.subject, outcomes_json(result.subject, operation));
    record["reference"] = side_json(origin.reference, outcomes_json(result.reference, operation));
    return record;
}

json make_killed_record(const Case& c, const RecordOrigin& origin) {
    json record = base_record(c, origin, c.operation + "_harness_killed", "harness");
    record["subject"] = side_json(origin.subject, json::array());
    record["reference"] = side_json(origin.reference, json::array());
    return record;
}

json read_record(const std::string& path) {
    try {
        return parse_bounded(read_evidence_file(path, max_record_bytes), max_record_bytes, 128);
    } catch (const RecipeError& error) {
        throw UsageError("'" + path + "' is not a record of difffuzz: " + error.what());
    }
}

ParsedRecord parse_record(std::string_view text) {
    const json record = parse_bounded(text, max_record_bytes, 128);
    ObjectFields fields(record, "");
    require_schema(fields.text("schema", 64), record_schema);
    ParsedRecord parsed;
    parsed.type = fields.text("type", 256);
    parsed.status = fields.text("status", 64);
    parsed.plan = fields.text("plan", 64);
    parsed.seed = fields.number("seed", 0, UINT64_MAX);
    parsed.iteration = fields.number("iteration", 0, UINT64_MAX);
    try {
        parsed.recipe = case_from_json(fields.required("recipe"));
    } catch (const RecipeError& error) {
        throw RecipeError("/recipe", error.what());
    }
    if (const json* symptom = fields.optional("symptom")) {
        parsed.symptom = symptom_from_json(*symptom);
        parsed.fingerprint = fields.text("fingerprint", 64);
        if (parsed.type != record_type(*parsed.symptom)) {
            throw RecipeError("/type", "does not follow from the symptom, which makes it '" +
                                           record_type(*parsed.symptom) + "'");
        }
        parsed.culprit_step = static_cast<std::size_t>(
            fields.number("culprit_step", 0, parsed.recipe.steps.size() - 1));
        parsed.severity = fields.text("severity", 64);
        const bool shrunk = fields.number("fingerprint_version", unshrunk_fingerprint_version,
                                          fingerprint_version) == fingerprint_version;
        if (parsed.fingerprint !=
            (shrunk ? shrunk_fingerprint(parsed.recipe, *parsed.symptom)
                    : unshrunk_fingerprint(parsed.recipe, parsed.culprit_step, *parsed.symptom))) {
            throw RecipeError("/fingerprint", "does not follow from the symptom and the recipe");
        }
        const json& images = fields.required("images");
        if (!images.is_object() || images.size() > 64) {
            throw RecipeError("/images", "must be an object of image ids and hashes");
        }
        for (const auto& item : images.items()) {
            parsed.image_digests[item.key()] = checked_text(item.value(), "/images", 64);
        }
    }
    for (auto [name, profile] :
         {std::pair{"subject", &parsed.subject}, std::pair{"reference", &parsed.reference}}) {
        ObjectFields side(fields.required(name), "/" + std::string(name));
        *profile = profile_from_json(side.required("profile"), side.at("profile"));
    }
    return parsed;
}

}  // namespace difffuzz
