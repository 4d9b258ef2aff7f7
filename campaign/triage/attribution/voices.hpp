// The voices, one file each or, where a layer already tells the sides apart, together.
#pragma once

#include "campaign/triage/attribution/attribution.hpp"

namespace difffuzz {

std::optional<Statement> model_voice(const Testimony& testimony);
std::optional<Statement> header_voice(const Testimony& testimony);
std::optional<Statement> inputs_voice(const Testimony& testimony);
std::optional<Statement> escapes_voice(const Testimony& testimony);
std::optional<Statement> crash_voice(const Testimony& testimony);
std::optional<Statement> syntax_voice(const Testimony& testimony);
std::optional<Statement> structure_voice(const Testimony& testimony);
std::optional<Statement> relations_voice(const Testimony& testimony);
std::optional<Statement> intent_voice(const Testimony& testimony);
std::optional<Statement> readers_voice(const Testimony& testimony);
std::optional<Statement> wording_voice(const Testimony& testimony);

// A statement; attribute() adds the voice's name.
inline Statement says(Blame blame, std::string words) { return {{}, blame, std::move(words)}; }

// "the subject", "the reference", "both".
inline std::string in_words(Blame blame) {
    return (blame == Blame::both ? "" : "the ") + std::string(to_string(blame));
}

}  // namespace difffuzz
