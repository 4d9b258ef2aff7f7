// difffuzz merge: the evidence of shards becomes that of their campaign.
#include "campaign/merge/merge.hpp"

#include "apps/difffuzz/ending.hpp"
#include "apps/difffuzz/flags.hpp"
#include "reporting/reports/summary.hpp"

namespace difffuzz {
namespace {

int merge(const Flags& flags) {
    MergeOptions options;
    options.directory = flags.positional.at(0);
    options.shards.assign(flags.positional.begin() + 1, flags.positional.end());
    options.known_directory = flags.known_directory;
    const CampaignResult result = merge_shards(options);
    write_summary(summary_json(result), options.directory);
    return static_cast<int>(result.verdict.exit);
}

}  // namespace

CommandSpec merge_command() {
    return {"merge",
            "joins the evidence of all shards of a campaign in a new directory OUT",
            "difffuzz merge difffuzz-out/whole difffuzz-out/shard-*",
            {"--known-dir"},
            "OUT SHARD",
            2,
            max_shards + 1,
            merge};
}

}  // namespace difffuzz
