#include "campaign/triage/attribution/attribution.hpp"

#include <algorithm>

#include <nlohmann/json.hpp>

#include "campaign/triage/attribution/voices.hpp"

namespace difffuzz {
namespace {

bool blames(const Statement& statement) {
    return statement.blame == Blame::subject || statement.blame == Blame::reference ||
           statement.blame == Blame::both;
}

Blame concluded(const std::vector<Statement>& statements) {
    const auto first = std::ranges::find_if(statements, blames);
    if (first != statements.end()) {
        return first->blame;
    }
    return std::ranges::count(statements, Blame::both_legal, &Statement::blame) > 0
               ? Blame::both_legal
               : Blame::undecided;
}

}  // namespace

std::string_view to_string(Blame blame) {
    switch (blame) {
        case Blame::subject:
            return "subject";
        case Blame::reference:
            return "reference";
        case Blame::both:
            return "both";
        case Blame::both_legal:
            return "both legal";
        case Blame::undecided:
            return "undecided";
    }
    return "undecided";
}

nlohmann::json to_json(const Attribution& attribution) {
    nlohmann::json statements = nlohmann::json::array();
    for (const Statement& statement : attribution.statements) {
        statements.push_back({{"voice", statement.voice},
                              {"says", to_string(statement.blame)},
                              {"words", statement.words}});
    }
    return {{"side", to_string(attribution.blame)}, {"voices", std::move(statements)}};
}

const Difference* Testimony::difference(LayerId layer) const {
    const auto found = std::ranges::find(result.layers, layer, &LayerReport::id);
    return found != result.layers.end() && found->result.difference ? &*found->result.difference
                                                                    : nullptr;
}

std::span<const Voice> voices() {
    static constexpr Voice table[] = {
        {"model", "what an image must hold follows from the images and commands of the case",
         model_voice},
        {"header", "a first line that repeats the arguments must repeat them as they are",
         header_voice},
        {"inputs", "an image that a step only reads stays as it is", inputs_voice},
        {"escapes", "what a tool writes leads to nothing outside of its directory", escapes_voice},
        {"crash", "nothing makes a tool crash", crash_voice},
        {"syntax", "what is to be JSON is JSON", syntax_voice},
        {"structure", "a written image is clean", structure_voice},
        {"relations", "what one tool says and writes fits together", relations_voice},
        {"intent", "a case that breaks no rule is done, one that breaks one is refused",
         intent_voice},
        {"readers", "of three readers of one image, two that agree are right", readers_voice},
        {"wording", "nothing prescribes words, where the outcome is the same", wording_voice},
    };
    return table;
}

Attribution attribute(const Case& c, const CaseResult& result) {
    const Testimony testimony{c, result};
    Attribution attribution;
    for (const Voice& voice : voices()) {
        if (auto statement = voice.speak(testimony)) {
            statement->voice = voice.name;
            attribution.statements.push_back(*std::move(statement));
        }
    }
    attribution.blame = concluded(attribution.statements);
    return attribution;
}

}  // namespace difffuzz
