#include "pickers/step_kind.hpp"

#include <algorithm>
#include <numeric>

namespace difffuzz {

const StepKind* kind_of(StepKinds kinds, const Step& step) {
    const auto found = std::ranges::find_if(kinds, [&](const StepKind* kind) {
        return kind->operation == step.operation && kind->command == step.command &&
               kind->actor == step.actor;
    });
    return found == kinds.end() ? nullptr : *found;
}

CaseState state_before(const Case& c, StepKinds kinds, std::size_t index) {
    CaseState state = initial_state(c);
    for (std::size_t s = 0; s < index && s < c.steps.size(); ++s) {
        if (const StepKind* kind = kind_of(kinds, c.steps[s])) {
            kind->apply(c, c.steps[s], state);
        }
    }
    return state;
}

std::string_view rule_of_last_step(const Case& c, StepKinds kinds) {
    const StepKind* kind = c.steps.empty() ? nullptr : kind_of(kinds, c.steps.back());
    if (kind == nullptr) {
        return {};
    }
    CaseState state = state_before(c, kinds, c.steps.size() - 1);
    return kind->apply(c, c.steps.back(), state);
}

void draw_steps(Case& c, const PickContext& context, StepKinds kinds,
                std::span<const unsigned> weights, std::size_t count) {
    CaseState state = state_before(c, kinds, c.steps.size());
    while (c.steps.size() < count) {
        const bool last = c.steps.size() + 1 == count;
        const Draws draws = context.draws.scope("step[" + std::to_string(c.steps.size()) + "]");
        std::vector<Weighted<std::size_t>> left;
        for (std::size_t k = 0; k < kinds.size(); ++k) {
            if (weights[k] != 0 && !(last && kinds[k]->actor == Actor::neutral)) {
                left.push_back({k, weights[k]});
            }
        }
        std::optional<Step> step;
        while (!step && !left.empty()) {
            const std::size_t chosen = draws.pick("kind" + std::to_string(left.size()),
                                                  std::span<const Weighted<std::size_t>>(left));
            const PickContext scoped{draws.scope(std::string(kinds[chosen]->operation) + "." +
                                                 std::string(kinds[chosen]->command)),
                                     context.plan};
            const std::size_t outputs = c.outputs.size();
            step = kinds[chosen]->draw(c, scoped, state);
            CaseState after = state;
            if (step && kinds[chosen]->apply(c, *step, after).empty()) {
                state = std::move(after);
            } else {
                // What was drawn for one kind of image history need not go with every other.
                step.reset();
                c.outputs.resize(outputs);
            }
            std::erase_if(left, [&](const auto& item) { return item.value == chosen; });
        }
        if (!step) {
            break;
        }
        c.steps.push_back(std::move(*step));
    }
    while (!c.steps.empty() && c.steps.back().actor == Actor::neutral) {
        c.steps.pop_back();
    }
}

std::string image_of_step(const Step& step) {
    for (const Argument* argument : positionals(step)) {
        if (const auto* image = std::get_if<ImageValue>(&*argument->value)) {
            return image->id;
        }
    }
    return {};
}

}  // namespace difffuzz
