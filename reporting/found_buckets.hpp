// What a campaign's evidence holds, one bucket a bucket: for reports and filing.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include <nlohmann/json.hpp>

namespace difffuzz {

struct FoundBucket {
    std::string type;         // of the record
    std::string fingerprint;  // 16 hexadecimal digits; empty for a case that ended a worker
    std::string severity;     // "" likewise
    std::string status;       // of the record: "new", "known(ID)", "flaky", ...
    std::string operation;
    std::uint64_t index = 0;  // of the case
    std::uint64_t cases = 0;  // with this fingerprint, as far as the journal or the records tell
    std::string directory;    // of the record, below the evidence
    nlohmann::json record;    // checked by parse_record: types of the fields that `repro` reads
    bool operator==(const FoundBucket&) const = default;
};

// The record of the lowest index of each bucket, worst severity first, then by index. Throws
// UsageError naming the file for a record that is none, EnvironmentError for a journal that is
// none.
std::vector<FoundBucket> load_buckets(const std::string& evidence);

// A text file beside the bucket's record ("reproduce.sh"), at most `max_bytes` of it; empty where
// there is none or it is larger.
std::string file_beside(const std::string& evidence, const FoundBucket& bucket,
                        const std::string& name, std::size_t max_bytes);

// Paths of all record.json files of the evidence, sorted. Throws UsageError naming the directory.
std::vector<std::string> record_files(const std::string& evidence);

}  // namespace difffuzz
