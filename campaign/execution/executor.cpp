#include "campaign/execution/executor.hpp"

#include <algorithm>

#include "campaign/execution/cross_reading.hpp"
#include "campaign/execution/inspect.hpp"
#include "campaign/execution/runs.hpp"
#include "campaign/execution/step_run.hpp"
#include "campaign/execution/workspace.hpp"
#include "core/cases/json_fields.hpp"
#include "core/tools/dialect.hpp"
#include "images/image_error.hpp"

namespace difffuzz {
namespace {

const std::vector<int> sides{0, 1};  // subject, reference

// Layers that look at what came out, as opposed to how it ended.
bool is_result_layer(LayerId id) {
    switch (id) {
        case LayerId::header:
        case LayerId::error:
        case LayerId::json:
        case LayerId::text:
        case LayerId::content:
        case LayerId::check:
        case LayerId::bytes:
        case LayerId::relations:
            return true;
        default:
            return false;
    }
}

bool timed_out(const StepObservation& step) {
    return outcome_class(step.outcome.ending) == OutcomeClass::timed_out;
}

bool has_class(const Observation& observation, OutcomeClass wanted) {
    return std::any_of(
        observation.steps.begin(), observation.steps.end(),
        [&](const StepObservation& step) { return outcome_class(step.outcome.ending) == wanted; });
}

std::vector<OutcomeClass> classes(const Observation& observation) {
    std::vector<OutcomeClass> result;
    for (const StepObservation& step : observation.steps) {
        result.push_back(outcome_class(step.outcome.ending));
    }
    return result;
}

// What the gates and layers say together.
void conclude(CaseResult& result) {
    for (const LayerReport& report : result.layers) {
        if (is_result_layer(report.id) && (report.result.verdict == LayerVerdict::agree ||
                                           report.result.verdict == LayerVerdict::diverge)) {
            result.compared = true;
        }
    }
    if (result.difference) {
        result.terminal = Terminal::diverged;
        return;
    }
    for (const Observation* side : {&result.subject, &result.reference}) {
        if (has_class(*side, OutcomeClass::timed_out)) {
            result.terminal = Terminal::inconclusive_external_timeout;
            return;
        }
    }
    for (const Observation* side : {&result.subject, &result.reference}) {
        if (has_class(*side, OutcomeClass::limited)) {
            result.terminal = Terminal::inconclusive_limited;
            result.reason = "a limit ended a tool";
            return;
        }
        if (has_class(*side, OutcomeClass::not_started)) {
            result.terminal = Terminal::unavailable;
            result.reason = "a tool did not start";
            return;
        }
    }
    for (const LayerReport& report : result.layers) {
        if (report.result.verdict == LayerVerdict::inconclusive) {
            result.terminal = Terminal::harness_inspection;
            result.reason = report.name + ": " + report.result.reason;
            return;
        }
    }
    result.terminal = result.subject_accepted || result.reference_accepted
                          ? Terminal::agreed
                          : Terminal::refused_by_both;
}

// Both sides came to an end alike, in all that comes before the layer of the second run.
bool may_run_again(const CaseResult& result) {
    return result.terminal == Terminal::agreed || result.terminal == Terminal::refused_by_both ||
           (result.terminal == Terminal::diverged &&
            LayerId::determinism < result.difference->symptom.layer);
}

}  // namespace

std::string_view to_string(Terminal terminal) {
    switch (terminal) {
        case Terminal::agreed:
            return "agreed";
        case Terminal::diverged:
            return "diverged";
        case Terminal::refused_by_both:
            return "refused_by_both";
        case Terminal::inconclusive_external_timeout:
            return "inconclusive_external_timeout";
        case Terminal::inconclusive_limited:
            return "inconclusive_limited";
        case Terminal::harness_fixture:
            return "harness_fixture";
        case Terminal::harness_inspection:
            return "harness_inspection";
        case Terminal::exhausted:
            return "exhausted";
        case Terminal::unavailable:
            return "unavailable";
        case Terminal::harness_killed:
            return "harness_killed";
        case Terminal::outside_shard:
            return "outside_shard";
        case Terminal::untested:
            return "untested";
    }
    return "untested";
}

Terminal parse_terminal(std::string_view name) {
    for (int i = 0; i <= static_cast<int>(Terminal::untested); ++i) {
        if (to_string(static_cast<Terminal>(i)) == name) {
            return static_cast<Terminal>(i);
        }
    }
    throw RecipeError("/terminal", "is no terminal outcome");
}

Limits scaled_limits(const Limits& base, const Case& c) {
    // Sizes above this are meant to be refused, not written.
    constexpr std::uint64_t largest = std::uint64_t{1} << 43;
    std::uint64_t size = 0;
    for (const ImageRecipe& image : c.images) {
        size += std::min(image.size, largest);
    }
    const auto ask = [&](const SizeValue& asked) {
        if (asked.bytes <= largest) {
            size = std::max(size, asked.bytes);
        }
    };
    for (const Step& step : c.steps) {
        for (const Argument& argument : step.arguments) {
            if (!argument.value) {
                continue;
            }
            if (const auto* asked = std::get_if<SizeValue>(&*argument.value)) {
                ask(*asked);
            } else if (const auto* list = std::get_if<OptionList>(&*argument.value)) {
                for (const FormatOption& option : list->options) {
                    if (const auto* value = std::get_if<SizeValue>(&option.value)) {
                        ask(*value);
                    }
                }
            }
        }
    }
    Limits limits = base;
    limits.file_bytes = (std::uint64_t{64} << 20) + 4 * size;
    return limits;
}

Executor::Executor(Sandbox& sandbox, const Limits& limits) : sandbox_(sandbox), limits_(limits) {}

CaseResult Executor::run(const Case& c, const RolePair& roles, std::optional<LayerId> without,
                         const SecondRun& second) {
    Operation operation = *find_operation(c.operation);
    std::erase_if(operation.layers, [&](const LayerUse& use) { return use.id == without; });
    const Limits limits = scaled_limits(limits_, c);
    CaseResult result = attempt(c, operation, roles, limits);
    // qemu-img refuses in its own words when it meets a limit of ours: a refusal of what no rule
    // forbids counts only if it stays with the limit out of the way.
    const bool may_be_limit =
        intent_name(c) != "refused" &&
        ((!result.subject_accepted && has_class(result.subject, OutcomeClass::refused)) ||
         (!result.reference_accepted && has_class(result.reference, OutcomeClass::refused)));
    if (may_be_limit) {
        Limits raised = limits;
        raised.file_bytes *= 10;
        const CaseResult again = attempt(c, operation, roles, raised);
        if (classes(again.subject) != classes(result.subject) ||
            classes(again.reference) != classes(result.reference)) {
            result.difference.reset();
            result.terminal = Terminal::inconclusive_limited;
            result.reason = "a refusal that goes away with ten times the file size";
        }
    }
    if (second.again != Again::no && may_run_again(result)) {
        repeat(c, operation, roles, limits, second, result);
    }
    return result;
}

void Executor::repeat(const Case& c, const Operation& operation, const RolePair& roles,
                      const Limits& limits, const SecondRun& second, CaseResult& result) {
    StepRunner runner(sandbox_, hashes_, limits, roles.fault);
    try {
        run_again(sandbox_, runner, c, operation, tool_named(sandbox_, roles.subject),
                  tool_named(sandbox_, roles.reference), limits, second, result);
    } catch (const ImageError& error) {
        result.difference.reset();
        result.terminal = Terminal::harness_fixture;
        result.reason = error.what();
        return;
    }
    conclude(result);
}

CaseResult Executor::attempt(const Case& c, const Operation& operation, const RolePair& roles,
                             const Limits& limits) {
    CaseResult result;
    StepRunner runner(sandbox_, hashes_, limits, roles.fault);
    const NeutralTool& neutral = runner.neutral();
    try {
        sandbox_.reset(Sandbox::build_side);
        SandboxNeutralTools builder(sandbox_, neutral);
        build_images(c, sandbox_.directory(Sandbox::build_side), builder);
        for (const ImageRecipe& image : c.images) {
            if (!image.damage.empty() && find_escape(sandbox_.directory(Sandbox::build_side),
                                                     file_name(image.id, image.format))) {
                throw ImageError("a damaged image refers outside of the workspace");
            }
        }
        hashes_.clear();
        result.subject.initial = runner.set_up(c, sides);
        result.reference.initial = result.subject.initial;
    } catch (const std::exception& error) {
        result.terminal = Terminal::harness_fixture;
        result.reason = error.what();
        return result;
    }
    const Case meant = as_meant(c);
    Observation* const observations[] = {&result.subject, &result.reference};
    const SandboxTool* const tools[] = {&tool_named(sandbox_, roles.subject),
                                        &tool_named(sandbox_, roles.reference)};
    result.reference_accepted = true;
    result.subject_accepted = true;
    for (std::size_t s = 0; s < c.steps.size() && !result.difference; ++s) {
        const Step& step = c.steps[s];
        const bool bytes_stable = operation.bytes_stable(meant, s);
        if (const std::string reason = runner.neutral_obstacle(c, step, sides); !reason.empty()) {
            result.terminal = Terminal::harness_inspection;
            result.reason = reason;
            return result;
        }
        for (const int side : sides) {
            observations[side]->steps.push_back(
                runner.run(c, step, side, *tools[side], bytes_stable, false));
        }
        result.planted = runner.planted();
        StepObservation& subject = result.subject.steps.back();
        StepObservation& reference = result.reference.steps.back();
        result.subject_timed_out |= timed_out(subject);
        result.reference_timed_out |= timed_out(reference);
        std::vector<InspectionRequest> requests = operation.inspections(meant, s);
        if (intent_name(c) == "damaged") {
            // The model speaks of sound images.
            for (InspectionRequest& request : requests) {
                if (!request.despite_damage) {
                    request.expected.reset();
                    request.expected_if_refused.reset();
                }
            }
        }
        Looks looks(sandbox_, neutral);
        const bool same = same_bytes(subject, reference);
        for (const InspectionRequest& request : requests) {
            const std::string name = file_name_of(c, request.image);
            subject.inspections.push_back(looks.inspect(0, request, name));
            reference.inspections.push_back(same && depends_on_bytes_alone(request.kind)
                                                ? subject.inspections.back()
                                                : looks.inspect(1, request, name));
            auto& ours = subject.inspections.back();
            auto& theirs = reference.inspections.back();
            const auto* a = std::get_if<ContentFinding>(&ours.finding);
            const auto* b = std::get_if<ContentFinding>(&theirs.finding);
            if (a != nullptr && b != nullptr) {
                if (const auto sector = first_difference(a->content, b->content)) {
                    looks.sample_sector(0, ours, name, *sector);
                    looks.sample_sector(1, theirs, name, *sector);
                }
            }
        }
        const std::vector<std::string> may_change = operation.may_change(meant, s);
        const Comparison comparison{c,
                                    s,
                                    result.subject,
                                    result.reference,
                                    requests,
                                    may_change,
                                    operation.text_normalisers,
                                    operation.json_normalisers,
                                    bytes_stable,
                                    operation.answer_codes,
                                    limits};
        std::vector<LayerReport> reports = compare_step(operation, comparison);
        for (const LayerReport& report : reports) {
            if (report.result.difference) {
                result.difference = report.result.difference;
                result.culprit_step = s;
                break;
            }
        }
        const OutcomeClass reference_class = step_class(reference, operation.answer_codes);
        result.reference_accepted &= reference_class == OutcomeClass::succeeded;
        result.subject_accepted &=
            step_class(subject, operation.answer_codes) == OutcomeClass::succeeded;
        merge_layers(result.layers, std::move(reports));
        if (reference_class != OutcomeClass::succeeded &&
            reference_class != OutcomeClass::refused) {
            break;
        }
    }
    conclude(result);
    return result;
}

std::vector<CrossReading> Executor::read_across(const Case& c, const RolePair& roles,
                                                const CaseResult& result) {
    return difffuzz::read_across(
        c, result,
        {sandbox_, tool_named(sandbox_, roles.subject), tool_named(sandbox_, roles.reference),
         roles.fault, scaled_limits(limits_, c)});
}

std::map<std::string, std::string> Executor::image_digests(const Case& c) {
    std::map<std::string, std::string> digests;
    for (const ImageRecipe& image : c.images) {
        const std::string name = file_name(image.id, image.format);
        if (find_format(image.format)->built_in_process) {
            digests[image.id] = digest_file(sandbox_.directory(Sandbox::build_side), name);
            continue;
        }
        const NeutralTool neutral{tool_named(sandbox_, "reference"), scaled_limits(limits_, c)};
        const Inspection look =
            Looks(sandbox_, neutral)
                .inspect(Sandbox::build_side,
                         {InspectionKind::content, image.id, image.format, std::nullopt}, name);
        if (const auto* found = std::get_if<ContentFinding>(&look.finding)) {
            digests[image.id] = digest_content(found->content);
        }
    }
    return digests;
}

}  // namespace difffuzz
