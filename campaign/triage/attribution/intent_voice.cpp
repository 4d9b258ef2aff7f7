// What the case is meant to be: something that every tool does, or something that breaks a rule.
#include "campaign/triage/attribution/voices.hpp"

namespace difffuzz {

std::optional<Statement> intent_voice(const Testimony& testimony) {
    const Difference* difference = testimony.difference(LayerId::exit);
    if (difference == nullptr) {
        return std::nullopt;
    }
    // The layer's direction is the side that refused.
    const bool subject_refused = difference->symptom.direction == Direction::subject;
    const Intent& intent = testimony.culprit().intent;
    if (std::holds_alternative<ValidIntent>(intent)) {
        const Blame blame = subject_refused ? Blame::subject : Blame::reference;
        return says(blame, in_words(blame) + " refuses a step that breaks no rule");
    }
    if (const auto* refused = std::get_if<RefusedIntent>(&intent)) {
        const Blame blame = subject_refused ? Blame::reference : Blame::subject;
        return says(blame, in_words(blame) + " accepts a step that breaks the rule '" +
                               refused->rule + "'");
    }
    return std::nullopt;
}

}  // namespace difffuzz
