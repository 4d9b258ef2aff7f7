// What no layer answers for: a gate says that there is nothing to compare.
#include "apps/canary/planting.hpp"

namespace difffuzz::canary {
namespace {

using Planted = std::optional<Answer>;

Planted hang(const Call&) {
    Answer answer;
    answer.hangs = true;
    return answer;
}

// More than a command of the gates may print.
Planted flood(const Call&) {
    constexpr std::size_t above_limit = std::size_t{4} << 20;
    Answer answer;
    answer.out = std::string(above_limit, '.');
    return answer;
}

}  // namespace

const Faults& gate_faults() {
    using enum LayerId;
    static const Faults table{
        {"hang", "info", timeout, Seen::by_its_layer_alone, Roles::subject, "a command never ends",
         hang},
        {"flood", "info", timeout, Seen::by_its_layer_alone, Roles::both,
         "both sides print more than they may", flood},
    };
    return table;
}

}  // namespace difffuzz::canary
