// How faults are made of what the real tool does.
#pragma once

#include <concepts>
#include <string>

#include <nlohmann/json.hpp>

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

// Adds to a number in what is printed as JSON about an image; of a chain, about its first one.
inline bool add_in_json(Answer& answer, const std::string& field, std::uint64_t more) {
    nlohmann::json printed = nlohmann::json::parse(answer.out, nullptr, false);
    nlohmann::json& image = printed.is_array() && !printed.empty() ? printed.front() : printed;
    if (!image.is_object() || !image.contains(field) || !image[field].is_number_unsigned()) {
        return false;
    }
    image[field] = image[field].get<std::uint64_t>() + more;
    answer.out = printed.dump(4) + "\n";
    return true;
}

}  // namespace difffuzz::canary
