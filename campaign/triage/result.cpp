#include "campaign/triage/result.hpp"

#include "campaign/triage/fingerprint.hpp"
#include "core/cases/recipe_json.hpp"

namespace difffuzz {
namespace {

using nlohmann::json;

json confirmations_json(const std::vector<Confirmation>& confirmations) {
    json result = json::array();
    for (const Confirmation& one : confirmations) {
        json entry{{"of", one.of_least ? "recipe" : "original_recipe"}, {"outcome", one.terminal}};
        if (!one.type.empty()) {
            entry["type"] = one.type;
            entry["symptom"] = one.symptom_key;
        }
        result.push_back(std::move(entry));
    }
    return result;
}

// Words that become part of a path.
std::string plain_word(const json& value) {
    const std::string word = value;
    if (word.find_first_not_of("abcdefghijklmnopqrstuvwxyz0123456789_") != std::string::npos) {
        throw RecipeError("/triaged", "a word holds more than a-z, 0-9 and '_'");
    }
    return word;
}

}  // namespace

json to_json(const TriageResult& result) {
    json slips = json::array();
    for (const Slip& slip : result.slips) {
        slips.push_back({{"recipe", to_json(slip.from.c)},
                         {"culprit", slip.from.culprit},
                         {"symptom", slip.symptom_key}});
    }
    return {{"iteration", result.iteration},
            {"symptom_key", result.symptom_key},
            {"first_fingerprint", result.first_fingerprint},
            {"slipped_from", result.slipped_from},
            {"status", result.status},
            {"type", result.type},
            {"severity", result.severity},
            {"fingerprint", result.fingerprint},
            {"symptom", result.symptom},
            {"attribution", result.attribution},
            {"features", result.features},
            {"explanation", result.explanation},
            {"runs", result.runs},
            {"minimal", result.minimal},
            {"slips", std::move(slips)}};
}

TriageResult triage_result_from_json(const json& value) {
    TriageResult result;
    result.iteration = value.at("iteration");
    result.symptom_key = value.at("symptom_key");
    result.first_fingerprint = value.at("first_fingerprint");
    result.slipped_from = value.at("slipped_from");
    result.status = value.at("status");
    result.type = plain_word(value.at("type"));
    result.severity = value.at("severity");
    result.fingerprint = plain_word(value.at("fingerprint"));
    result.symptom = value.at("symptom");
    result.attribution = value.value("attribution", json());
    result.features = value.at("features").get<std::vector<std::string>>();
    result.explanation = value.at("explanation").get<std::vector<std::string>>();
    result.runs = value.at("runs");
    result.minimal = value.at("minimal");
    for (const json& slip : value.at("slips")) {
        result.slips.push_back(
            {{case_from_json(slip.at("recipe")), slip.at("culprit")}, slip.at("symptom")});
    }
    return result;
}

TriageResult result_of(const TriageSession& session, const std::string& first_fingerprint,
                       const std::string& slipped_from) {
    TriageResult result;
    result.iteration = session.sighting().iteration;
    result.symptom_key = session.sighting().symptom_key;
    result.first_fingerprint = first_fingerprint;
    result.slipped_from = slipped_from;
    result.runs = session.runs();
    if (!session.staged()) {
        result.status = slipped_from.empty() ? "flaky" : "unconfirmed";
        return result;
    }
    const Symptom symptom = symptom_from_json(session.last().symptom);
    result.status = "new";
    result.type = record_type(symptom);
    result.severity = session.last().severity;
    result.symptom = session.last().symptom;
    result.attribution = session.last().attribution;
    result.fingerprint = shrunk_fingerprint(session.least().c, symptom);
    result.features = case_features(session.least().c);
    if (session.explanation()) {
        result.explanation = session.explanation()->lines();
    }
    result.minimal = session.minimal();
    result.slips = session.slips();
    return result;
}

void finish_record(json& record, const TriageSession& session, const TriageResult& result) {
    record["status"] = result.status;
    record["confirmations"] = confirmations_json(session.confirmations());
    if (result.status != "new") {
        return;
    }
    record["original_recipe"] = to_json(session.sighting().seen.c);
    record["fingerprint"] = result.fingerprint;
    record["fingerprint_version"] = fingerprint_version;
    record["shrinking"] = {
        {"runs", result.runs}, {"minimal", result.minimal}, {"features", result.features}};
    if (session.explanation()) {
        record["explanation"] = to_json(*session.explanation());
    }
    if (!result.slipped_from.empty()) {
        record["slipped_from"] = result.slipped_from;
    }
}

}  // namespace difffuzz
