// The journal: what was started and what was committed, one JSON object a line, appended.
#pragma once

#include <cstdint>
#include <functional>
#include <map>
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

    // Reads a journal, calling `committed` for each case in index order. Throws EnvironmentError
    // naming the line for a journal that difffuzz did not write.
    static JournalState load(const std::string& directory,
                             const std::function<void(const CaseReport&)>& committed);

private:
    void append(const std::string& line);

    FileDescriptor file_;
};

}  // namespace difffuzz
