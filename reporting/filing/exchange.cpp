#include "reporting/filing/exchange.hpp"

#include <algorithm>

#include <fmt/format.h>

#include "core/cases/json_fields.hpp"
#include "core/decimal.hpp"
#include "oracles/shown_text.hpp"
#include "reporting/filing/filing_error.hpp"
#include "reporting/filing/timestamp.hpp"

namespace difffuzz {
namespace {

using std::chrono::milliseconds;
using Next = Decision::Next;
using Fate = HttpAnswer::Fate;

std::string header(const HttpAnswer& answer, const std::string& name) {
    const auto found = answer.headers.find(name);
    return found == answer.headers.end() ? std::string{} : found->second;
}

// What the tracker says about a refusal, on one line.
std::string words_of(const HttpAnswer& answer) {
    const nlohmann::json body = nlohmann::json::parse(answer.body, nullptr, false);
    std::string words;
    for (const char* field : {"message", "error"}) {
        if (words.empty() && body.is_object() && body.contains(field)) {
            const nlohmann::json& value = body.at(field);
            words = value.is_string()
                        ? value.get<std::string>()
                        : value.dump(-1, ' ', true, nlohmann::json::error_handler_t::replace);
        }
    }
    return words.empty() ? std::to_string(answer.status)
                         : fmt::format("{}: {}", answer.status, shown_text(words, 200));
}

milliseconds back_off(unsigned tries, const RetryRules& rules) {
    return rules.first_pause * (std::int64_t{1} << std::min(tries - 1, 10U));
}

std::optional<milliseconds> asked_pause(const HttpAnswer& answer, std::int64_t now) {
    constexpr std::uint64_t most = 1'000'000'000;
    if (const auto seconds = parse_decimal(header(answer, "retry-after"))) {
        return milliseconds(1000 * static_cast<std::int64_t>(std::min(*seconds, most)));
    }
    if (header(answer, "x-ratelimit-remaining") == "0") {
        if (const auto reset = parse_decimal(header(answer, "x-ratelimit-reset"))) {
            const std::int64_t at = static_cast<std::int64_t>(std::min(*reset, most * 1000));
            return milliseconds(1000 * std::clamp<std::int64_t>(at - now, 1, most));
        }
    }
    return std::nullopt;
}

bool is_rate_limit(const HttpAnswer& answer) {
    return answer.status == 429 ||
           (answer.status == 403 && (!header(answer, "retry-after").empty() ||
                                     header(answer, "x-ratelimit-remaining") == "0" ||
                                     answer.body.find("rate limit") != std::string::npos));
}

Decision give_up(std::string sentence, bool for_all = true) {
    return {Next::give_up, {}, std::move(sentence), for_all, false};
}

Decision rate_limited(const HttpAnswer& answer, unsigned tries, std::int64_t now,
                      const Asked& asked, const RetryRules& rules) {
    // GitHub asks for a minute where its headers name no time.
    const milliseconds pause = asked_pause(answer, now).value_or(milliseconds(60'000));
    if (tries >= rules.tries || pause > rules.longest_pause) {
        return give_up(fmt::format(
            "{} limits the rate of requests until {} ({}); run 'difffuzz file' again after that",
            asked.host, utc_text(now + pause.count() / 1000), words_of(answer)));
    }
    return {Next::again, pause, "rate limit", true, false};
}

Decision failed_inside(const HttpRequest& request, unsigned tries, const RetryRules& rules,
                       milliseconds pause, const std::string& sentence, bool late) {
    if (!request.repeatable) {
        return {Next::lost, {}, sentence, false, late};
    }
    if (tries >= rules.tries || pause > rules.longest_pause) {
        return give_up(sentence +
                       fmt::format(", {} times; run 'difffuzz file' again later", tries));
    }
    return {Next::again, pause, sentence, true, late};
}

Decision refused(const HttpAnswer& answer, const Asked& asked) {
    const std::string words = words_of(answer);
    switch (answer.status) {
        case 401:
            return give_up(
                fmt::format("{} does not accept the token ({}): it is wrong, expired or "
                            "revoked; give another one in DIFFFUZZ_TOKEN",
                            asked.host, words));
        case 403:
            return give_up(
                fmt::format("{} forbids it ({}); the token needs the right to write "
                            "issues of {}",
                            asked.host, words, asked.repo));
        case 404:
            return give_up(
                fmt::format("{} has no repository '{}' that this token may see ({}); "
                            "check --repo, --api-url and the token's rights",
                            asked.host, asked.repo, words));
        case 410:
            return give_up(
                fmt::format("{} has no issues for '{}' ({}); switch them on there, or "
                            "give another --repo",
                            asked.host, asked.repo, words));
        default:
            return give_up(fmt::format("{} does not take the issue ({})", asked.host, words),
                           false);
    }
}

}  // namespace

Decision decide(const HttpRequest& request, const HttpAnswer& answer, unsigned tries,
                std::int64_t now, const Asked& asked, const RetryRules& rules) {
    const milliseconds pause = back_off(tries, rules);
    switch (answer.fate) {
        case Fate::answered:
            break;
        case Fate::refused_certificate:
            return give_up(
                fmt::format("the certificate of {} is not one that this machine trusts "
                            "({}); nothing was sent",
                            asked.host, answer.failure));
        case Fate::not_sent:
            if (tries >= rules.tries) {
                return give_up(
                    fmt::format("{} cannot be reached ({}), {} times; check --api-url "
                                "and the network",
                                asked.host, answer.failure, tries));
            }
            return {Next::again, pause, "not reached", true, false};
        case Fate::lost:
            return failed_inside(
                request, tries, rules, pause,
                fmt::format("the connection to {} broke ({})", asked.host, answer.failure), false);
        case Fate::timed_out:
            return failed_inside(request, tries, rules, pause,
                                 fmt::format("{} did not answer in time", asked.host), true);
    }
    if (answer.status >= 200 && answer.status < 300) {
        return {};
    }
    if (answer.status >= 300 && answer.status < 400) {
        return give_up(fmt::format(
            "{} answers with a redirect ({}) to '{}', which was not followed; if that is right, "
            "name it with --api-url or --repo",
            asked.host, answer.status, shown_text(header(answer, "location"), 200)));
    }
    if (is_rate_limit(answer)) {
        return rate_limited(answer, tries, now, asked, rules);
    }
    if (answer.status >= 500 || answer.status == 408) {
        return failed_inside(request, tries, rules,
                             std::max(pause, asked_pause(answer, now).value_or(pause)),
                             fmt::format("{} failed ({})", asked.host, words_of(answer)), false);
    }
    return refused(answer, asked);
}

Exchange::Exchange(HttpClient& client, FilingClock& clock, Asked asked, RetryRules rules)
    : client_(client), clock_(clock), asked_(std::move(asked)), rules_(rules) {}

HttpAnswer Exchange::send(const HttpRequest& request, bool may_be_missing) {
    for (unsigned tries = 1;; ++tries) {
        HttpAnswer answer = client_.send(request);
        if (may_be_missing && answer.fate == Fate::answered &&
            (answer.status == 404 || answer.status == 410)) {
            return answer;
        }
        const Decision decision = decide(request, answer, tries, clock_.now(), asked_, rules_);
        switch (decision.next) {
            case Next::take:
                return answer;
            case Next::lost:
                throw LostAnswer(decision.sentence, decision.late);
            case Next::give_up:
                throw FilingError(decision.sentence, decision.for_all
                                                         ? FilingError::Reach::all
                                                         : FilingError::Reach::this_issue);
            case Next::again:
                paused_ += decision.pause;
                if (paused_ > rules_.all_pauses) {
                    throw FilingError(fmt::format("{} kept this run waiting for too long ({}); run "
                                                  "'difffuzz file' again later",
                                                  asked_.host, decision.sentence),
                                      FilingError::Reach::all);
                }
                clock_.pause(decision.pause);
        }
    }
}

Answered Exchange::ask(const HttpRequest& request) { return read(request, send(request, false)); }

std::optional<Answered> Exchange::ask_if_there(const HttpRequest& request) {
    const HttpAnswer answer = send(request, true);
    if (answer.status == 404 || answer.status == 410) {
        return std::nullopt;
    }
    return read(request, answer);
}

Answered Exchange::read(const HttpRequest& request, const HttpAnswer& answer) const {
    Answered answered;
    if (const std::string link = header(answer, "link"); !link.empty()) {
        answered.further = link.find("rel=\"next\"") != std::string::npos;
    }
    try {
        answered.body = parse_bounded(answer.body, max_answer_bytes, 64);
    } catch (const RecipeError&) {
        throw FilingError(fmt::format("{} answers '{} {}' with something that is not JSON; check "
                                      "--api-url",
                                      asked_.host, request.method,
                                      request.path.substr(0, request.path.find('?'))),
                          FilingError::Reach::all);
    }
    return answered;
}

void Exchange::pause_before_try(unsigned tries) { clock_.pause(back_off(tries, rules_)); }

}  // namespace difffuzz
