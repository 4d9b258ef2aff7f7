#include "campaign/execution/second_run.hpp"

#include <algorithm>
#include <ctime>
#include <utility>

#include "campaign/execution/runs.hpp"
#include "core/tools/dialect.hpp"

namespace difffuzz {
namespace {

bool ended_by_itself(const StepObservation& step) {
    const OutcomeClass outcome = outcome_class(step.outcome.ending);
    return outcome == OutcomeClass::succeeded || outcome == OutcomeClass::refused;
}

class SecondRunner {
public:
    SecondRunner(Sandbox& sandbox, StepRunner& runner, const Case& c, const Operation& operation)
        : sandbox_(sandbox), runner_(runner), c_(c), meant_(as_meant(c)), operation_(operation) {}

    // The steps that `first` has, by `tool`, as far as they go.
    Observation run(const SandboxTool& tool, const Observation& first) {
        Observation again;
        again.initial = runner_.set_up(c_, {Sandbox::again_side});
        for (std::size_t s = 0; s < first.steps.size(); ++s) {
            const Step& step = c_.steps[s];
            if (!runner_.neutral_obstacle(c_, step, {Sandbox::again_side}).empty()) {
                break;
            }
            again.steps.push_back(runner_.run(c_, step, Sandbox::again_side, tool,
                                              operation_.bytes_stable(meant_, s), true));
            StepObservation& seen = again.steps.back();
            if (!ended_by_itself(seen)) {
                break;
            }
            look(s, first.steps[s], seen);
        }
        return again;
    }

    LayerResult compare(std::size_t s, const CaseResult& result, const Observation& subject_again,
                        const Observation* reference_again, const Limits& limits,
                        const std::vector<std::string>& reference_varies) const {
        const std::vector<InspectionRequest> requests = operation_.inspections(meant_, s);
        const std::vector<std::string> may_change = operation_.may_change(meant_, s);
        const Comparison comparison{c_,
                                    s,
                                    result.subject,
                                    result.reference,
                                    requests,
                                    may_change,
                                    operation_.text_normalisers,
                                    operation_.json_normalisers,
                                    operation_.bytes_stable(meant_, s),
                                    operation_.answer_codes,
                                    limits,
                                    &subject_again,
                                    reference_again,
                                    &reference_varies};
        return layer(LayerId::determinism).compare(comparison);
    }

private:
    // Reads the contents that were read after the first run, where the files are not the same.
    void look(std::size_t s, const StepObservation& first, StepObservation& seen) {
        Looks looks(sandbox_, runner_.neutral());
        const bool same = same_bytes(first, seen);
        for (const InspectionRequest& request : operation_.inspections(meant_, s)) {
            const std::size_t place = seen.inspections.size();
            if (!depends_on_bytes_alone(request.kind)) {
                seen.inspections.push_back({request.kind, request.image, request.format,
                                            NotInspected{"not a content"}, request.snapshot});
            } else if (same && place < first.inspections.size()) {
                seen.inspections.push_back(first.inspections[place]);
            } else {
                seen.inspections.push_back(
                    looks.inspect(Sandbox::again_side, request, file_name_of(c_, request.image)));
            }
        }
    }

    Sandbox& sandbox_;
    StepRunner& runner_;
    const Case& c_;
    Case meant_;
    const Operation& operation_;
};

// Whether a divergence of determinism at `step` comes before the one that there is.
bool comes_first(const CaseResult& result, std::size_t step) {
    return !result.difference || step < result.culprit_step ||
           (step == result.culprit_step && LayerId::determinism < result.difference->symptom.layer);
}

}  // namespace

void run_again(Sandbox& sandbox, StepRunner& runner, const Case& c, const Operation& operation,
               const SandboxTool& subject, const SandboxTool& reference, const Limits& limits,
               const SecondRun& how, CaseResult& result) {
    const auto use = std::ranges::find(operation.layers, LayerId::determinism, &LayerUse::id);
    if (how.again == Again::later_second) {
        wait_for_later_second(std::time(nullptr));
    }
    SecondRunner second(sandbox, runner, c, operation);
    result.subject_again = second.run(subject, result.subject);
    result.planted |= runner.planted();
    if (use == operation.layers.end()) {
        return;  // nobody asks, but what was planted is known
    }
    const std::string name(use->name.empty() ? to_string(use->id) : use->name);
    std::erase_if(result.layers,
                  [](const LayerReport& report) { return report.id == LayerId::determinism; });
    std::optional<Observation> reference_again;
    for (std::size_t s = 0; s < result.subject_again.steps.size(); ++s) {
        const auto compare = [&] {
            return second.compare(s, result, result.subject_again,
                                  reference_again ? &*reference_again : nullptr, limits,
                                  how.reference_varies);
        };
        LayerResult verdict = compare();
        if (verdict.difference && !reference_again && &subject != &reference) {
            reference_again = second.run(reference, result.reference);
            verdict = compare();
        }
        if (verdict.difference && comes_first(result, s)) {
            result.difference = verdict.difference;
            result.difference->symptom.layer_name = name;
            result.culprit_step = s;
        }
        const bool diverged = verdict.difference.has_value();
        merge_layers(result.layers, {{LayerId::determinism, name, std::move(verdict)}});
        if (diverged) {
            break;
        }
    }
}

}  // namespace difffuzz
