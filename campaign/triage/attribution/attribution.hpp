// Which side of a divergence seems wrong: what voices say that each know one thing.
#pragma once

#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include <nlohmann/json_fwd.hpp>

#include "campaign/execution/case_result.hpp"

namespace difffuzz {

// What a voice, and in the end all of them, say.
enum class Blame { subject, reference, both, both_legal, undecided };
// "subject", "reference", "both", "both legal", "undecided".
std::string_view to_string(Blame blame);

struct Statement {
    std::string voice;  // its name
    Blame blame = Blame::undecided;
    std::string words;  // one sentence; holds ids and rules of the case, nothing that a tool said
};

struct Attribution {
    Blame blame = Blame::undecided;
    std::vector<Statement> statements;  // in the order of the voices
};
// As in record.json: `side`, and `voices` with `voice`, `says` and `words`.
nlohmann::json to_json(const Attribution& attribution);

// A case that diverged, and all that both sides did in it; a pure function of these.
struct Testimony {
    const Case& c;
    const CaseResult& result;  // its `difference` is set

    const Step& culprit() const { return c.steps.at(result.culprit_step); }
    // The difference that a layer found in the culprit step; null where it found none.
    const Difference* difference(LayerId layer) const;
};

struct Voice {
    std::string_view name;
    std::string_view purpose;  // one sentence
    // The blame and the words; nothing where the voice knows nothing of the case.
    std::optional<Statement> (*speak)(const Testimony& testimony);
};

// All voices, the one that knows best first.
std::span<const Voice> voices();

// The first voice that blames a side, or both, decides. Where none does, both ways are legal if one
// says so; else it is undecided.
Attribution attribute(const Case& c, const CaseResult& result);

}  // namespace difffuzz
