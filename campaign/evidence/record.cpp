#include "campaign/evidence/record.hpp"

#include "core/cases/digest.hpp"
#include "core/cases/draws.hpp"
#include "core/cases/recipe_json.hpp"
#include "images/format.hpp"
#include "oracles/shown_text.hpp"
#include "oracles/stream_text.hpp"

namespace difffuzz {
namespace {

using nlohmann::json;

constexpr std::size_t max_record_bytes = std::size_t{16} << 20;
constexpr std::size_t max_shown_bytes = 4096;

std::string normalised(const Stream& stream, const Operation* operation) {
    std::string text = stream.head;
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
    return {{"schema", record_schema},       {"type", std::move(type)},
            {"operation", c.operation},      {"status", std::move(status)},
            {"recipe", to_json(c)},          {"original_recipe", nullptr},
            {"attribution", "undecided"},    {"seed", origin.seed},
            {"iteration", origin.iteration}, {"generator", generator_version},
            {"plan", origin.plan_digest},    {"confirmations", json::array()}};
}

}  // namespace

std::string fingerprint(const Case& c, std::size_t culprit_step, const Symptom& symptom) {
    std::string format = "none";
    for (const Argument* argument : positionals(c.steps.at(culprit_step))) {
        if (const auto* image = std::get_if<ImageValue>(&*argument->value)) {
            format = std::string(format_of(c, image->id));
            break;
        }
    }
    const std::string_view feature = damage_feature(c);
    return sha256_hex(symptom_key(symptom) + " " + format + (feature.empty() ? "" : " ") +
                      std::string(feature))
        .substr(0, 16);
}

json make_record(const Case& c, const CaseResult& result, const RecordOrigin& origin) {
    const Difference& difference = *result.difference;
    const Operation* operation = find_operation(c.operation);
    const Classification& known = origin.known;
    json record = base_record(c, origin, record_type(difference.symptom),
                              known.known.empty() ? "new" : "known(" + known.known + ")");
    if (!known.inside.empty()) {
        record["inside"] = known.inside;
    }
    record["layer"] = difference.symptom.layer_name;
    record["severity"] = to_string(difference.severity);
    record["symptom"] = to_json(difference.symptom);
    record["fingerprint"] = fingerprint(c, result.culprit_step, difference.symptom);
    record["details"] = difference.details;
    record["culprit_step"] = result.culprit_step;
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

ParsedRecord parse_record(std::string_view text) {
    const json record = parse_bounded(text, max_record_bytes, 128);
    ObjectFields fields(record, "");
    require_schema(fields.text("schema", 64), record_schema);
    ParsedRecord parsed;
    parsed.type = fields.text("type", 256);
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
        const std::uint64_t culprit =
            fields.number("culprit_step", 0, parsed.recipe.steps.size() - 1);
        if (parsed.fingerprint !=
            fingerprint(parsed.recipe, static_cast<std::size_t>(culprit), *parsed.symptom)) {
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
