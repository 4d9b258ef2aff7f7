// What an argument picker is: how to draw a valid case, the options it knows, and the rules that
// bound them. Drawing a refused case and validating any case follow from these, for all alike.
#pragma once

#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "core/cases/case.hpp"
#include "core/cases/draws.hpp"
#include "core/cases/plan.hpp"

namespace difffuzz {

struct StepKind;  // pickers/step_kind.hpp

struct PickContext {
    Draws draws;
    const Plan& plan;
};

// The type of an option's value.
enum class ValueKind { none, size, number, word, image, options, any };

struct OptionSpec {
    std::string_view option;  // "-f"; empty for positional arguments
    ValueKind kind = ValueKind::none;
    // For word: all that are allowed; empty: no fixed list (the picker's rules say more).
    std::span<const std::string_view> words;
    unsigned min_count = 0;
    unsigned max_count = 1;
};

// A bound of the envelope. A valid case breaks none; a refused case breaks exactly one whose
// `enforced` is true, that is, one that the reference is known (by test) to refuse.
struct Rule {
    std::string_view name;  // stable id, e.g. "count-out-of-range"
    bool enforced = false;
    std::string_view why;  // what the rule demands; for one not enforced, also why not
    bool (*broken)(const Case& c);
    // Turns a valid case into one that breaks this rule alone; null where not enforced.
    void (*break_it)(Case& c, const Draws& draws) = nullptr;
    // Whether break_it can work on this (valid) case; null: always.
    bool (*applicable)(const Case& c) = nullptr;
};

// A documented option that is never drawn, and why: it needs a device, a network, a protocol or a
// password, it has no effect on files or output, or images cannot have yet what it is about.
struct LeftOut {
    std::string_view option;
    std::string_view reason;
};

struct Picker {
    std::string_view operation;
    // The word of the default dialect; empty for an operation that is made of those of others.
    std::string_view command;
    // Draws a case that breaks no rule. Deterministic in context.
    Case (*draw_valid)(const PickContext& context);
    std::span<const OptionSpec> options;
    std::span<const Rule> rules;
    // With `options`, all that the reference documents for the command.
    std::span<const LeftOut> left_out = {};
    // For operations whose cases are made of steps that change images: the kinds of all their
    // steps, neutral ones too. `options` are then those of the kind that the operation is named
    // after.
    std::span<const StepKind* const> kinds = {};
    // For operations that damage is the point of: the least share of their cases, per cent, that is
    // damaged where the plan has damaged ones, and what damages a valid case; null: damage_case().
    unsigned damaged_percent = 0;
    bool (*damage)(Case& c, const Draws& draws) = nullptr;
};

struct Violation {
    std::string rule;
    std::string detail;
};

// Draws a case: valid, in `plan.damaged_percent` of the draws (or more: Picker::damaged_percent)
// damaged, and in `plan.refused_percent` of the rest refused. In two parts, so that what the valid
// case holds can be looked at between them; both get the same context.
Case pick_valid_case(const Picker& picker, const PickContext& context);
Case with_intent(const Picker& picker, const PickContext& context, Case valid);
Case pick_case(const Picker& picker, const PickContext& context);

// All that is wrong with a case of this picker beside its declared intent: shape (images that can
// be built, ids, option types and counts; rule "envelope") and broken rules, each once. For a
// refused step the rule it names must be broken and is not listed; if it is not, "not-broken" is.
// A case is in the envelope when the result is empty.
std::vector<Violation> validate_case(const Picker& picker, const Case& c);

}  // namespace difffuzz
