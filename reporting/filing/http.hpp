// One HTTP exchange with a tracker, as values.
#pragma once

#include <chrono>
#include <map>
#include <optional>
#include <string>

#include <nlohmann/json_fwd.hpp>

namespace difffuzz {

struct HttpRequest {
    std::string method;  // "GET", "POST", "PATCH", "PUT"
    std::string path;    // below the API's base, with its query; begins with '/'
    std::string body;    // JSON text, or empty
    // Whether sending it twice does the same as once. Others are not sent again before it was
    // looked up whether they were carried out.
    bool repeatable = true;
};

// A longer answer's body ends the exchange.
inline constexpr std::size_t max_answer_bytes = std::size_t{8} << 20;

struct HttpAnswer {
    // What happened to the exchange. `lost`: it may have been carried out all the same.
    enum class Fate { answered, not_sent, lost, timed_out, refused_certificate };
    Fate fate = Fate::answered;
    std::string failure;  // of the library, when not answered
    long status = 0;
    std::map<std::string, std::string> headers;  // names in lower case, the last of each
    std::string body;
};

// What a filer sends through. Tests put another one in its place.
class HttpClient {
public:
    HttpClient() = default;
    HttpClient(const HttpClient&) = delete;
    HttpClient& operator=(const HttpClient&) = delete;
    virtual ~HttpClient() = default;

    // Sends once and waits for the answer. Never follows a redirect.
    virtual HttpAnswer send(const HttpRequest& request) = 0;
};

// `text` as part of a URL: all but unreserved characters escaped.
std::string url_escaped(const std::string& text);

}  // namespace difffuzz
