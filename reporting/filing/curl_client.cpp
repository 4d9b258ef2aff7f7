#include "reporting/filing/curl_client.hpp"

#include <algorithm>

#include <curl/curl.h>

#include "core/errors.hpp"

namespace difffuzz {
namespace {

constexpr std::size_t max_header_bytes = 64 << 10;

struct Received {
    HttpAnswer answer;
    std::size_t header_bytes = 0;
};

std::size_t take_body(char* data, std::size_t, std::size_t size, void* user) {
    auto& received = *static_cast<Received*>(user);
    if (received.answer.body.size() + size > max_answer_bytes) {
        return 0;  // ends the transfer
    }
    received.answer.body.append(data, size);
    return size;
}

std::size_t take_header(char* data, std::size_t, std::size_t size, void* user) {
    auto& received = *static_cast<Received*>(user);
    received.header_bytes += size;
    if (received.header_bytes > max_header_bytes) {
        return 0;
    }
    const std::string line(data, size);
    const std::size_t colon = line.find(':');
    if (colon != std::string::npos) {
        std::string name = line.substr(0, colon);
        std::ranges::transform(name, name.begin(), [](char byte) {
            return byte >= 'A' && byte <= 'Z' ? static_cast<char>(byte + 32) : byte;
        });
        const std::size_t begin = line.find_first_not_of(" \t", colon + 1);
        const std::size_t end = line.find_last_not_of(" \t\r\n");
        received.answer.headers[name] =
            begin == std::string::npos || end < begin ? "" : line.substr(begin, end - begin + 1);
    }
    return size;
}

HttpAnswer::Fate fate_of(CURLcode code) {
    switch (code) {
        case CURLE_OK:
            return HttpAnswer::Fate::answered;
        case CURLE_COULDNT_RESOLVE_HOST:
        case CURLE_COULDNT_RESOLVE_PROXY:
        case CURLE_COULDNT_CONNECT:
        case CURLE_URL_MALFORMAT:
        case CURLE_UNSUPPORTED_PROTOCOL:
            return HttpAnswer::Fate::not_sent;
        case CURLE_PEER_FAILED_VERIFICATION:
        case CURLE_SSL_CONNECT_ERROR:
        case CURLE_SSL_CERTPROBLEM:
        case CURLE_SSL_CACERT_BADFILE:
        case CURLE_SSL_ISSUER_ERROR:
        case CURLE_SSL_INVALIDCERTSTATUS:
            return HttpAnswer::Fate::refused_certificate;
        case CURLE_OPERATION_TIMEDOUT:
            return HttpAnswer::Fate::timed_out;
        default:
            return HttpAnswer::Fate::lost;
    }
}

struct SlistDeleter {
    void operator()(curl_slist* list) const { curl_slist_free_all(list); }
};

class CurlClient : public HttpClient {
public:
    explicit CurlClient(CurlOptions options)
        : options_(std::move(options)), handle_(curl_easy_init(), curl_easy_cleanup) {
        if (!handle_) {
            throw EnvironmentError("libcurl does not start");
        }
        add_header(options_.authorization);
        add_header("Accept: " + options_.accept);
        add_header("Content-Type: application/json");
        add_header("Expect:");
    }

    HttpAnswer send(const HttpRequest& request) override {
        Received received;
        CURL* const handle = handle_.get();
        const std::string url = options_.base_url + request.path;
        curl_easy_reset(handle);  // connections and TLS sessions stay
        curl_easy_setopt(handle, CURLOPT_URL, url.c_str());
        curl_easy_setopt(handle, CURLOPT_PROTOCOLS_STR, "http,https");
        curl_easy_setopt(handle, CURLOPT_FOLLOWLOCATION, 0L);
        curl_easy_setopt(handle, CURLOPT_NETRC, long{CURL_NETRC_IGNORED});
        curl_easy_setopt(handle, CURLOPT_SSL_VERIFYPEER, 1L);
        curl_easy_setopt(handle, CURLOPT_SSL_VERIFYHOST, 2L);
        curl_easy_setopt(handle, CURLOPT_SSLVERSION, long{CURL_SSLVERSION_TLSv1_2});
        if (url.starts_with("http://")) {
            curl_easy_setopt(handle, CURLOPT_PROXY, "");  // what is meant for loopback stays there
        }
        // On a connection that was used before, libcurl itself sends a request again when it
        // breaks.
        curl_easy_setopt(handle, CURLOPT_FRESH_CONNECT, request.repeatable ? 0L : 1L);
        curl_easy_setopt(handle, CURLOPT_NOSIGNAL, 1L);
        curl_easy_setopt(handle, CURLOPT_TIMEOUT_MS, static_cast<long>(options_.timeout.count()));
        curl_easy_setopt(handle, CURLOPT_USERAGENT, options_.agent.c_str());
        curl_easy_setopt(handle, CURLOPT_HTTPHEADER, headers_.get());
        curl_easy_setopt(handle, CURLOPT_CUSTOMREQUEST, request.method.c_str());
        if (!request.body.empty() || request.method == "POST") {
            curl_easy_setopt(handle, CURLOPT_POSTFIELDSIZE_LARGE,
                             static_cast<curl_off_t>(request.body.size()));
            curl_easy_setopt(handle, CURLOPT_POSTFIELDS, request.body.data());
        }
        curl_easy_setopt(handle, CURLOPT_WRITEFUNCTION, take_body);
        curl_easy_setopt(handle, CURLOPT_WRITEDATA, &received);
        curl_easy_setopt(handle, CURLOPT_HEADERFUNCTION, take_header);
        curl_easy_setopt(handle, CURLOPT_HEADERDATA, &received);
        const CURLcode code = curl_easy_perform(handle);
        received.answer.fate = fate_of(code);
        if (code == CURLE_OK) {
            curl_easy_getinfo(handle, CURLINFO_RESPONSE_CODE, &received.answer.status);
        } else {
            received.answer.failure = curl_easy_strerror(code);
        }
        return std::move(received.answer);
    }

private:
    void add_header(const std::string& line) {
        curl_slist* const longer = curl_slist_append(headers_.get(), line.c_str());
        if (longer == nullptr) {
            throw EnvironmentError("libcurl does not take a header");
        }
        static_cast<void>(headers_.release());
        headers_.reset(longer);
    }

    CurlOptions options_;
    std::unique_ptr<CURL, void (*)(CURL*)> handle_;
    std::unique_ptr<curl_slist, SlistDeleter> headers_;
};

std::string url_part(CURLU* url, CURLUPart part) {
    char* text = nullptr;
    const bool there = curl_url_get(url, part, &text, 0) == CURLUE_OK;
    const std::string result = there ? text : "";
    curl_free(text);
    return result;
}

}  // namespace

std::unique_ptr<HttpClient> curl_client(const CurlOptions& options) {
    if (curl_global_init(CURL_GLOBAL_DEFAULT) != CURLE_OK) {
        throw EnvironmentError("libcurl does not start");
    }
    return std::make_unique<CurlClient>(options);
}

std::string checked_api_url(const std::string& url) {
    const std::unique_ptr<CURLU, void (*)(CURLU*)> parsed(curl_url(), curl_url_cleanup);
    const std::string shown = "'" + url.substr(0, 200) + "'";
    if (curl_url_set(parsed.get(), CURLUPART_URL, url.c_str(), 0) != CURLUE_OK) {
        throw UsageError("--api-url: " + shown +
                         " is not a URL; give one such as https://api.github.com");
    }
    if (!url_part(parsed.get(), CURLUPART_USER).empty() ||
        !url_part(parsed.get(), CURLUPART_PASSWORD).empty()) {
        throw UsageError(
            "--api-url must hold no user and no password; give the token in DIFFFUZZ_TOKEN");
    }
    if (!url_part(parsed.get(), CURLUPART_QUERY).empty() ||
        !url_part(parsed.get(), CURLUPART_FRAGMENT).empty()) {
        throw UsageError("--api-url: " + shown + " must end with the path, without '?' and '#'");
    }
    const std::string scheme = url_part(parsed.get(), CURLUPART_SCHEME);
    const std::string host = url_part(parsed.get(), CURLUPART_HOST);
    const bool loopback = host == "localhost" || host == "127.0.0.1" || host == "[::1]";
    if (scheme != "https" && !(scheme == "http" && loopback)) {
        throw UsageError("--api-url: " + shown +
                         " is not https; the token is not sent unencrypted, except to this "
                         "machine itself");
    }
    std::string result = url;
    while (result.ends_with('/')) {
        result.pop_back();
    }
    return result;
}

std::string url_escaped(const std::string& text) {
    constexpr std::string_view digits = "0123456789ABCDEF";
    std::string escaped;
    for (const char byte : text) {
        const bool unreserved = (byte >= '0' && byte <= '9') || (byte >= 'a' && byte <= 'z') ||
                                (byte >= 'A' && byte <= 'Z') || byte == '-' || byte == '_' ||
                                byte == '.' || byte == '~';
        if (unreserved) {
            escaped += byte;
        } else {
            const auto bits = static_cast<unsigned char>(byte);
            escaped.append("%").append(1, digits[bits >> 4U]).append(1, digits[bits & 0xFU]);
        }
    }
    return escaped;
}

}  // namespace difffuzz
