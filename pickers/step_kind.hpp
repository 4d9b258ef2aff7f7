// A kind of step that changes images: what it may carry, what it does to the state of the case, and
// how to draw one that the state allows. Operations of one or many such steps are made from these.
#pragma once

#include <algorithm>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "images/state_model.hpp"
#include "pickers/picker.hpp"

namespace difffuzz {

struct StepKind {
    std::string_view operation;
    std::string_view command;
    Actor actor = Actor::tool;
    std::span<const OptionSpec> options;
    // Draws a valid step on the images of the case as they now are; nothing when there is none. The
    // case's outputs may grow.
    std::optional<Step> (*draw)(Case& c, const PickContext& context, const CaseState& state);
    // Does to `state` what the step does. Returns the name of the rule of the picker that the step
    // breaks, with `state` as it was, or empty. `step` has passed the check of its options' types.
    std::string_view (*apply)(const Case& c, const Step& step, CaseState& state);
    // Ids of images whose files the step may change. Pure.
    std::vector<std::string> (*changes)(const Case& c, const Step& step, const CaseState& before);
    // Whether the step may write all that there is once more.
    bool moves_data = true;
};

using StepKinds = std::span<const StepKind* const>;

// Null when none of them is meant by the step.
const StepKind* kind_of(StepKinds kinds, const Step& step);

// The state before step `index` of the case: after all earlier ones, as far as they are known and
// break no rule.
CaseState state_before(const Case& c, StepKinds kinds, std::size_t index);

// The rule that the case's last step breaks, given that those before it break none; empty when it
// breaks none either.
std::string_view rule_of_last_step(const Case& c, StepKinds kinds);

// A rule's name as a template argument.
template <std::size_t n>
struct RuleName {
    char text[n];
    constexpr RuleName(const char (&name)[n]) { std::copy_n(name, n, text); }
};

// Rule::broken of a rule that StepKind::apply tells of.
template <RuleName name, StepKinds (*kinds)()>
bool last_step_breaks(const Case& c) {
    return rule_of_last_step(c, kinds()) == std::string_view(name.text);
}

// Appends steps until the case has `count`, each of a kind drawn by weight (kinds that the state
// rules out give way to others; weight 0: not drawn). The last one is a tool's, so that there is
// one that can be refused; there are fewer where the state allows no more. The case must allow one.
void draw_steps(Case& c, const PickContext& context, StepKinds kinds,
                std::span<const unsigned> weights, std::size_t count);

// The image that a step's positional argument names; empty when it names none.
std::string image_of_step(const Step& step);

}  // namespace difffuzz
