#include "apps/difffuzz/fault_buckets.hpp"

#include <algorithm>
#include <iostream>
#include <sstream>

#include <fmt/format.h>

#include "apps/difffuzz/output.hpp"
#include "apps/difffuzz/stand_in.hpp"
#include "core/errors.hpp"
#include "core/suggest.hpp"
#include "core/tools/stand_in.hpp"
#include "oracles/shown_text.hpp"

namespace difffuzz {
namespace {

constexpr std::size_t longest_symptom = 600;

using Together = std::vector<PlantedFault>;  // planted at once

Together faults_named(const std::string& names, const std::vector<PlantedFault>& all) {
    Together chosen;
    std::istringstream stream(names);
    for (std::string name; std::getline(stream, name, stand_in::fault_separator);) {
        const auto found = std::ranges::find(all, name, &PlantedFault::name);
        if (found == all.end()) {
            std::vector<std::string> known;
            for (const PlantedFault& fault : all) {
                known.push_back(fault.name);
            }
            throw UsageError("--fault: there is no fault '" + shown_text(name, 80) + "'" +
                             suggestion(name, known) + "; 'difffuzz selftest --list' lists all");
        }
        chosen.push_back(*found);
    }
    return chosen;
}

std::vector<Together> chosen_faults(const Flags& flags) {
    const std::vector<PlantedFault> all = planted_faults();
    std::vector<Together> chosen;
    for (const std::string& names : flags.faults) {
        chosen.push_back(faults_named(names, all));
    }
    for (std::size_t i = 0; flags.faults.empty() && i < all.size(); ++i) {
        chosen.push_back({all[i]});
    }
    return chosen;
}

std::vector<std::uint64_t> figures(const std::vector<FaultBuckets>& rows,
                                   std::uint64_t LeastCase::*which) {
    std::vector<std::uint64_t> numbers;
    for (const FaultBuckets& row : rows) {
        for (const LeastCase& least : row.least) {
            numbers.push_back(least.*which);
        }
    }
    return numbers;
}

// Whether every bucket of the row has it: what tells them apart is worth a look.
bool is_common(const FaultBuckets& row, const std::string& feature) {
    return std::ranges::all_of(row.buckets, [&](const CountedBucket& bucket) {
        return std::ranges::find(bucket.features, feature) != bucket.features.end();
    });
}

void print(const FaultBuckets& row) {
    const auto of = [&](std::uint64_t LeastCase::*which) { return median(figures({row}, which)); };
    std::cout << fmt::format("{:<40} {:>5} {:>7} {:>8} {:>6} {:>5}\n", row.fault, row.cases,
                             row.buckets.size(), of(&LeastCase::commands), of(&LeastCase::writes),
                             of(&LeastCase::runs));
    if (!row.failure.empty()) {
        std::cout << "  no verdict: " << printable_text(row.failure) << "\n";
    }
    for (std::size_t i = 0; row.buckets.size() > 1 && i < row.buckets.size(); ++i) {
        const CountedBucket& bucket = row.buckets[i];
        std::string line = bucket.name + ":";
        for (const std::string& feature : bucket.features) {
            line += is_common(row, feature) ? "" : " [" + feature + "]";
        }
        std::cout << "  " << printable_text(line) << "\n    "
                  << shown_text(bucket.symptom, longest_symptom) << "\n";
    }
    std::cout << std::flush;
}

}  // namespace

int show_fault_buckets(const Flags& flags, FaultBucketsOptions options) {
    const std::vector<Together> chosen = chosen_faults(flags);
    std::cout << fmt::format("{:<40} {:>5} {:>7} {:>8} {:>6} {:>5}\n", "fault", "cases", "buckets",
                             "commands", "writes", "runs");
    std::vector<FaultBuckets> rows;
    bool as_many = true;
    for (const Together& faults : chosen) {
        rows.push_back(faults.size() == 1 ? buckets_of_fault(options, faults.front())
                                          : buckets_of_faults(options, faults));
        as_many &= rows.back().buckets.size() == faults.size();
        print(rows.back());
    }
    const auto shared = shared_buckets(rows);
    for (const auto& [bucket, names] : shared) {
        std::cout << "shared by";
        for (const std::string& name : names) {
            std::cout << " " << name;
        }
        std::cout << ": " << printable_text(bucket) << "\n";
    }
    std::cout << fmt::format(
        "medians of {} least cases: {} commands, {} writes, {} runs\n",
        figures(rows, &LeastCase::runs).size(), median(figures(rows, &LeastCase::commands)),
        median(figures(rows, &LeastCase::writes)), median(figures(rows, &LeastCase::runs)));
    require_output();
    if (std::ranges::any_of(rows, [](const FaultBuckets& row) { return !row.failure.empty(); })) {
        return static_cast<int>(ExitCode::no_verdict);
    }
    return static_cast<int>(as_many && shared.empty() ? ExitCode::holds : ExitCode::does_not_hold);
}

}  // namespace difffuzz
