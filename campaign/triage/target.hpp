// What a divergence is, as far as triage must keep it.
#pragma once

#include <string>

#include <nlohmann/json.hpp>

#include "campaign/triage/search.hpp"
#include "campaign/workers/messages.hpp"

namespace difffuzz {

struct Target {
    nlohmann::json symptom;
    std::string severity;
    std::string intent;
    std::string rule;  // the one that a refused case breaks
    bool reference_accepted = false;
};
// Of a report whose case diverged.
Target target_of(const CaseReport& report);

// How the run of a candidate ended, for the search. The symptom counts only in the candidate's
// culprit step, with the severity and the reference's acceptance that the target has.
TrialResult judge_trial(const Target& target, std::size_t culprit, const CaseReport& report);

// Whether a candidate may stand for the case: it is in its operation's envelope, has the intent,
// breaks the same rule, and is still damaged if the case was. Pure.
bool may_stand_for(const Target& target, const Case& candidate);

// The words that options of an operation's steps may take, as its picker lists them.
WordDomain word_domain(std::string_view operation);

}  // namespace difffuzz
