// The journal: what was started and what was committed, one JSON object a line, appended.
#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "campaign/workers/messages.hpp"
#include "core/tools/file_descriptor.hpp"

namespace difffuzz {

// What a journal tells about an interrupted campaign.
struct JournalState {
    std::uint64_t committed = 0;  // indices 0..committed-1 are done
    // Started and not committed: whether such a case was running alone when difffuzz ended.
    std::map<std::uint64_t, bool> in_flight;
    std::vector<nlohmann::json> triaged;  // as Journal::triaged() got them
};

class JournalLines;  // journal.cpp

// Reads a journal case by case. Throws EnvironmentError naming the line for a journal that
// difffuzz did not write.
class JournalReader {
public:
    // A directory without a journal has no case.
    explicit JournalReader(const std::string& directory);
    JournalReader(JournalReader&&) noexcept;
    ~JournalReader();

    // The next committed case; nothing at the end. Indices ascend; those that are left out lie
    // outside the shard.
    std::optional<CaseReport> next();
    // What the lines so far told.
    const JournalState& state() const { return state_; }

private:
    std::string path_;
    std::unique_ptr<JournalLines> lines_;
    std::size_t number_ = 0;
    JournalState state_;
};

class Journal {
public:
    // Opens or makes `directory`/journal.ndjson for appending. A last line that was cut off is
    // removed. Throws EnvironmentError.
    explicit Journal(const std::string& directory);

    // Written before the case's first command runs; survives the death of this process.
    void started(std::uint64_t index, bool alone);
    void committed(const CaseReport& report);
    // What became of a divergence after the last commit.
    void triaged(const nlohmann::json& result);
    void sync();

    // Reads a journal, calling `committed` for each case in index order, those outside the shard
    // with that outcome. Throws as JournalReader does.
    static JournalState load(const std::string& directory,
                             const std::function<void(const CaseReport&)>& committed);

private:
    void append(const std::string& line);

    FileDescriptor file_;
};

}  // namespace difffuzz
