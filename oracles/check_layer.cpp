#include <algorithm>
#include <utility>

#include "oracles/comparing.hpp"
#include "oracles/finding_pairs.hpp"
#include "oracles/layer_functions.hpp"

namespace difffuzz {
namespace {

// Names of the counters that are not zero.
std::string dirt_of(const CheckFinding& finding) {
    std::string names;
    const auto add = [&](std::uint64_t count, const char* name) {
        if (count > 0) {
            names += (names.empty() ? "" : ",") + std::string(name);
        }
    };
    add(finding.corruptions, "corruptions");
    add(finding.leaks, "leaks");
    add(finding.check_errors, "check-errors");
    return names;
}

nlohmann::json shown(const CheckFinding& finding) {
    return {{"corruptions", finding.corruptions},
            {"leaks", finding.leaks},
            {"check_errors", finding.check_errors}};
}

bool equal(const CheckFinding& a, const CheckFinding& b) {
    return a.corruptions == b.corruptions && a.leaks == b.leaks && a.check_errors == b.check_errors;
}

// Whether the compared step wrote the image, so that it must be clean now.
bool must_be_clean(const Comparison& comparison, const Sides& sides,
                   const InspectionRequest& request) {
    const std::string& id = request.image;
    const bool valid =
        std::holds_alternative<ValidIntent>(comparison.c.steps.at(comparison.step).intent) ||
        request.despite_damage;
    const bool written = find_output(comparison.c, id) != nullptr ||
                         std::find(comparison.may_change.begin(), comparison.may_change.end(),
                                   id) != comparison.may_change.end();
    return valid && written && sides.both(OutcomeClass::succeeded);
}

LayerResult differing(const Comparison& comparison, const Sides& sides,
                      const InspectionRequest& request, const CheckFinding& subject,
                      const CheckFinding& reference) {
    const Direction direction = reference.clean() ? Direction::subject
                                : subject.clean() ? Direction::reference
                                                  : Direction::both;
    const bool as_reference = subject.clean() || equal(subject, reference);
    Difference difference =
        start_difference(comparison, sides, LayerId::check, direction,
                         as_reference ? Severity::reference : Severity::corruption);
    difference.symptom.field = dirt_of(subject.clean() ? reference : subject);
    difference.details = {{"image", request.image},
                          {"format", request.format},
                          {"subject", shown(subject)},
                          {"reference", shown(reference)}};
    return LayerResult::diverge(std::move(difference));
}

}  // namespace

LayerResult compare_check(const Comparison& comparison) {
    const auto sides = sides_of(comparison);
    if (!sides) {
        return LayerResult::not_applicable(std::string(reason::step_not_run));
    }
    if (!sides->ended_alike()) {
        return LayerResult::not_applicable(std::string(reason::classes_differ));
    }
    const bool damaged = intent_name(comparison.c) == "damaged";
    const auto compare = [&](const InspectionRequest& request, const CheckFinding& subject,
                             const CheckFinding& reference) {
        // How much is still wrong with an image that could not be repaired is up to the tool.
        if (damaged && !(request.despite_damage && sides->both(OutcomeClass::succeeded))) {
            return LayerResult::not_applicable(std::string(reason::damaged_image));
        }
        const bool dirty_alike = equal(subject, reference) && !subject.clean();
        if ((subject.clean() && reference.clean()) ||
            (dirty_alike && !must_be_clean(comparison, *sides, request))) {
            return LayerResult::agree();
        }
        return differing(comparison, *sides, request, subject, reference);
    };
    return compare_findings<CheckFinding>(comparison, *sides, LayerId::check, InspectionKind::check,
                                          MissingFiles::report, compare);
}

}  // namespace difffuzz
