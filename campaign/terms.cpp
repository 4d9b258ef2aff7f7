#include "campaign/terms.hpp"

#include "core/errors.hpp"

namespace difffuzz {
namespace {

using nlohmann::json;

// A tool by its version and the beginning of its hash.
std::string shown_tool(const json& profile) {
    return "'" + profile.at("version_text").get<std::string>() + "' (" +
           profile.at("identity").get<std::string>().substr(0, 12) + ")";
}

std::string shown_shard(const json& shard) {
    const auto count = shard.at("count").get<std::uint64_t>();
    return count == 1 ? "not given"
                      : std::to_string(shard.at("index").get<std::uint64_t>() + 1) + "/" +
                            std::to_string(count);
}

std::string shown_number(const json& number) {
    return number.is_null() ? "not given" : number.dump();
}

std::string shown_operations(const Plan& plan) {
    std::string list;
    for (const OperationWeight& operation : plan.operations) {
        list += (list.empty() ? "" : ",") + operation.name + "=" + std::to_string(operation.weight);
    }
    return list;
}

// Campaigns of before there were baselines have none.
std::optional<TermsDifference> baseline_difference(const json& before, const json& now) {
    const auto identity = [](const json& campaign) {
        return campaign.at("terms").value("baseline", json(nullptr));
    };
    const auto shown = [](const json& campaign) {
        return campaign.contains("baseline") ? shown_tool(campaign.at("baseline")) : "not given";
    };
    if (identity(before) == identity(now)) {
        return std::nullopt;
    }
    return TermsDifference{"--baseline", shown(before), shown(now)};
}

std::optional<TermsDifference> plan_difference(const Plan& before, const Plan& now) {
    if (shown_operations(before) != shown_operations(now)) {
        return TermsDifference{"--ops", shown_operations(before), shown_operations(now)};
    }
    if (before.damaged_percent != now.damaged_percent) {
        return TermsDifference{"--damaged", std::to_string(before.damaged_percent),
                               std::to_string(now.damaged_percent)};
    }
    if (before.registry_mode != now.registry_mode) {
        return TermsDifference{"--known", before.registry_mode, now.registry_mode};
    }
    if (before.registry_digest != now.registry_digest) {
        return TermsDifference{"the set of known divergences (those built in and --known-dir)",
                               before.registry_digest.substr(0, 12),
                               now.registry_digest.substr(0, 12)};
    }
    if (plan_digest(before) != plan_digest(now)) {
        return TermsDifference{"the plan (formats and features that both tools have)",
                               plan_digest(before).substr(0, 12), plan_digest(now).substr(0, 12)};
    }
    return std::nullopt;
}

}  // namespace

std::optional<TermsDifference> terms_difference(const CampaignTerms& earlier,
                                                const CampaignTerms& now) {
    for (const char* tool : {"subject", "reference"}) {
        const json& before = earlier.campaign.at(tool);
        if (before.at("identity") != now.campaign.at(tool).at("identity")) {
            return TermsDifference{std::string("--") + tool, shown_tool(before),
                                   shown_tool(now.campaign.at(tool))};
        }
    }
    if (auto baseline = baseline_difference(earlier.campaign, now.campaign)) {
        return baseline;
    }
    const json& before = earlier.campaign.at("terms");
    const json& after = now.campaign.at("terms");
    for (const auto& [key, words] :
         {std::pair{"generator", "the generator (difffuzz itself)"}, std::pair{"seed", "--seed"},
          std::pair{"iterations", "--iterations"}, std::pair{"max_new", "--max-new"},
          std::pair{"triage_runs", "--triage-runs"}}) {
        if (before.at(key) != after.at(key)) {
            return TermsDifference{words, shown_number(before.at(key)),
                                   shown_number(after.at(key))};
        }
    }
    if (before.at("determinism") != after.at("determinism")) {
        return TermsDifference{"--determinism", before.at("determinism"), after.at("determinism")};
    }
    return plan_difference(earlier.plan, now.plan);
}

void require_same_terms(const CampaignTerms& earlier, const CampaignTerms& now) {
    auto difference = terms_difference(earlier, now);
    const json& before = earlier.campaign.at("terms").at("shard");
    const json& after = now.campaign.at("terms").at("shard");
    if (!difference && before != after) {
        difference = {"--shard", shown_shard(before), shown_shard(after)};
    }
    if (difference) {
        throw UsageError(difference->what + " was " + difference->before +
                         " when the campaign to resume was started, and is " + difference->now +
                         " now; resume it as it was started, or start anew in another --out "
                         "directory");
    }
}

}  // namespace difffuzz
