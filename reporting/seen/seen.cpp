#include "reporting/seen/seen.hpp"

#include <filesystem>

#include <nlohmann/json.hpp>

#include "reporting/seen/comparison.hpp"
#include "reporting/seen/dates.hpp"
#include "reporting/seen/evidence_memory.hpp"

namespace difffuzz {

namespace fs = std::filesystem;

Seen::Seen(const std::vector<std::string>& paths, const std::string& evidence) {
    std::error_code error;
    const std::string own = fs::weakly_canonical(fs::absolute(evidence, error), error);
    for (const std::string& path : paths) {
        if (fs::is_directory(path, error)) {
            remember_evidence(path, own, memory_);
        } else {
            databases_.push_back(std::make_unique<MemoryDatabase>(path));
            databases_.back()->load_into(memory_);
        }
    }
}

nlohmann::json Seen::compared_with(const nlohmann::json& summary) const {
    return seen_json(memory_, summary);
}

void Seen::remember(const nlohmann::json& summary) {
    const std::string today = date_of(std::chrono::system_clock::now());
    for (const auto& database : databases_) {
        database->add(campaign_key(summary), facts_of(summary), today);
    }
}

}  // namespace difffuzz
