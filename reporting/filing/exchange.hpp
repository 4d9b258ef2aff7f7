// Asks a tracker until it answers: bounded retries that heed what its headers say.
#pragma once

#include <chrono>
#include <cstdint>
#include <optional>
#include <string>

#include <nlohmann/json.hpp>

#include "reporting/filing/http.hpp"

namespace difffuzz {

// What tests put another one in the place of.
class FilingClock {
public:
    FilingClock() = default;
    FilingClock(const FilingClock&) = delete;
    FilingClock& operator=(const FilingClock&) = delete;
    virtual ~FilingClock() = default;
    virtual std::int64_t now() = 0;  // seconds since 1970
    virtual void pause(std::chrono::milliseconds time) = 0;
};

struct RetryRules {
    unsigned tries = 4;                               // of one request
    std::chrono::milliseconds first_pause{500};       // doubled from try to try
    std::chrono::milliseconds longest_pause{90'000};  // that a tracker may ask for
    std::chrono::milliseconds all_pauses{600'000};    // of one run
};

// Who is asked, for sentences.
struct Asked {
    std::string host;
    std::string repo;
};

// What follows from an answer.
struct Decision {
    enum class Next { take, again, lost, give_up };
    Next next = Next::take;
    std::chrono::milliseconds pause{0};  // before `again`
    std::string sentence;                // of `lost` and `give_up`; why, for `again`
    bool for_all = true;                 // of `give_up`: whether nothing else can be filed either
    bool late = false;                   // of `lost`: see LostAnswer
};

// A pure function. `tries` counts those made, this one included. Steps: what was carried out is
// taken; a redirect, a wrong token, a missing right or repository ends all; a rate limit is waited
// for as its headers say (Retry-After, else X-RateLimit-Reset), unless that is too long; a 5xx, a
// broken connection or a time-out is tried again if the request is repeatable, else it is lost.
Decision decide(const HttpRequest& request, const HttpAnswer& answer, unsigned tries,
                std::int64_t now, const Asked& asked, const RetryRules& rules);

struct Answered {
    nlohmann::json body;
    // Of a list: whether there is a further page; nothing where the answer does not say.
    std::optional<bool> further;
};

class Exchange {
public:
    Exchange(HttpClient& client, FilingClock& clock, Asked asked, RetryRules rules = {});

    // Throws FilingError or LostAnswer.
    Answered ask(const HttpRequest& request);
    // Nothing where the tracker says that there is no such thing (404, 410).
    std::optional<Answered> ask_if_there(const HttpRequest& request);
    // Before trying again what was lost: the n-th pause.
    void pause_before_try(unsigned tries);

    FilingClock& clock() { return clock_; }
    const RetryRules& rules() const { return rules_; }
    const Asked& asked() const { return asked_; }

private:
    HttpAnswer send(const HttpRequest& request, bool may_be_missing);
    Answered read(const HttpRequest& request, const HttpAnswer& answer) const;

    HttpClient& client_;
    FilingClock& clock_;
    Asked asked_;
    RetryRules rules_;
    std::chrono::milliseconds paused_{0};
};

}  // namespace difffuzz
