// record.json: one divergence, typed and self-contained. docs/record.schema.json describes it.
#pragma once

#include <cstdint>
#include <map>
#include <string>

#include <nlohmann/json.hpp>

#include "campaign/execution/case_result.hpp"
#include "core/tools/profile.hpp"
#include "known_divergences/known_filter.hpp"

namespace difffuzz {

inline constexpr std::string_view record_schema = "difffuzz.record/1";

// A record's JSON text has at most this many bytes.
inline constexpr std::size_t max_record_bytes = std::size_t{16} << 20;

// Where a record comes from, beside the case and its result.
struct RecordOrigin {
    std::uint64_t seed = 0;
    std::uint64_t iteration = 0;
    std::string plan_digest;
    Profile subject;
    Profile reference;
    std::map<std::string, std::string> image_digests;  // Executor::image_digests
    Classification known = {};
};

// The record of a case as it was seen, untriaged. Holds no time, duration, process id, host,
// absolute path or measured resource: equal cases on equal, deterministic tools give equal records,
// byte for byte. `result.difference` is set.
nlohmann::json make_record(const Case& c, const CaseResult& result, const RecordOrigin& origin);

// The record of a case that ended difffuzz's own process twice.
nlohmann::json make_killed_record(const Case& c, const RecordOrigin& origin);

// The record at `path`. Throws UsageError that names the file where it is no JSON, and as
// read_evidence_file() does.
nlohmann::json read_record(const std::string& path);

// What `repro` needs of a record.
struct ParsedRecord {
    std::string type;
    Case recipe;
    std::optional<Symptom> symptom;  // not for harness_killed
    std::string fingerprint;
    std::string severity;
    std::string status;
    std::string plan;  // its digest
    std::size_t culprit_step = 0;
    std::uint64_t seed = 0;
    std::uint64_t iteration = 0;
    std::map<std::string, std::string> image_digests;
    Profile subject;
    Profile reference;
};
// Throws RecipeError, also for a type or fingerprint that does not follow from symptom and recipe.
ParsedRecord parse_record(std::string_view text);

}  // namespace difffuzz
