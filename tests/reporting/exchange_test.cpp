#include "reporting/filing/exchange.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "core/errors.hpp"
#include "reporting/filing/curl_client.hpp"
#include "reporting/filing/filing_error.hpp"
#include "reporting/filing/timestamp.hpp"

namespace difffuzz {
namespace {

using Fate = HttpAnswer::Fate;
using Next = Decision::Next;
using std::chrono::milliseconds;
using testing::HasSubstr;

const HttpRequest get{"GET", "/x", "", true};
const HttpRequest post{"POST", "/x", "{}", false};
constexpr std::int64_t now = 1'000'000;

HttpAnswer status(long code, std::map<std::string, std::string> headers = {},
                  std::string body = R"({"message":"words"})") {
    HttpAnswer answer;
    answer.status = code;
    answer.headers = std::move(headers);
    answer.body = std::move(body);
    return answer;
}

HttpAnswer failure(Fate fate) {
    HttpAnswer answer;
    answer.fate = fate;
    answer.failure = "why";
    return answer;
}

Decision decided(const HttpRequest& request, const HttpAnswer& answer, unsigned tries = 1) {
    return decide(request, answer, tries, now, {"host", "some/tool"}, {});
}

TEST(Exchange, TakesWhatWasCarriedOut) {
    EXPECT_EQ(decided(post, status(201)).next, Next::take);
    EXPECT_EQ(decided(get, status(200)).next, Next::take);
}

TEST(Exchange, WhatCanBeRepeatedIsTriedAgainWithLongerPauses) {
    for (const HttpAnswer& answer : {status(500), status(502), status(408), failure(Fate::lost),
                                     failure(Fate::timed_out), failure(Fate::not_sent)}) {
        EXPECT_EQ(decided(get, answer, 1).next, Next::again);
        EXPECT_EQ(decided(get, answer, 1).pause, milliseconds(500));
        EXPECT_EQ(decided(get, answer, 3).pause, milliseconds(2000));
        EXPECT_EQ(decided(get, answer, 4).next, Next::give_up);
    }
    EXPECT_EQ(decided(get, status(503, {{"retry-after", "7"}})).pause, milliseconds(7000));
}

TEST(Exchange, WhatMayHaveBeenCarriedOutIsNotSentAgain) {
    for (const HttpAnswer& answer : {status(500), failure(Fate::lost), failure(Fate::timed_out)}) {
        EXPECT_EQ(decided(post, answer).next, Next::lost);
    }
    EXPECT_TRUE(decided(post, failure(Fate::timed_out)).late);
    EXPECT_FALSE(decided(post, status(500)).late);
    EXPECT_EQ(decided(post, failure(Fate::not_sent)).next, Next::again);
    EXPECT_EQ(decided(post, status(429, {{"retry-after", "1"}})).next, Next::again);
}

TEST(Exchange, RateLimitsAreWaitedForAsTheHeadersSay) {
    EXPECT_EQ(decided(post, status(403, {{"retry-after", "3"}})).pause, milliseconds(3000));
    EXPECT_EQ(decided(get, status(403, {{"x-ratelimit-remaining", "0"},
                                        {"x-ratelimit-reset", std::to_string(now + 20)}}))
                  .pause,
              milliseconds(20'000));
    EXPECT_EQ(
        decided(get, status(403, {{"x-ratelimit-remaining", "0"}, {"x-ratelimit-reset", "1"}}))
            .pause,
        milliseconds(1000));
    EXPECT_EQ(decided(get, status(403, {}, R"({"message":"secondary rate limit"})")).pause,
              milliseconds(60'000));
    const Decision long_wait = decided(get, status(429, {{"retry-after", "91"}}));
    EXPECT_EQ(long_wait.next, Next::give_up);
    EXPECT_THAT(long_wait.sentence, HasSubstr("until 1970-01-12T13:48:11Z"));
    for (const char* odd : {"-1", "x", "99999999999999999999", ""}) {
        EXPECT_NE(decided(get, status(429, {{"retry-after", odd}})).next, Next::take) << odd;
    }
}

TEST(Exchange, RefusalsEndAllOrOne) {
    for (const long code : {301L, 302L, 307L, 308L, 401L, 403L, 404L, 410L}) {
        const Decision decision = decided(post, status(code, {{"location", "http://other"}}));
        EXPECT_EQ(decision.next, Next::give_up) << code;
        EXPECT_TRUE(decision.for_all) << code;
        EXPECT_THAT(decision.sentence, HasSubstr("host")) << code;
    }
    EXPECT_THAT(decided(get, status(302, {{"location", "http://other"}})).sentence,
                HasSubstr("'http://other', which was not followed"));
    EXPECT_FALSE(decided(post, status(422)).for_all);
    EXPECT_EQ(decided(post, failure(Fate::refused_certificate)).next, Next::give_up);
    EXPECT_THAT(decided(get, status(422, {}, "{\"message\":\"a\\nb\\u001b\"}")).sentence,
                HasSubstr("(422: a\\nb\\x1B)"));
}

TEST(Times, GoBothWays) {
    EXPECT_EQ(utc_text(1'000'000), "1970-01-12T13:46:40Z");
    for (const char* text : {"1970-01-12T13:46:40Z", "1970-01-12T13:46:40.123Z",
                             "1970-01-12T15:46:40+02:00", "1970-01-12T10:16:40.5-03:30"}) {
        EXPECT_EQ(parse_time(text), 1'000'000) << text;
    }
    for (const char* text : {"", "today", "1970-13-12T13:46:40Z", "1970-01-12T13:46:40+x"}) {
        EXPECT_EQ(parse_time(text), std::nullopt) << text;
    }
}

TEST(ApiUrl, IsHttpsOrLoopback) {
    EXPECT_EQ(checked_api_url("https://git.example.org/api/v4/"), "https://git.example.org/api/v4");
    EXPECT_EQ(checked_api_url("http://127.0.0.1:8080"), "http://127.0.0.1:8080");
    for (const char* url : {"http://example.org", "http://127.0.0.1.example.org",
                            "https://u@example.org", "https://u:p@example.org", "ftp://example.org",
                            "https://example.org/?a", "file:///etc"}) {
        EXPECT_THROW(checked_api_url(url), UsageError) << url;
    }
    EXPECT_EQ(url_escaped("a b\"/+\xff"), "a%20b%22%2F%2B%FF");
}

}  // namespace
}  // namespace difffuzz
