// difffuzz selftest: plants faults and says which oracle layer sees them.
#include <algorithm>
#include <iostream>

#include <nlohmann/json.hpp>

#include "apps/difffuzz/fault_buckets.hpp"
#include "apps/difffuzz/flags.hpp"
#include "apps/difffuzz/output_file.hpp"
#include "apps/difffuzz/scratch_directory.hpp"
#include "apps/difffuzz/stand_in.hpp"
#include "apps/difffuzz/tools.hpp"
#include "campaign/selftest.hpp"
#include "core/cases/recipe_json.hpp"
#include "core/errors.hpp"
#include "core/suggest.hpp"
#include "oracles/shown_text.hpp"
#include "reporting/reports/kill_matrix.hpp"

namespace difffuzz {
namespace {

// The same cases each time, unless another seed is asked for.
constexpr std::uint64_t usual_seed = 1;

// All faults, or those that are named.
std::vector<PlantedFault> chosen_faults(const std::vector<std::string>& names) {
    std::vector<PlantedFault> all = planted_faults();
    std::vector<std::string> known;
    for (const PlantedFault& fault : all) {
        known.push_back(fault.name);
    }
    for (const std::string& name : names) {
        if (std::ranges::find(known, name) == known.end()) {
            throw UsageError("there is no fault '" + shown_text(name, 80) + "'" +
                             suggestion(name, known) + "; 'difffuzz selftest --list' lists all");
        }
    }
    std::erase_if(all, [&](const PlantedFault& fault) {
        return !names.empty() && std::ranges::find(names, fault.name) == names.end();
    });
    return all;
}

void keep_recipes(const std::string& directory, const SelftestResult& result) {
    if (directory.empty()) {
        return;
    }
    for (const FaultRow& row : result.rows) {
        if (row.decisive) {
            const std::string file = directory + "/" + row.fault.name + ".json";
            write_output(output_file("--recipes", file), to_json(*row.decisive).dump(1) + "\n");
        }
    }
}

ExitCode exit_code(const SelftestResult& result) {
    if (!result.finished()) {
        return ExitCode::no_verdict;
    }
    return result.all_caught() ? ExitCode::holds : ExitCode::does_not_hold;
}

int list(const std::vector<PlantedFault>& faults) {
    for (const PlantedFault& fault : faults) {
        std::cout << fault.name << "  [" << fault.operation << "]  " << to_string(fault.layer)
                  << ": " << fault.what << "\n";
    }
    return static_cast<int>(ExitCode::holds);
}

// Cases of a fault's campaign, unless its fault needs more to show.
constexpr std::uint64_t usual_iterations = 60;

int selftest(const Flags& flags) {
    if (flags.list) {
        return list(chosen_faults(flags.positional));
    }
    if (!flags.buckets && (!flags.faults.empty() || flags.iterations)) {
        throw UsageError("--fault and --iterations go together with --buckets");
    }
    if (flags.buckets && (flags.exhibits || flags.without_own || flags.json ||
                          !flags.recipes.empty() || !flags.positional.empty())) {
        throw UsageError(
            "--buckets takes its faults by --fault, and runs campaigns; it goes with "
            "none of --exhibits, --without-own, --json, --recipes and FAULT");
    }
    const ScratchDirectory scratch;
    SelftestOptions options;
    options.exhibits = flags.exhibits;
    options.without_own_layer = flags.without_own;
    options.gates = flags.positional.empty() && !flags.without_own;
    options.scratch = scratch.path();
    CampaignOptions& campaign = options.campaign;
    campaign.faults = chosen_faults(flags.positional);
    make_output_directory("--recipes", flags.recipes);
    campaign.canary = find_canary();
    campaign.reference = find_reference(flags);
    campaign.subject = campaign.reference;
    campaign.seed = flags.seed.value_or(usual_seed);
    campaign.exposed = exposed_from(flags);
    campaign.run_as = tool_identity(flags);
    campaign.jobs = jobs_from(flags);
    campaign.limits = limits_from(flags);
    if (flags.buckets) {
        campaign.iterations = flags.iterations.value_or(usual_iterations);
        return show_fault_buckets(flags, {campaign, scratch.path()});
    }
    const SelftestResult result = run_selftest(options, [](const FaultRow& row) {
        std::cerr << "difffuzz: " << row.fault.name << ": " << to_string(row.result) << "\n";
    });
    keep_recipes(flags.recipes, result);
    std::cout << (flags.json ? selftest_json(result).dump(2) + "\n" : selftest_text(result));
    return static_cast<int>(exit_code(result));
}

}  // namespace

CommandSpec selftest_command() {
    return {"selftest",
            "plants faults in a real qemu-img: does every oracle layer see those meant for it?",
            "difffuzz selftest --exhibits",
            {"--list", "--exhibits", "--without-own", "--buckets", "--fault", "--iterations",
             "--recipes", "--json", "--seed", "--reference", "--jobs", "--timeout", "--run-as",
             "--expose", "--memory-limit", "--disk-limit", "--no-config"},
            "FAULT",
            0,
            1000,
            selftest};
}

}  // namespace difffuzz
