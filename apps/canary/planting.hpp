// How faults are made of what the real tool does.
#pragma once

#include <concepts>

#include "apps/canary/fault.hpp"

namespace difffuzz::canary {

// The real tool's answer after `change` has spoilt what it did or said. `change` says whether it
// could.
template <std::invocable<Answer&> Change>
Answer spoilt(const Call& call, const Change& change) {
    Answer answer = call.run();
    answer.planted = change(answer);
    return answer;
}

// The same, of a command that succeeded.
template <std::invocable<Answer&> Change>
Answer spoilt_success(const Call& call, const Change& change) {
    return spoilt(call, [&](Answer& answer) {
        return answer.code == 0 && answer.signal == 0 && change(answer);
    });
}

// The same, of a command that refused.
template <std::invocable<Answer&> Change>
Answer spoilt_refusal(const Call& call, const Change& change) {
    return spoilt(call, [&](Answer& answer) { return answer.code != 0 && change(answer); });
}

}  // namespace difffuzz::canary
