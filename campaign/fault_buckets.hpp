// One cause, one bucket: a campaign for each planted fault, and what buckets it ended in.
#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <string>
#include <vector>

#include "campaign/campaign.hpp"

namespace difffuzz {

// A shrunk case in numbers.
struct LeastCase {
    std::uint64_t commands = 0;
    std::uint64_t writes = 0;  // of all content programs
    std::uint64_t runs = 0;    // that it took to shrink it
};

// A bucket that counts, and what its least case could not lose.
struct CountedBucket {
    std::string name;  // "TYPE-FINGERPRINT"
    std::string symptom;
    std::vector<std::string> features;
};

struct FaultBuckets {
    std::string fault;                   // its name, or several
    std::uint64_t cases = 0;             // of the campaign
    std::vector<CountedBucket> buckets;  // by name
    std::vector<LeastCase> least;        // of each record of theirs that was shrunk
    std::string failure;                 // why the campaign tells nothing; empty: it does
};

struct FaultBucketsOptions {
    // Reference, stand-in, seed, jobs, limits, ...; `iterations` is the budget of each campaign.
    CampaignOptions campaign;
    std::string scratch;  // an empty directory for their evidence
};

// The campaign of one fault over its own operation, without other divergences: the stand-in is held
// against the tool that it stands in for. Where `iterations` cases show nothing, once more with the
// fault's own budget. Buckets count that are new and not the reference's own, unless the fault is
// planted in both roles. Throws what run_campaign() throws.
FaultBuckets buckets_of_fault(const FaultBucketsOptions& options, const PlantedFault& fault);

// The same of several faults planted at once, over all their operations.
FaultBuckets buckets_of_faults(const FaultBucketsOptions& options,
                               const std::vector<PlantedFault>& faults);

// Buckets that are of more than one row, with the rows' names.
std::map<std::string, std::vector<std::string>> shared_buckets(
    const std::vector<FaultBuckets>& rows);

// The middle one of an odd number, the lower of the two middle ones of an even number; 0 of none.
std::uint64_t median(std::vector<std::uint64_t> numbers);

}  // namespace difffuzz
