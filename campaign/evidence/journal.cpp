#include "campaign/evidence/journal.hpp"

#include <cerrno>
#include <cstring>
#include <fstream>

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include "core/errors.hpp"

namespace difffuzz {
namespace {

using nlohmann::json;

std::string journal_path(const std::string& directory) { return directory + "/journal.ndjson"; }

[[noreturn]] void cannot(const char* what) {
    throw EnvironmentError(std::string("cannot ") + what +
                           " the evidence's journal.ndjson: " + std::strerror(errno));
}

// Length of the file up to and with its last line feed.
off_t whole_lines(int file, off_t size) {
    char buffer[4096];
    while (size > 0) {
        const off_t begin = std::max<off_t>(0, size - static_cast<off_t>(sizeof buffer));
        const ssize_t got = ::pread(file, buffer, static_cast<std::size_t>(size - begin), begin);
        if (got <= 0) {
            cannot("read");
        }
        const auto* feed =
            static_cast<const char*>(::memrchr(buffer, '\n', static_cast<std::size_t>(got)));
        if (feed != nullptr) {
            return begin + (feed - buffer) + 1;
        }
        size = begin;
    }
    return 0;
}

}  // namespace

Journal::Journal(const std::string& directory)
    : file_(
          ::open(journal_path(directory).c_str(), O_RDWR | O_CREAT | O_APPEND | O_CLOEXEC, 0644)) {
    struct stat status {};
    if (!file_.valid() || ::fstat(file_.get(), &status) != 0) {
        cannot("open");
    }
    const off_t whole = whole_lines(file_.get(), status.st_size);
    if (whole != status.st_size && ::ftruncate(file_.get(), whole) != 0) {
        cannot("repair");
    }
}

void Journal::started(std::uint64_t index, bool alone) {
    append(json{{"started", index}, {"alone", alone}}.dump());
}

void Journal::committed(const CaseReport& report) {
    append(json{{"committed", to_json(report)}}.dump());
}

void Journal::sync() {
    if (::fsync(file_.get()) != 0) {
        cannot("sync");
    }
}

void Journal::append(const std::string& line) {
    const std::string text = line + "\n";
    std::size_t done = 0;
    while (done < text.size()) {
        const ssize_t written = ::write(file_.get(), text.data() + done, text.size() - done);
        if (written >= 0) {
            done += static_cast<std::size_t>(written);
        } else if (errno != EINTR) {
            cannot("write");
        }
    }
}

JournalState Journal::load(const std::string& directory,
                           const std::function<void(const CaseReport&)>& committed) {
    JournalState state;
    std::ifstream file(journal_path(directory));
    std::string line;
    for (std::size_t number = 1; std::getline(file, line); ++number) {
        if (file.eof()) {
            break;  // cut off while it was written
        }
        try {
            const json entry = json::parse(line);
            if (entry.contains("committed")) {
                const CaseReport report = report_from_json(entry.at("committed"));
                if (report.index != state.committed) {
                    throw std::runtime_error("out of order");
                }
                ++state.committed;
                state.in_flight.erase(report.index);
                committed(report);
            } else {
                const std::uint64_t index = entry.at("started");
                state.in_flight[index] = entry.at("alone").get<bool>();
            }
        } catch (const std::exception& error) {
            throw EnvironmentError("line " + std::to_string(number) +
                                   " of the evidence's journal.ndjson cannot be used (" +
                                   error.what() + "); start anew in another --out directory");
        }
    }
    return state;
}

}  // namespace difffuzz
