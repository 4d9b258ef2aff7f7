#include "oracles/finding_pairs.hpp"

#include <utility>

#include "oracles/shown_text.hpp"

namespace difffuzz {
namespace {

struct State {
    bool missing = false;
    const Unreadable* unreadable = nullptr;
    bool cannot_tell = false;
    bool escapes = false;
};

State state_of(const Finding& finding) {
    return {std::holds_alternative<Missing>(finding), std::get_if<Unreadable>(&finding),
            std::holds_alternative<NotInspected>(finding),
            std::holds_alternative<Escapes>(finding)};
}

Difference deviation(const Comparison& comparison, const Sides& sides, LayerId layer,
                     const InspectionRequest& request, Direction direction, Severity severity,
                     const std::string& field) {
    Difference difference = start_difference(comparison, sides, layer, direction, severity);
    difference.symptom.field = field;
    difference.details = {{"image", request.image}, {"format", request.format}, {"kind", field}};
    return difference;
}

LayerResult unreadable_on_one(const Comparison& comparison, const Sides& sides, LayerId layer,
                              const InspectionRequest& request, const State& subject,
                              const State& reference) {
    const bool subject_deviates = subject.unreadable != nullptr;
    Difference difference =
        deviation(comparison, sides, layer, request,
                  subject_deviates ? Direction::subject : Direction::reference,
                  subject_deviates ? Severity::corruption : Severity::reference, "unreadable");
    const std::string message =
        without_harness((subject_deviates ? subject : reference).unreadable->message);
    (subject_deviates ? difference.symptom.subject_message : difference.symptom.reference_message) =
        template_of(comparison, message);
    difference.details["message"] = shown_text(message, max_shown_message);
    return LayerResult::diverge(std::move(difference));
}

LayerResult missing_on_both(const Comparison& comparison, const Sides& sides, LayerId layer,
                            const InspectionRequest& request) {
    if (!request.expected || !sides.both(OutcomeClass::succeeded)) {
        return LayerResult::not_applicable(std::string(reason::missing_on_both));
    }
    return LayerResult::diverge(deviation(comparison, sides, layer, request, Direction::both,
                                          Severity::reference, "missing"));
}

int weight(LayerVerdict verdict) {
    switch (verdict) {
        case LayerVerdict::diverge:
            return 3;
        case LayerVerdict::inconclusive:
            return 2;
        case LayerVerdict::agree:
            return 1;
        case LayerVerdict::not_applicable:
            break;
    }
    return 0;
}

}  // namespace

std::optional<LayerResult> settle(const Comparison& comparison, const Sides& sides, LayerId layer,
                                  const InspectionRequest& request, const Finding& subject,
                                  const Finding& reference, MissingFiles missing) {
    const State left = state_of(subject);
    const State right = state_of(reference);
    if (left.cannot_tell || right.cannot_tell) {
        return LayerResult::inconclusive(std::string(reason::not_inspected));
    }
    if (left.escapes || right.escapes) {
        return LayerResult::inconclusive(std::string(reason::escapes));
    }
    if (left.unreadable != nullptr && right.unreadable != nullptr &&
        intent_name(comparison.c) == "damaged") {
        return LayerResult::not_applicable(std::string(reason::damaged_image));
    }
    if (left.unreadable != nullptr && right.unreadable != nullptr) {
        return LayerResult::inconclusive(std::string(reason::unreadable_on_both));
    }
    if (left.unreadable != nullptr || right.unreadable != nullptr) {
        return unreadable_on_one(comparison, sides, layer, request, left, right);
    }
    if (left.missing && right.missing) {
        return missing_on_both(comparison, sides, layer, request);
    }
    if (left.missing || right.missing) {
        if (missing == MissingFiles::leave) {
            return LayerResult::not_applicable(std::string(reason::missing_on_one));
        }
        return LayerResult::diverge(
            deviation(comparison, sides, layer, request,
                      left.missing ? Direction::subject : Direction::reference,
                      Severity::disagreement, "missing"));
    }
    return std::nullopt;
}

bool is_defined(const Comparison& comparison, const Sides& sides,
                const InspectionRequest& request) {
    return sides.both(OutcomeClass::succeeded) ||
           find_image(comparison.c, request.image) != nullptr;
}

bool Collected::add(LayerResult result) {
    needed_.insert(needed_.end(), result.needed.begin(), result.needed.end());
    if (!kept_ || weight(result.verdict) > weight(kept_->verdict)) {
        kept_ = std::move(result);
    }
    return kept_->verdict == LayerVerdict::diverge;
}

LayerResult Collected::result() const {
    LayerResult result =
        kept_ ? *kept_ : LayerResult::not_applicable(std::string(reason::nothing_requested));
    result.needed = needed_;
    return result;
}

}  // namespace difffuzz
