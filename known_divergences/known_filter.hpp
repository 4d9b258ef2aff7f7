// What the known divergences say of a case: whether to keep away from it, and whether what it
// showed is known.
#pragma once

#include <cstddef>
#include <memory>
#include <string>
#include <vector>

#include "core/cases/case.hpp"
#include "core/cases/plan.hpp"
#include "known_divergences/registry.hpp"

namespace difffuzz {

class Predicates;  // known_divergences/predicates.hpp

// The registry's modes, as plans spell them.
inline constexpr std::string_view known_steer = "steer";  // cases inside are not drawn
inline constexpr std::string_view known_enter = "enter";  // they are, and what they show is known
inline constexpr std::string_view known_off = "off";      // neither

// What a divergence is.
struct Classification {
    std::string known;  // id of the entry that covers it; empty: it is new
    // Entries whose predicate holds for the culprit step, and that cover another effect.
    std::vector<std::string> inside;
    bool operator==(const Classification&) const = default;
};
// The status of what an entry covers, in records and summaries.
inline std::string known_status(const std::string& id) { return "known(" + id + ")"; }

// Made once, asked for every case: only entries about the declared tools and the operations of the
// case's steps are asked, and only tables that they read are filled.
class KnownFilter {
public:
    // `registry` must be what the plan names by its digest, and is used while this lives. Throws
    // UsageError for another one, for a mode that does not exist, and for a predicate that cannot
    // be compiled, also of an entry about other tools.
    KnownFilter(const Registry& registry, const Plan& plan);
    ~KnownFilter();

    // The first entry, by id, that cases are steered away from and whose predicate holds for any
    // step that a tool of the case does; null when the case may be run. Throws UsageError for a
    // predicate that takes too long.
    const KnownDivergence* steered_by(const Case& c);

    Classification classify(const Case& c, std::size_t culprit_step, const Symptom& symptom);

    // Whether the predicate of an entry (its place in the registry) holds for one step, whatever
    // the mode.
    bool holds(std::size_t entry, const Case& c, std::size_t step);

private:
    struct Applied {
        Fit fit = Fit::none;
        std::vector<Effect> effects;
    };
    bool concerns(std::size_t entry, const Step& step) const;

    const Registry& registry_;
    bool off_;
    bool steers_;
    std::unique_ptr<Predicates> predicates_;
    std::vector<Applied> applied_;  // of each entry
};

// Throws UsageError unless `word` is a mode.
void require_known_mode(std::string_view word);

}  // namespace difffuzz
