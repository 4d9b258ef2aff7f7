// Where triaged records come to lie in the evidence.
#pragma once

#include <string>

#include "campaign/triage/result.hpp"

namespace difffuzz {

// "records/TYPE-FINGERPRINT/ITERATION", below the evidence.
std::string record_directory(const std::string& type, const std::string& fingerprint,
                             std::uint64_t iteration);

// Beside a shrunk record: the record and files of the case as it was seen.
inline constexpr std::string_view first_seen_folder = "original";
inline constexpr std::string_view first_seen_record = "first_seen.json";

// The record of a case as it was seen: that in `directory` (absolute), or what place_record() made
// of it. UsageError naming the file.
nlohmann::json read_first_seen(const std::string& directory);

// Puts the record of a session that ended in its place, with its case as it was seen beside it, or
// marks it as flaky where it is. `first` is the directory of the case as seen below the evidence,
// empty for a slip. A kill at any moment leaves the old record, the new one, or both; to do it
// again is to do it once. EnvironmentError.
void place_record(const std::string& evidence, const std::string& first,
                  const TriageSession& session, const TriageResult& result);

// Makes the record in `directory` (absolute) that of the case as it was seen again, untriaged.
void restore_first_seen(const std::string& directory);

// Removes what place_record() left of the case as seen, once the result stands in the journal.
void drop_first_seen(const std::string& evidence, const std::string& first,
                     const TriageResult& result);

}  // namespace difffuzz
