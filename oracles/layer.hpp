// An oracle layer: a pure function of two observations. Starts no process, touches no file.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include <nlohmann/json.hpp>

#include "core/cases/case.hpp"
#include "core/cases/symptom.hpp"
#include "oracles/normaliser.hpp"
#include "oracles/observation.hpp"

namespace difffuzz {

// What a step of a case is compared by: the operation's declarations and both sides' observations.
struct Comparison {
    const Case& c;
    std::size_t step = 0;  // index into c.steps and both observations
    const Observation& subject;
    const Observation& reference;
    // What was looked at after this step, in the order of StepObservation::inspections.
    const std::vector<InspectionRequest>& requests;
    // Ids of images and outputs that this step may change or create; all others must stay as they
    // were.
    const std::vector<std::string>& may_change;
    const std::vector<const TextNormaliser*>& text_normalisers;
    const std::vector<const JsonNormaliser*>& json_normalisers;
    // Whether two runs of the reference give the same bytes for this step (its profile and the case
    // say so); without that, the bytes layer does not apply.
    bool bytes_stable = false;
    // Exit codes beside 0 that are an answer: see step_class().
    std::vector<int> answer_codes = {};
    // What the commands of this step were held to.
    Limits limits = {};
    // Further runs of the case in a perturbed place, of the subject and of the reference; null
    // where there was none. They may have ended before this step.
    const Observation* subject_again = nullptr;
    const Observation* reference_again = nullptr;
    // What the reference is known not to keep from run to run: names by varying_name().
    const std::vector<std::string>* reference_varies = nullptr;
};

enum class LayerVerdict { agree, diverge, inconclusive, not_applicable };
std::string_view to_string(LayerVerdict verdict);

struct Difference {
    Symptom symptom;
    Severity severity = Severity::disagreement;
    nlohmann::json details;  // typed per layer: docs/oracles.md, "Details"
};

struct LayerResult {
    LayerVerdict verdict = LayerVerdict::not_applicable;
    // A stable word group, no numbers or names: why it does not apply or cannot tell. Counted by
    // layer and reason. Empty for agree and diverge.
    std::string reason;
    std::optional<Difference> difference;  // set for diverge
    // Names of the normalisers without which two values that agree would not, once for each such
    // comparison, also where another one diverged. See oracles/needed_normalisers.hpp.
    std::vector<std::string_view> needed = {};

    static LayerResult agree(std::vector<std::string_view> needed = {});
    static LayerResult not_applicable(std::string reason);
    static LayerResult inconclusive(std::string reason);
    static LayerResult diverge(Difference difference);
};

struct Layer {
    LayerId id;
    bool gate = false;
    std::string_view purpose;  // one sentence, for the documents
    LayerResult (*compare)(const Comparison& comparison);
};

// All layers in the order of LayerId; each is one file oracles/<layer>.cpp.
const std::vector<Layer>& layers();
const Layer& layer(LayerId id);

}  // namespace difffuzz
