#include "campaign/evidence/journal.hpp"

#include <algorithm>
#include <cerrno>
#include <cstring>

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include "campaign/evidence/files.hpp"
#include "campaign/shard.hpp"
#include "core/cases/json_fields.hpp"
#include "core/errors.hpp"

namespace difffuzz {
namespace {

using nlohmann::json;

constexpr std::size_t max_line_bytes = std::size_t{16} << 20;
constexpr int max_depth = 64;

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

[[noreturn]] void unusable(const std::string& path, std::size_t line, const std::string& reason) {
    throw EnvironmentError("line " + std::to_string(line) + " of '" + path + "' cannot be used (" +
                           reason + "); start anew in another --out directory");
}

// Words that become part of a path.
void require_plain(const std::string& word, const std::string& pointer) {
    const bool plain = std::ranges::all_of(word, [](char byte) {
        return (byte >= 'a' && byte <= 'z') || (byte >= '0' && byte <= '9') || byte == '_';
    });
    if (!plain) {
        throw RecipeError(pointer, "holds more than a-z, 0-9 and '_'");
    }
}

}  // namespace

// The whole lines of a journal, one after the other; none for one that does not exist. A last line
// that was cut off while it was written is left out.
class JournalLines {
public:
    explicit JournalLines(const std::string& path)
        : path_(path), file_(open_evidence_file(path, O_RDONLY)) {}

    bool next(std::string& line) {
        for (;;) {
            if (const std::size_t feed = text_.find('\n', searched_); feed != std::string::npos) {
                line = text_.substr(begin_, feed - begin_);
                begin_ = searched_ = feed + 1;
                return true;
            }
            searched_ = text_.size();
            if (!file_.valid() || !fill()) {
                return false;
            }
        }
    }

private:
    bool fill() {
        text_.erase(0, begin_);
        searched_ -= begin_;
        begin_ = 0;
        if (text_.size() > max_line_bytes) {
            throw EnvironmentError("'" + path_ + "' holds a line that no journal has; start anew " +
                                   "in another --out directory");
        }
        char buffer[1 << 16];
        ssize_t got = 0;
        do {
            got = ::read(file_.get(), buffer, sizeof buffer);
        } while (got < 0 && errno == EINTR);
        if (got < 0) {
            cannot("read");
        }
        text_.append(buffer, static_cast<std::size_t>(got));
        return got > 0;
    }

    std::string path_;
    FileDescriptor file_;
    std::string text_;
    std::size_t begin_ = 0;     // of the line that is next
    std::size_t searched_ = 0;  // no line feed from begin_ to here
};

Journal::Journal(const std::string& directory)
    : file_(open_evidence_file(journal_path(directory), O_RDWR | O_CREAT | O_APPEND)) {
    struct stat status {};
    if (::fstat(file_.get(), &status) != 0) {
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

void Journal::triaged(const json& result) { append(json{{"triaged", result}}.dump()); }

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

JournalReader::JournalReader(const std::string& directory)
    : path_(journal_path(directory)), lines_(std::make_unique<JournalLines>(path_)) {}
JournalReader::JournalReader(JournalReader&&) noexcept = default;
JournalReader::~JournalReader() = default;

std::optional<CaseReport> JournalReader::next() {
    std::string line;
    while (lines_->next(line)) {
        ++number_;
        try {
            const json entry = parse_bounded(line, max_line_bytes, max_depth);
            if (entry.contains("committed")) {
                CaseReport report = report_from_json(entry.at("committed"));
                if (report.index < state_.committed ||
                    report.index - state_.committed >= max_shards) {
                    throw RecipeError("/committed/index", "is out of order");
                }
                require_plain(report.type, "/committed/type");
                require_plain(report.fingerprint, "/committed/fingerprint");
                state_.committed = report.index + 1;
                state_.in_flight.erase(report.index);
                return report;
            }
            if (entry.contains("triaged")) {
                state_.triaged.push_back(entry.at("triaged"));
            } else {
                const std::uint64_t index =
                    checked_number(entry.at("started"), "/started", 0, UINT64_MAX);
                if (index >= state_.committed) {
                    state_.in_flight[index] = entry.at("alone").get<bool>();
                }
            }
        } catch (const RecipeError& error) {
            unusable(path_, number_, error.what());
        } catch (const json::exception&) {
            unusable(path_, number_, "a field is missing or of another type");
        }
    }
    return std::nullopt;
}

JournalState Journal::load(const std::string& directory,
                           const std::function<void(const CaseReport&)>& committed) {
    JournalReader reader(directory);
    std::uint64_t next = 0;
    while (const auto report = reader.next()) {
        for (; next < report->index; ++next) {
            CaseReport outside;
            outside.index = next;
            outside.terminal = Terminal::outside_shard;
            committed(outside);
        }
        committed(*report);
        ++next;
    }
    return reader.state();
}

}  // namespace difffuzz
