#include "oracles/resource_limits.hpp"

#include <algorithm>

namespace difffuzz {
namespace {

constexpr std::uint64_t share_of_limit = 10;

bool within_a_tenth(std::uint64_t used, std::uint64_t limit) {
    return used <= limit / share_of_limit;
}

// Where 0 means that nobody measured.
bool known_within_a_tenth(std::uint64_t used, std::uint64_t limit) {
    return used != 0 && within_a_tenth(used, limit);
}

bool stayed_far_below(const Outcome& outcome, LimitKind which, const Limits& limits) {
    const Usage& usage = outcome.usage;
    switch (which) {
        case LimitKind::memory:
            return known_within_a_tenth(usage.peak_memory_bytes, limits.memory_bytes);
        case LimitKind::disk:
            return known_within_a_tenth(usage.disk_bytes, limits.disk_bytes);
        case LimitKind::output:
            return within_a_tenth(std::max(outcome.out.observed_bytes, outcome.err.observed_bytes),
                                  limits.output_bytes);
        case LimitKind::processes:
            return usage.tasks && within_a_tenth(*usage.tasks, limits.processes);
        case LimitKind::file_size:
            break;  // scaled to the case, and a matter of how sparse a file is written
    }
    return false;
}

}  // namespace

std::optional<LimitKind> limit_of_subject_alone(const Comparison& comparison, const Sides& sides) {
    const auto* limited = std::get_if<Limited>(&sides.subject.outcome.ending);
    const bool reference_ended = sides.reference_class == OutcomeClass::succeeded ||
                                 sides.reference_class == OutcomeClass::refused;
    if (limited == nullptr || !reference_ended ||
        !stayed_far_below(sides.reference.outcome, limited->which, comparison.limits)) {
        return std::nullopt;
    }
    return limited->which;
}

}  // namespace difffuzz
