#include "pickers/picker.hpp"

#include <algorithm>
#include <set>

#include "images/format.hpp"
#include "pickers/common_options.hpp"
#include "pickers/damage.hpp"
#include "pickers/keyed_images.hpp"
#include "pickers/step_kind.hpp"

namespace difffuzz {
namespace {

bool kind_fits(const std::optional<Value>& value, const OptionSpec& spec) {
    if (!value) {
        return spec.kind == ValueKind::none;
    }
    switch (spec.kind) {
        case ValueKind::none:
            return false;
        case ValueKind::size:
            return std::holds_alternative<SizeValue>(*value);
        case ValueKind::number:
            return std::holds_alternative<NumberValue>(*value);
        case ValueKind::image:
            return std::holds_alternative<ImageValue>(*value);
        case ValueKind::options:
            return std::holds_alternative<OptionList>(*value);
        case ValueKind::word: {
            const auto* word = std::get_if<WordValue>(&*value);
            return word != nullptr &&
                   (spec.words.empty() || std::find(spec.words.begin(), spec.words.end(),
                                                    word->text) != spec.words.end());
        }
        case ValueKind::any:
            return true;
    }
    return false;
}

void check_arguments(std::span<const OptionSpec> options, const Step& step, bool refused,
                     std::vector<Violation>& violations) {
    for (const Argument& argument : step.arguments) {
        if (is_common_option(step, argument)) {
            continue;
        }
        const auto spec = std::find_if(options.begin(), options.end(), [&](const OptionSpec& s) {
            return s.option == argument.option && kind_fits(argument.value, s);
        });
        const bool known = std::any_of(options.begin(), options.end(), [&](const OptionSpec& s) {
            return s.option == argument.option;
        });
        if (!known) {
            violations.push_back({"envelope", "option '" + argument.option + "' is not known"});
            continue;
        }
        // A refused step may carry one value that is not of its option's type: a literal.
        const bool literal =
            argument.value && std::holds_alternative<LiteralValue>(*argument.value);
        if (spec == options.end() && !(refused && literal)) {
            violations.push_back(
                {"envelope", "option '" + argument.option + "' has a value of another type"});
        }
    }
    if (!refused && has_option(step, image_options_option) && has_option(step, "-f")) {
        violations.push_back({"envelope", "--image-opts takes the place of -f"});
    }
    for (const OptionSpec& spec : options) {
        // Positional arguments may be of several types, each with a count of its own.
        const auto count = std::count_if(
            step.arguments.begin(), step.arguments.end(), [&](const Argument& argument) {
                return argument.option == spec.option &&
                       (!spec.option.empty() || kind_fits(argument.value, spec));
            });
        if (!refused && (count < static_cast<std::ptrdiff_t>(spec.min_count) ||
                         count > static_cast<std::ptrdiff_t>(spec.max_count))) {
            violations.push_back({"envelope", "option '" + std::string(spec.option) +
                                                  "' is given " + std::to_string(count) +
                                                  " times"});
        }
    }
}

// Every step is of a kind that the operation knows, with arguments of its types; all but the last
// do what they are meant to.
void check_steps(const Picker& picker, const Case& c, std::vector<Violation>& violations) {
    for (std::size_t s = 0; s < c.steps.size(); ++s) {
        const Step& step = c.steps[s];
        const bool refused = std::holds_alternative<RefusedIntent>(step.intent);
        if (picker.kinds.empty()) {
            if (step.operation != picker.operation || step.command != picker.command) {
                violations.push_back({"envelope", "step is not of this operation"});
            }
            // Neutral steps too: what the reference runs for both sides is no less bounded.
            check_arguments(picker.options, step, refused, violations);
            continue;
        }
        const StepKind* kind = kind_of(picker.kinds, step);
        if (kind == nullptr) {
            violations.push_back({"envelope", "step is of no kind that this operation has"});
            continue;
        }
        if (refused && s + 1 < c.steps.size()) {
            violations.push_back({"envelope", "only the last step may be meant to be refused"});
        }
        check_arguments(kind->options, step, refused, violations);
    }
    if (picker.kinds.empty() || !violations.empty()) {
        return;
    }
    CaseState state = initial_state(c);
    for (std::size_t s = 0; s < c.steps.size(); ++s) {
        const std::string_view rule =
            kind_of(picker.kinds, c.steps[s])->apply(c, c.steps[s], state);
        // The picker's rules look at the last step, if it is the tools'.
        const bool looked_at = s + 1 == c.steps.size() && c.steps[s].actor == Actor::tool;
        if (!rule.empty() && !looked_at) {
            violations.push_back(
                {std::string(rule), "step " + std::to_string(s) + " breaks this rule"});
            return;
        }
    }
}

void check_images(const Case& c, std::vector<Violation>& violations) {
    std::set<std::string> ids;
    for (const ImageRecipe& image : c.images) {
        const Format* format = find_format(image.format);
        if (format == nullptr) {
            violations.push_back({"envelope", "image format '" + image.format + "' is not known"});
            continue;
        }
        if (image.backing && !ids.contains(*image.backing)) {
            violations.push_back(
                {"envelope", "backing image '" + *image.backing + "' is not an earlier image"});
        } else if (const std::string wrong = broken_recipe(image); !wrong.empty()) {
            violations.push_back({"envelope", "image '" + image.id + "': " + wrong});
        }
        if (!ids.insert(image.id).second) {
            violations.push_back({"envelope", "image id '" + image.id + "' is used twice"});
        }
    }
    for (const OutputImage& output : c.outputs) {
        if (!ids.insert(output.id).second) {
            violations.push_back({"envelope", "output id '" + output.id + "' is used twice"});
        }
    }
}

unsigned damaged_share(const Picker& picker, const Plan& plan) {
    return plan.damaged_percent == 0 ? 0 : std::max(plan.damaged_percent, picker.damaged_percent);
}

}  // namespace

Case pick_valid_case(const Picker& picker, const PickContext& context) {
    Case c = picker.draw_valid(context);
    lock_an_image(c, picker, context);
    add_common_options(c, picker, context);
    return c;
}

Case pick_case(const Picker& picker, const PickContext& context) {
    return with_intent(picker, context, pick_valid_case(picker, context));
}

Case with_intent(const Picker& picker, const PickContext& context, Case c) {
    const auto damage = picker.damage == nullptr ? damage_case : picker.damage;
    if (context.draws.chance("intent.damaged", damaged_share(picker, context.plan)) &&
        damage(c, context.draws.scope("damage"))) {
        return c;
    }
    if (!context.draws.chance("intent.refused", context.plan.refused_percent)) {
        return c;
    }
    std::vector<std::string_view> names;
    for (const Rule& rule : picker.rules) {
        if (rule.enforced && (rule.applicable == nullptr || rule.applicable(c))) {
            names.push_back(rule.name);
        }
    }
    if (names.empty()) {
        return c;
    }
    const std::string_view chosen =
        context.draws.pick("intent.rule", std::span<const std::string_view>(names));
    const auto rule = std::find_if(picker.rules.begin(), picker.rules.end(),
                                   [&](const Rule& r) { return r.name == chosen; });
    Case refused = c;
    rule->break_it(refused, context.draws.scope("intent"));
    refused.steps.back().intent = RefusedIntent{std::string(chosen)};
    // What breaks one rule may break another, or the envelope, by the way, where the case is an odd
    // one.
    return validate_case(picker, refused).empty() ? refused : c;
}

std::vector<Violation> validate_case(const Picker& picker, const Case& c) {
    std::vector<Violation> violations;
    if (c.operation != picker.operation) {
        violations.push_back({"envelope", "case is not of this operation"});
    }
    check_images(c, violations);
    std::string_view expected = broken_rule(c);
    if (violations.empty()) {
        check_steps(picker, c, violations);
        if (const std::string id = image_without_key(c); !id.empty()) {
            violations.push_back({"envelope", "image '" + id +
                                                  "' is opened with --object and "
                                                  "--image-opts only"});
        }
    }
    if (!violations.empty()) {
        // The rules may rely on the shape.
        return violations;
    }
    bool expected_broken = expected.empty();
    for (const Rule& rule : picker.rules) {
        if (!rule.broken(c)) {
            continue;
        }
        if (rule.enforced && rule.name == expected) {
            expected_broken = true;
        } else {
            violations.push_back({std::string(rule.name), std::string(rule.why)});
        }
    }
    if (!expected_broken) {
        violations.push_back({"not-broken", "the case is meant to break the rule '" +
                                                std::string(expected) + "' and does not"});
    }
    return violations;
}

}  // namespace difffuzz
