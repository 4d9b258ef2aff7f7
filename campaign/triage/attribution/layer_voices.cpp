// Voices of layers that know, from one side alone, what is wrong.
#include "campaign/triage/attribution/voices.hpp"

namespace difffuzz {
namespace {

// Who deviates by what a layer knows; nothing where it only knows that the sides differ.
std::optional<Blame> blame_of(const Difference* difference) {
    if (difference == nullptr) {
        return std::nullopt;
    }
    switch (difference->symptom.direction) {
        case Direction::subject:
            return Blame::subject;
        case Direction::reference:
            return Blame::reference;
        case Direction::both:
            return Blame::both;
        case Direction::differ:
            return std::nullopt;
    }
    return std::nullopt;
}

// `words` follows the name of the side.
std::optional<Statement> by_layer(const Testimony& testimony, LayerId layer,
                                  const std::string& words) {
    const auto blame = blame_of(testimony.difference(layer));
    return blame ? std::optional(says(*blame, in_words(*blame) + " " + words)) : std::nullopt;
}

}  // namespace

std::optional<Statement> inputs_voice(const Testimony& testimony) {
    return by_layer(testimony, LayerId::inputs, "changed an image that the step only reads");
}

std::optional<Statement> escapes_voice(const Testimony& testimony) {
    const Difference* difference = testimony.difference(LayerId::files);
    return difference != nullptr && difference->symptom.field == "escapes"
               ? by_layer(testimony, LayerId::files,
                          "left an image that refers to something outside of the directory")
               : std::nullopt;
}

std::optional<Statement> crash_voice(const Testimony& testimony) {
    return by_layer(testimony, LayerId::crash, "crashed");
}

std::optional<Statement> syntax_voice(const Testimony& testimony) {
    const Difference* difference = testimony.difference(LayerId::json);
    return difference != nullptr && difference->symptom.field == "unparseable"
               ? by_layer(testimony, LayerId::json,
                          "printed what is no JSON where JSON was asked for")
               : std::nullopt;
}

std::optional<Statement> structure_voice(const Testimony& testimony) {
    return by_layer(testimony, LayerId::check,
                    "left an image that the neutral check does not find clean");
}

std::optional<Statement> relations_voice(const Testimony& testimony) {
    const Difference* difference = testimony.difference(LayerId::relations);
    return difference == nullptr ? std::nullopt
                                 : by_layer(testimony, LayerId::relations,
                                            "broke the relation " + difference->symptom.field +
                                                " between what is said and what is written");
}

}  // namespace difffuzz
