#include "reporting/seen/evidence_memory.hpp"

#include <chrono>
#include <filesystem>

#include <nlohmann/json.hpp>

#include "campaign/evidence/files.hpp"
#include "core/cases/json_fields.hpp"
#include "core/errors.hpp"
#include "reporting/seen/dates.hpp"

namespace difffuzz {
namespace {

namespace fs = std::filesystem;

constexpr std::size_t max_summary_bytes = std::size_t{64} << 20;

bool is_campaign(const fs::path& directory) {
    std::error_code error;
    return fs::exists(directory / "campaign.json", error);
}

// One that did not end has no summary, and says nothing yet.
void remember_campaign(const fs::path& directory, Memory& memory) {
    const std::string path = directory / "summary.json";
    std::error_code error;
    const auto written = fs::last_write_time(path, error);
    if (error) {
        return;
    }
    try {
        const nlohmann::json summary =
            parse_bounded(read_evidence_file(path, max_summary_bytes), max_summary_bytes, 64);
        memory.add(campaign_key(summary), facts_of(summary),
                   date_of(std::chrono::file_clock::to_sys(written)));
    } catch (const RecipeError& reason) {
        throw UsageError("'" + path + "' is not a summary of difffuzz: " + reason.what());
    } catch (const nlohmann::json::exception&) {
        throw UsageError("'" + path +
                         "' is not a summary of difffuzz: a field is missing or of another type");
    }
}

}  // namespace

void remember_evidence(const std::string& directory, const std::string& but_not, Memory& memory) {
    std::vector<fs::path> campaigns;
    try {
        if (is_campaign(directory)) {
            campaigns.emplace_back(directory);
        } else {
            for (const auto& entry : fs::directory_iterator(directory)) {
                if (is_campaign(entry.path())) {
                    campaigns.push_back(entry.path());
                }
            }
        }
    } catch (const fs::filesystem_error& error) {
        throw UsageError("--seen: cannot look into '" + directory + "': " + error.code().message());
    }
    if (campaigns.empty()) {
        throw UsageError("--seen: neither '" + directory +
                         "' nor a directory in it holds a campaign; name the evidence of earlier "
                         "campaigns, or a file for a database");
    }
    for (const fs::path& campaign : campaigns) {
        std::error_code error;
        if (fs::weakly_canonical(campaign, error) != fs::path(but_not)) {
            remember_campaign(campaign, memory);
        }
    }
}

}  // namespace difffuzz
