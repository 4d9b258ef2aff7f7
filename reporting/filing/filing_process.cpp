#include "reporting/filing/filing_process.hpp"

#include <array>
#include <cerrno>
#include <chrono>
#include <csignal>
#include <iostream>
#include <set>
#include <thread>

#include <nlohmann/json.hpp>
#include <sys/prctl.h>
#include <unistd.h>

#include "campaign/workers/process.hpp"
#include "core/errors.hpp"
#include "core/tools/file_descriptor.hpp"
#include "reporting/filing/curl_client.hpp"
#include "reporting/filing/tokens.hpp"

namespace difffuzz {
namespace {

using nlohmann::json;

constexpr int token_descriptor = 3;

class SystemClock : public FilingClock {
public:
    std::int64_t now() override {
        return std::chrono::duration_cast<std::chrono::seconds>(
                   std::chrono::system_clock::now().time_since_epoch())
            .count();
    }
    void pause(std::chrono::milliseconds time) override { std::this_thread::sleep_for(time); }
};

std::string read_to_end(int descriptor) {
    std::string text;
    std::array<char, 65536> buffer{};
    for (;;) {
        const ssize_t got = ::read(descriptor, buffer.data(), buffer.size());
        if (got > 0) {
            text.append(buffer.data(), static_cast<std::size_t>(got));
        } else if (got == 0 || errno != EINTR) {
            return text;
        }
    }
}

// False when the reader is gone.
bool write_all(int descriptor, const std::string& text) {
    for (std::size_t at = 0; at < text.size();) {
        const ssize_t wrote = ::write(descriptor, text.data() + at, text.size() - at);
        if (wrote >= 0) {
            at += static_cast<std::size_t>(wrote);
        } else if (errno != EINTR) {
            return false;
        }
    }
    return true;
}

std::string host_of(const std::string& url) {
    const std::size_t begin = url.find("://") + 3;
    return url.substr(begin, url.find('/', begin) - begin);
}

void print_result(const FilingResult& result) {
    std::cout << to_json(result).dump(-1, ' ', true, json::error_handler_t::replace) << "\n"
              << std::flush;
}

void fail_all(const FilingJob& job, const std::string& reason) {
    for (const IssueToFile& one : job.issues) {
        print_result({one.text.fingerprint, FilingResult::Action::failed, 0, "", reason});
    }
}

}  // namespace

int serve_filing() {
    end_with_parent();
    // No core dump, and no other process of the same user, gets at the token in its memory.
    ::prctl(PR_SET_DUMPABLE, 0);
    const FilingJob job = job_from_json(json::parse(read_to_end(STDIN_FILENO)));
    const TrackerRow& row = tracker_named(job.tracker);
    std::unique_ptr<HttpClient> client;
    try {
        const std::string token = choose_token(read_to_end(token_descriptor), job.token_file, row);
        client = curl_client({job.api_url, row.authorization(token), std::string(row.accept),
                              job.agent, job.timeout});
    } catch (const UsageError& error) {
        fail_all(job, error.what());
        return 0;
    }
    SystemClock clock;
    Exchange exchange(*client, clock, {host_of(job.api_url), job.repo});
    file_issues(job, row, exchange, print_result);
    return 0;
}

void file_in_process(const std::string& executable, int token_pipe, const FilingJob& job,
                     const std::function<void(const FilingResult&)>& done) {
    const HelperProcess process = start_helper(executable, {filing_command}, token_pipe);
    FileDescriptor input(process.input);
    const FileDescriptor output(process.output);
    // A process that dies early closes its end; its results are then missing, which is told below.
    const auto before = std::signal(SIGPIPE, SIG_IGN);
    write_all(input.get(), to_json(job).dump(-1, ' ', true, json::error_handler_t::replace));
    std::signal(SIGPIPE, before);
    input.reset();
    std::set<std::string> waiting;
    for (const IssueToFile& one : job.issues) {
        waiting.insert(one.text.fingerprint);
    }
    const auto take = [&](const std::string& line) {
        const FilingResult result = result_from_json(json::parse(line));
        if (waiting.erase(result.fingerprint) > 0) {
            done(result);
        }
    };
    std::string text;
    std::array<char, 65536> buffer{};
    for (;;) {
        const ssize_t got = ::read(output.get(), buffer.data(), buffer.size());
        if (got < 0 && errno == EINTR) {
            continue;
        }
        if (got <= 0) {
            break;
        }
        text.append(buffer.data(), static_cast<std::size_t>(got));
        for (std::size_t end = 0; (end = text.find('\n')) != std::string::npos;) {
            take(text.substr(0, end));
            text.erase(0, end + 1);
        }
    }
    wait_for_helper(process);
    for (const IssueToFile& one : job.issues) {
        if (waiting.contains(one.text.fingerprint)) {
            done({one.text.fingerprint, FilingResult::Action::failed, 0, "",
                  "the filing process ended before it got to this one; run 'difffuzz file' again"});
        }
    }
}

}  // namespace difffuzz
