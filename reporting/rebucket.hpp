// Old evidence in the buckets of this difffuzz: fingerprints are versioned, and what is in them
// changes.
#pragma once

#include <string>
#include <vector>

namespace difffuzz {

struct NewBucket {
    std::string type;
    std::string fingerprint;           // by the present version
    std::vector<std::string> before;   // fingerprints that its records have, sorted
    std::vector<std::string> records;  // their directories below the evidence, sorted
};

// All records that have a symptom, whatever version their fingerprint is of; sorted by type and
// fingerprint. Reads only. Throws UsageError naming the file for a record that cannot be read.
std::vector<NewBucket> rebucketed(const std::string& evidence);

}  // namespace difffuzz
