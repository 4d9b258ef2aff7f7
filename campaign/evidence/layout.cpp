#include "campaign/evidence/layout.hpp"

#include <filesystem>

#include "campaign/evidence/files.hpp"
#include "core/cases/json_fields.hpp"
#include "core/errors.hpp"

namespace difffuzz {
namespace {

constexpr std::size_t max_campaign_bytes = std::size_t{4} << 20;

bool holds_anything(const std::string& directory) {
    for (const auto& entry : std::filesystem::directory_iterator(directory)) {
        if (entry.path().filename() != "lock") {
            return true;
        }
    }
    return false;
}

}  // namespace

nlohmann::json read_campaign(const std::string& directory) {
    const std::string path = directory + "/campaign.json";
    try {
        nlohmann::json campaign =
            parse_bounded(read_file(path, max_campaign_bytes), max_campaign_bytes);
        if (campaign.value("schema", "") != campaign_schema) {
            throw RecipeError("/schema", "is not '" + std::string(campaign_schema) + "'");
        }
        return campaign;
    } catch (const UsageError&) {
        throw UsageError("'" + directory +
                         "' holds no campaign (no readable campaign.json); give the directory "
                         "that --out named");
    } catch (const std::exception& error) {
        throw UsageError("'" + path + "' is not a campaign of difffuzz: " + error.what());
    }
}

Evidence open_evidence(const std::string& directory, bool resume) {
    std::error_code error;
    std::filesystem::create_directories(directory, error);
    if (error || !std::filesystem::is_directory(directory)) {
        throw EnvironmentError("cannot make the directory '" + directory +
                               "': " + (error ? error.message() : "it is a file") +
                               "; name another one with --out");
    }
    Evidence evidence;
    evidence.directory = directory;
    evidence.lock = std::make_unique<EvidenceLock>(directory);
    if (resume) {
        evidence.earlier = read_campaign(directory);
    } else if (holds_anything(directory)) {
        throw UsageError("'" + directory +
                         "' is not empty; continue what is there with --resume, or name another "
                         "directory with --out");
    }
    evidence.root = FileDescriptor(open_directory(directory));
    remove_tree(directory + "/staging");
    for (const char* name : {"staging", "records", "hangs"}) {
        make_directory(evidence.root.get(), name);
    }
    evidence.staging = FileDescriptor(open_directory(evidence.root.get(), "staging"));
    return evidence;
}

void write_campaign(const Evidence& evidence, const nlohmann::json& campaign) {
    write_file(evidence.root.get(), "campaign.json", campaign.dump(2) + "\n");
}

}  // namespace difffuzz
