#include "campaign/triage/target.hpp"

#include <algorithm>

#include "core/cases/symptom.hpp"
#include "ops/operation.hpp"
#include "pickers/step_kind.hpp"

namespace difffuzz {

Target target_of(const CaseReport& report) {
    return {report.symptom, report.severity, report.intent, report.rule, report.reference_accepted};
}

TrialResult judge_trial(const Target& target, std::size_t culprit, const CaseReport& report) {
    switch (report.terminal) {
        case Terminal::diverged:
            break;
        case Terminal::agreed:
        case Terminal::refused_by_both:
            return {TrialEnd::agreed, {}};
        case Terminal::inconclusive_external_timeout:
            return {TrialEnd::timed_out, {}};
        default:
            return {TrialEnd::other, {}};
    }
    if (!report.known.known.empty()) {
        // What is known may not stand for what is not, and is no find of its own.
        return {TrialEnd::other, {}};
    }
    if (report.symptom != target.symptom) {
        return {TrialEnd::slipped, symptom_key(symptom_from_json(report.symptom))};
    }
    const bool same = report.severity == target.severity && report.culprit_step == culprit &&
                      report.reference_accepted == target.reference_accepted;
    return {same ? TrialEnd::same : TrialEnd::other, {}};
}

bool may_stand_for(const Target& target, const Case& candidate) {
    const std::string_view intent = intent_name(candidate);
    const bool same = intent == target.intent && broken_rule(candidate) == target.rule;
    if (!same && intent != "valid") {
        return false;
    }
    const bool damaged = std::ranges::any_of(
        candidate.images, [](const ImageRecipe& image) { return !image.damage.empty(); });
    return damaged == (intent == "damaged") && validate(candidate).empty();
}

WordDomain word_domain(std::string_view operation) {
    const Operation* row = find_operation(operation);
    return [row](const Step& step, std::string_view option) -> std::span<const std::string_view> {
        if (row == nullptr) {
            return {};
        }
        std::span<const OptionSpec> options = row->picker->options;
        if (!row->picker->kinds.empty()) {
            const StepKind* kind = kind_of(row->picker->kinds, step);
            options = kind == nullptr ? std::span<const OptionSpec>{} : kind->options;
        }
        const auto spec = std::ranges::find_if(options, [&](const OptionSpec& one) {
            return one.option == option && one.kind == ValueKind::word;
        });
        return spec == options.end() ? std::span<const std::string_view>{} : spec->words;
    };
}

}  // namespace difffuzz
