// The cases of a campaign: what an index of a plan comes to, by everybody who asks.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "known_divergences/known_filter.hpp"
#include "ops/operation.hpp"

namespace difffuzz {

// A draw that was dropped for a known divergence.
struct SteeredAway {
    std::string entry;
    std::string operation;  // of the case that was dropped
    bool operator==(const SteeredAway&) const = default;
};

struct DrawnCase {
    std::optional<Case> c;  // nothing: exhausted
    std::vector<SteeredAway> steered;
};

class CaseSource {
public:
    // Both are used while this lives. Throws UsageError as KnownFilter does.
    CaseSource(const Plan& plan, std::uint64_t seed, const Registry& registry);

    // A pure function of generator version, plan, seed and index (and pins): the first attempt that
    // no steering entry holds for.
    DrawnCase draw(std::uint64_t index, const Pins* pins = nullptr);

    KnownFilter& filter() { return filter_; }

private:
    const Plan& plan_;
    std::uint64_t seed_;
    KnownFilter filter_;
};

// The registry of a run: none for the mode off, else what is built in and what `directory` holds
// (empty: nothing more). Throws UsageError for entries that cannot be used, whatever the mode: also
// for one about an operation that does not exist, one whose exhibit is no case of its operation,
// and one whose predicate does not compile.
Registry load_registry(std::string_view mode, const std::string& directory);

}  // namespace difffuzz
