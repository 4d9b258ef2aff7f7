// A valid case in place of one that is damaged, or that breaks a rule: a tool that is wrong on
// valid input is worth more than the same on input that nobody should give it.
#include "campaign/triage/reducers/parts.hpp"
#include "campaign/triage/reducers/table.hpp"

namespace difffuzz {
namespace {

Edit without_damage() {
    return {"all damage", "", [](Reduced r) {
                for (ImageRecipe& image : r.c.images) {
                    image.damage.clear();
                }
                for (Step& step : r.c.steps) {
                    if (std::holds_alternative<DamagedIntent>(step.intent)) {
                        step.intent = ValidIntent{};
                    }
                }
                return r;
            }};
}

// What breaks a rule is mostly one argument.
Edit without_refused_argument(const Case& c, std::size_t step, std::size_t argument) {
    return {argument_name(c, step, argument), "none, in a valid step", [step, argument](Reduced r) {
                r.c.steps[step].intent = ValidIntent{};
                erase_piece(r.c.steps[step].arguments, argument, 1);
                drop_unused_outputs(r.c);
                return r;
            }};
}

}  // namespace

std::vector<Edit> intent_edits(const Reduced& from, const WordDomain&) {
    std::vector<Edit> edits;
    if (intent_name(from.c) == "damaged") {
        edits.push_back(without_damage());
    }
    for (std::size_t s = 0; s < from.c.steps.size(); ++s) {
        const Step& step = from.c.steps[s];
        if (!std::holds_alternative<RefusedIntent>(step.intent)) {
            continue;
        }
        for (std::size_t a = 0; a < step.arguments.size(); ++a) {
            edits.push_back(without_refused_argument(from.c, s, a));
        }
    }
    return edits;
}

}  // namespace difffuzz
