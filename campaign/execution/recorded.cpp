#include "campaign/execution/recorded.hpp"

#include <algorithm>
#include <array>

#include "core/cases/base64.hpp"
#include "core/cases/json_fields.hpp"
#include "images/format.hpp"
#include "oracles/comparing.hpp"
#include "oracles/stream_text.hpp"

namespace difffuzz {
namespace {

using nlohmann::json;

constexpr std::size_t max_stream_bytes = std::size_t{64} << 10;
constexpr std::size_t max_steps = 32;

constexpr std::array layers_of_streams{
    LayerId::setup, LayerId::spawn,  LayerId::timeout, LayerId::crash, LayerId::exit,
    LayerId::code,  LayerId::header, LayerId::error,   LayerId::json,  LayerId::text};

json stream_json(std::string text, const Operation& operation) {
    text = without_harness(std::move(text));
    for (const TextNormaliser* normaliser : operation.text_normalisers) {
        normaliser->apply(text);
    }
    const bool plain = std::ranges::all_of(
        text, [](char byte) { return byte == '\n' || (byte >= 0x20 && byte < 0x7f); });
    return plain ? json(text) : json{{"base64", base64_encode(text)}};
}

Stream stream_from(const json& value, const std::string& pointer) {
    Stream stream;
    if (value.is_string()) {
        stream.head = checked_text(value, pointer, max_stream_bytes);
    } else {
        ObjectFields fields(value, pointer);
        const auto bytes = base64_decode(fields.text("base64", 2 * max_stream_bytes));
        fields.finish();
        if (!bytes) {
            throw RecipeError(fields.at("base64"), "is not base64");
        }
        stream.head = *bytes;
    }
    stream.observed_bytes = stream.head.size();
    return stream;
}

void conclude(CaseResult& result) {
    const auto ended = [&](OutcomeClass wanted) {
        return std::ranges::any_of(result.subject.steps, [&](const StepObservation& step) {
            return outcome_class(step.outcome.ending) == wanted;
        });
    };
    if (result.difference) {
        result.terminal = Terminal::diverged;
    } else if (ended(OutcomeClass::timed_out)) {
        result.terminal = Terminal::inconclusive_external_timeout;
    } else if (ended(OutcomeClass::limited)) {
        result.terminal = Terminal::inconclusive_limited;
    } else if (ended(OutcomeClass::not_started)) {
        result.terminal = Terminal::unavailable;
    } else {
        result.terminal = result.subject_accepted || result.reference_accepted
                              ? Terminal::agreed
                              : Terminal::refused_by_both;
    }
}

}  // namespace

std::span<const LayerId> recorded_layers() { return layers_of_streams; }

std::string needs_reference(const Case& c) {
    for (const ImageRecipe& image : c.images) {
        const Format* format = find_format(image.format);
        if (format == nullptr || !format->built_in_process) {
            return "only a reference builds images of " + image.format;
        }
    }
    return std::ranges::any_of(c.steps,
                               [](const Step& step) { return step.actor == Actor::neutral; })
               ? "it has a neutral step"
               : "";
}

json recorded_outcomes(const Case& c, const Observation& side) {
    const Operation& operation = *find_operation(c.operation);
    json outcomes = json::array();
    for (const StepObservation& step : side.steps) {
        const Outcome& outcome = step.outcome;
        const auto* exited = std::get_if<Exited>(&outcome.ending);
        if (exited == nullptr || outcome.out.cut() || outcome.err.cut() ||
            stream_text(outcome.out).size() > max_stream_bytes ||
            stream_text(outcome.err).size() > max_stream_bytes) {
            return nullptr;
        }
        outcomes.push_back({{"code", exited->code},
                            {"stdout", stream_json(stream_text(outcome.out), operation)},
                            {"stderr", stream_json(stream_text(outcome.err), operation)}});
    }
    return outcomes;
}

Observation observation_from_recorded(const json& outcomes, const std::string& pointer) {
    if (!outcomes.is_array() || outcomes.empty() || outcomes.size() > max_steps) {
        throw RecipeError(pointer,
                          "must be an array of 1 to " + std::to_string(max_steps) + " outcomes");
    }
    Observation side;
    for (const json& value : outcomes) {
        ObjectFields fields(value, pointer + "/" + std::to_string(side.steps.size()));
        StepObservation step;
        step.argv = {"qemu-img"};
        step.outcome.ending = Exited{static_cast<int>(fields.number("code", 0, 255))};
        step.outcome.out = stream_from(fields.required("stdout"), fields.at("stdout"));
        step.outcome.err = stream_from(fields.required("stderr"), fields.at("stderr"));
        fields.finish();
        side.steps.push_back(std::move(step));
    }
    return side;
}

CaseResult compare_with_recorded(const Case& c, const Observation& subject,
                                 const Observation& recorded, const Limits& limits) {
    Operation operation = *find_operation(c.operation);
    std::erase_if(operation.layers, [](const LayerUse& use) {
        return std::ranges::find(layers_of_streams, use.id) == layers_of_streams.end();
    });
    CaseResult result;
    result.subject = subject;
    result.reference = recorded;
    result.subject_accepted = result.reference_accepted = true;
    const std::vector<InspectionRequest> no_requests;
    const std::vector<std::string> may_change;
    const std::size_t steps = std::min(subject.steps.size(), recorded.steps.size());
    for (std::size_t s = 0; s < steps && !result.difference; ++s) {
        const Comparison comparison{c,
                                    s,
                                    result.subject,
                                    result.reference,
                                    no_requests,
                                    may_change,
                                    operation.text_normalisers,
                                    operation.json_normalisers,
                                    false,
                                    operation.answer_codes,
                                    limits};
        for (LayerReport& report : compare_step(operation, comparison)) {
            if (report.result.difference && !result.difference) {
                result.difference = report.result.difference;
                result.culprit_step = s;
            }
            result.layers.push_back(std::move(report));
        }
        result.subject_accepted &=
            step_class(subject.steps[s], operation.answer_codes) == OutcomeClass::succeeded;
        result.reference_accepted &=
            step_class(recorded.steps[s], operation.answer_codes) == OutcomeClass::succeeded;
    }
    conclude(result);
    return result;
}

}  // namespace difffuzz
