#include <limits>
#include <optional>
#include <utility>

#include "oracles/comparing.hpp"
#include "oracles/layer_functions.hpp"
#include "oracles/resource_limits.hpp"

namespace difffuzz {
namespace {

// A subject may take this many times what the reference takes, and a fixed part more, since small
// figures say more about the language that a tool is written in than about what it does.
constexpr std::uint64_t factor = 4;
constexpr std::uint64_t more_bytes = std::uint64_t{64} << 20;
constexpr std::uint64_t more_tasks = 64;

struct Measure {
    const char* name;  // the symptom's field
    std::optional<std::uint64_t> (*used)(const Usage& usage);
    std::uint64_t more;
};

constexpr Measure measures[] = {
    {"memory",
     [](const Usage& usage) {
         // Every process has a resident set: none means that nobody looked.
         return usage.peak_memory_bytes == 0 ? std::nullopt
                                             : std::optional(usage.peak_memory_bytes);
     },
     more_bytes},
    {"written", [](const Usage& usage) { return usage.written_bytes; }, more_bytes},
    {"processes", [](const Usage& usage) { return usage.tasks; }, more_tasks},
};

// The largest figure that is no divergence.
std::uint64_t allowed(std::uint64_t reference, std::uint64_t more) {
    constexpr std::uint64_t most = std::numeric_limits<std::uint64_t>::max();
    return reference > (most - more) / factor ? most : factor * reference + more;
}

// The figures themselves differ from run to run: they stand in raw/ alone.
LayerResult excess(const Comparison& comparison, const Sides& sides, const std::string& what) {
    Difference difference = start_difference(comparison, sides, LayerId::resource,
                                             Direction::subject, Severity::disagreement);
    difference.symptom.field = what;
    difference.details = {{"kind", what}};
    return LayerResult::diverge(std::move(difference));
}

}  // namespace

LayerResult compare_resource(const Comparison& comparison) {
    const auto sides = sides_of(comparison);
    if (!sides) {
        return LayerResult::not_applicable(std::string(reason::step_not_run));
    }
    if (const auto limit = limit_of_subject_alone(comparison, *sides)) {
        return excess(comparison, *sides, "limited(" + std::string(to_string(*limit)) + ")");
    }
    if (!sides->ended_alike()) {
        return LayerResult::not_applicable(std::string(reason::classes_differ));
    }
    bool measured = false;
    for (const Measure& measure : measures) {
        const auto subject = measure.used(sides->subject.outcome.usage);
        const auto reference = measure.used(sides->reference.outcome.usage);
        if (!subject || !reference) {
            continue;
        }
        measured = true;
        if (*subject > allowed(*reference, measure.more)) {
            return excess(comparison, *sides, measure.name);
        }
    }
    return measured ? LayerResult::agree()
                    : LayerResult::not_applicable(std::string(reason::nothing_measured));
}

}  // namespace difffuzz
