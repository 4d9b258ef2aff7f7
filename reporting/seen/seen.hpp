// --seen of a run: what earlier campaigns left, and where this one is remembered.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include <nlohmann/json_fwd.hpp>

#include "reporting/seen/memory.hpp"
#include "reporting/seen/memory_database.hpp"

namespace difffuzz {

class Seen {
public:
    // A path that is a directory holds evidence; any other is a database, made if it is not there.
    // `evidence` is the campaign's own, which counts for nothing. Throws UsageError or
    // EnvironmentError.
    Seen(const std::vector<std::string>& paths, const std::string& evidence);

    // The summary's field "seen" (reporting/seen/comparison.hpp).
    nlohmann::json compared_with(const nlohmann::json& summary) const;
    // Adds the campaign to the databases, with today's date.
    void remember(const nlohmann::json& summary);

private:
    Memory memory_;
    std::vector<std::unique_ptr<MemoryDatabase>> databases_;
};

}  // namespace difffuzz
