// Both sides ended alike and differ in words or layout alone.
#include "campaign/triage/attribution/voices.hpp"

namespace difffuzz {

std::optional<Statement> wording_voice(const Testimony& testimony) {
    const Difference& difference = *testimony.result.difference;
    // Scripts tell answers apart by exit codes, so those are no matter of taste.
    if (difference.severity != Severity::detail || difference.symptom.layer == LayerId::code) {
        return std::nullopt;
    }
    return says(Blame::both_legal,
                "both sides end alike; nothing prescribes the words or the layout in which they "
                "differ");
}

}  // namespace difffuzz
