// Where a campaign's evidence comes from: program, machine, command, time, the subject's source.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include <nlohmann/json.hpp>

namespace difffuzz {

// What the command line knows of one run, for campaign.json.
struct RunOrigin {
    std::vector<std::string> command;  // the exact words
    std::string version;               // of difffuzz
    std::string executable;            // that runs; hashed
    std::optional<std::uint64_t> granted_seconds;
};

// The machine and the file system that holds `directory`: kernel, processors, memory.
nlohmann::json host_json(const std::string& directory);

// One entry of the list "runs" of campaign.json: a campaign has one for its start and one for each
// time it was resumed. `used_seconds` is null until it ends; one that was killed never tells.
nlohmann::json run_json(const RunOrigin& origin, const std::string& directory);

}  // namespace difffuzz
