// The HttpClient that uses libcurl.
#pragma once

#include <chrono>
#include <memory>
#include <string>

#include "reporting/filing/http.hpp"

namespace difffuzz {

struct CurlOptions {
    std::string base_url;                       // "https://api.github.com"; see checked_api_url
    std::string authorization;                  // the header's line, with the token; never shown
    std::string accept;                         // media type
    std::string agent;                          // "difffuzz/0.1.0"
    std::chrono::milliseconds timeout{30'000};  // of one exchange
};

// TLS certificates and host names are always verified. The authorization goes to the base URL's
// host only: redirects are not followed, and ~/.netrc is not read. An answer of more than 8 MiB is
// `lost`. Throws EnvironmentError if the library does not start.
std::unique_ptr<HttpClient> curl_client(const CurlOptions& options);

// The base of a tracker's API as it is used: without a slash at its end. Throws UsageError naming
// --api-url for what is no URL, holds a user or password, or is not https (plain http is for
// loopback addresses alone: the token would be readable on the way).
std::string checked_api_url(const std::string& url);

}  // namespace difffuzz
