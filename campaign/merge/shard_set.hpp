// The evidence of a campaign's shards, read and held against each other.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include <nlohmann/json.hpp>

#include "campaign/shard.hpp"
#include "core/cases/plan.hpp"
#include "core/tools/file_descriptor.hpp"

namespace difffuzz {

struct ShardEvidence {
    std::string directory;
    FileDescriptor lock;  // keeps its owner away
    Shard shard;
    nlohmann::json campaign;
    Plan plan;
    nlohmann::json summary;  // null where it never came to one
};

// At least one shard, by index, each at most once, of one campaign.
struct ShardSet {
    std::vector<ShardEvidence> shards;
    // Why the campaign is incomplete, a sentence each: a shard that is missing, unfinished, empty.
    std::vector<std::string> gaps;

    std::uint64_t count() const { return shards.front().shard.count; }
    std::uint64_t iterations() const {
        return shards.front().campaign.at("terms").at("iterations");
    }
};

// Throws UsageError naming two directories and what differs for shards of different campaigns
// (tools, plan, options, limits, thresholds), for a shard that is given twice, and where there is
// no campaign at all; EnvironmentError for one that is in use.
ShardSet read_shards(const std::vector<std::string>& directories);

}  // namespace difffuzz
