// Whether known divergences still hold, found out by driving straight into them.
#pragma once

#include <cstdint>
#include <functional>
#include <string>
#include <vector>

#include "campaign/case_source.hpp"
#include "campaign/workers/pool.hpp"
#include "core/errors.hpp"

namespace difffuzz {

enum class AuditVerdict {
    holds,           // its exhibit shows its effect, and so does what else was drawn inside
    gone,            // the tools agree on its exhibit
    drifted,         // its exhibit, or a case inside, differs in another way
    over_broad,      // too many cases inside show nothing
    not_applicable,  // it is about other tools or versions
    expired,         // it is past the day by which it was to be reviewed
    unfinished,      // a run could not tell
};
std::string_view to_string(AuditVerdict verdict);

struct AuditTerms {
    std::string today;             // "2026-11-30"
    std::uint64_t seed = 0;        // of the draws
    std::uint64_t inside = 8;      // further cases of each entry
    std::uint64_t draws = 6'000;   // at most, to find them
    std::vector<std::string> ids;  // only these; empty: all
};

struct EntryAudit {
    std::string id;
    AuditVerdict verdict = AuditVerdict::unfinished;
    std::string why;  // one sentence
    // Of the further cases: drawn, showing the effect, agreeing, showing something else at another
    // step or known by another entry, and those of which no run could tell.
    std::uint64_t draws = 0;
    std::uint64_t inside = 0;
    std::uint64_t shown = 0;
    std::uint64_t agreed = 0;
    std::uint64_t other = 0;
    std::uint64_t unclear = 0;
};

// Throws UsageError for an id that is not in the registry.
void require_entries(const Registry& registry, const std::vector<std::string>& ids);

// Steps, for each entry about the plan's tools that has not expired:
//   1. its predicate must hold for a step of its exhibit;
//   2. the exhibit is run, up to three times until it shows the effect;
//   3. cases inside the predicate are drawn, meant to be what the exhibit is or anything, and run.
// `plan` names the registry with the mode `enter`. `done` is called with each entry as it ends.
std::vector<EntryAudit> audit_known(WorkerPool& pool, const Registry& registry, const Plan& plan,
                                    const AuditTerms& terms,
                                    const std::function<void(const EntryAudit&)>& done);

// gone, drifted, over-broad or expired: 1; else 4 where a run could not tell or no entry is about
// these tools; else 0.
ExitCode audit_exit(const std::vector<EntryAudit>& audits);

}  // namespace difffuzz
