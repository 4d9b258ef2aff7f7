// What shards triage is enough for the campaign that they are merged to: over made-up divergences.
#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

#include "campaign/shard.hpp"
#include "campaign/triage/triage.hpp"
#include "core/cases/symptom.hpp"

namespace difffuzz {
namespace {

// A made-up world: case i shows symptom i * 7 % symptoms, or none; a case shrunk from a symptom
// slips to others, as a pure function of both.
struct World {
    unsigned symptoms = 0;
    unsigned unseen = 0;  // symptoms that only slips show
    std::uint64_t cases = 0;
    std::uint64_t salt = 0;

    std::uint64_t mixed(std::uint64_t a, std::uint64_t b) const {
        std::uint64_t x = (a * 0x9e3779b97f4a7c15U) ^ (b + salt) * 0xbf58476d1ce4e5b9U;
        x ^= x >> 29;
        return x * 0x94d049bb133111ebU >> 20;
    }
};

nlohmann::json symptom_json(unsigned number) {
    Symptom symptom;
    symptom.operation = "info";
    symptom.layer = LayerId::json;
    symptom.layer_name = "json";
    symptom.field = "field-" + std::to_string(number);
    return to_json(symptom);
}

std::string key(unsigned number) { return symptom_key(symptom_from_json(symptom_json(number))); }

Tally tally_of(const World& world, const Shard& shard) {
    Tally tally;
    for (std::uint64_t i = 0; i < world.cases; ++i) {
        if (!shard.holds(i) || world.mixed(i, 1) % 3 == 0) {
            continue;
        }
        const auto number = static_cast<unsigned>(world.mixed(i, 2) % world.symptoms);
        CaseReport report;
        report.index = i;
        report.operation = "info";
        report.terminal = Terminal::diverged;
        report.type = "info_json_divergence";
        report.severity = number % 2 == 0 ? "disagreement" : "detail";
        report.fingerprint = "f" + std::to_string(number);
        report.symptom = symptom_json(number);
        tally.add(report);
    }
    return tally;
}

// What triage would make of an item.
TriageResult result_of(const World& world, const TriageItem& item) {
    TriageResult result;
    result.iteration = item.sighting.iteration;
    result.symptom_key = item.sighting.symptom_key;
    result.first_fingerprint = item.first_fingerprint;
    result.slipped_from = item.slipped_from;
    result.status = "new";
    result.fingerprint =
        std::to_string(world.mixed(std::hash<std::string>{}(result.symptom_key), 3));
    const std::uint64_t place = std::hash<std::string>{}(result.symptom_key) % 1000;
    for (unsigned other = 0; other < world.symptoms + world.unseen; ++other) {
        if (world.mixed(place * 1000 + other, result.iteration % 2) % 4 == 0) {
            result.slips.push_back({{}, key(other)});
        }
    }
    return result;
}

std::vector<TriageResult> run(const World& world, const Shard& shard) {
    bool done = false;
    return triage_in_waves(
        tally_of(world, shard), shard.count > 1,
        [&](std::vector<TriageItem>& wave) {
            for (TriageItem& item : wave) {
                item.result = result_of(world, item);
            }
            return true;
        },
        done);
}

std::vector<std::string> shown(const std::vector<TriageResult>& results) {
    std::vector<std::string> lines;
    for (const TriageResult& one : results) {
        lines.push_back(std::to_string(one.iteration) + " " + one.symptom_key + " " +
                        one.slipped_from);
    }
    return lines;
}

RC_GTEST_PROP(MergedTriage, ShardsDoAllThatTheWholeAsksFor, ()) {
    World world;
    world.symptoms = *rc::gen::inRange(1U, 8U);
    world.unseen = *rc::gen::inRange(0U, 4U);
    world.cases = *rc::gen::inRange<std::uint64_t>(1, 60);
    world.salt = *rc::gen::arbitrary<std::uint64_t>();
    const auto count = *rc::gen::inRange<std::uint64_t>(2, 8);
    std::vector<TriageResult> of_shards;
    for (std::uint64_t index = 0; index < count; ++index) {
        std::ranges::move(run(world, {index, count}), std::back_inserter(of_shards));
    }
    std::size_t slips_missing = 0;
    bool done = false;
    const auto merged = triage_in_waves(
        tally_of(world, {}), false,
        [&](std::vector<TriageItem>& wave) {
            for (TriageItem& item : wave) {
                item.result = result_in(of_shards, item);
                // Cases never miss; a slip may where two ways of one case lead to it.
                RC_ASSERT(item.result || !item.slipped_from.empty());
                slips_missing += item.result ? 0U : 1U;
            }
            return slips_missing == 0;
        },
        done);
    RC_ASSERT(done == (slips_missing == 0));
    if (done) {
        RC_ASSERT(shown(merged) == shown(run(world, {})));
    }
    RC_CLASSIFY(done, "whole");
    RC_CLASSIFY(!done, "left to resume");
}

}  // namespace
}  // namespace difffuzz
