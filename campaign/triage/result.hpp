// What triage made of one divergence: the journal's line for it.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include <nlohmann/json.hpp>

#include "campaign/triage/session.hpp"

namespace difffuzz {

struct TriageResult {
    std::uint64_t iteration = 0;
    std::string symptom_key;
    std::string first_fingerprint;  // of the bucket that the case was seen in; of a slip: empty
    std::string slipped_from;       // of a slip: the fingerprint of the record that it came from
    // "new"; "flaky"; of a slip that did not come again: "unconfirmed", and there is no record.
    std::string status;
    std::string type;
    std::string severity;
    std::string fingerprint;
    nlohmann::json symptom;
    nlohmann::json attribution;            // as in the record; null where there is none
    std::vector<std::string> features;     // of the shrunk case; empty where there is none
    std::vector<std::string> explanation;  // in words; empty where there is none
    std::uint64_t runs = 0;                // candidates run
    bool minimal = false;
    std::vector<Slip> slips;
};

nlohmann::json to_json(const TriageResult& result);
// Throws RecipeError or nlohmann::json::exception for what to_json did not write.
TriageResult triage_result_from_json(const nlohmann::json& json);

// Of a session that ended; `fingerprint`, `symptom` and what follows from them are those of its
// last run's record. A record that is not staged, though confirmed, is flaky.
TriageResult result_of(const TriageSession& session, const std::string& first_fingerprint,
                       const std::string& slipped_from);

// What triage adds to a record: confirmations, the case as it was seen, the fingerprint of the
// shrunk one, status, and what the search was worth.
void finish_record(nlohmann::json& record, const TriageSession& session,
                   const TriageResult& result);

}  // namespace difffuzz
