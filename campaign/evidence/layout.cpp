#include "campaign/evidence/layout.hpp"

#include <algorithm>
#include <array>
#include <filesystem>

#include "campaign/evidence/files.hpp"
#include "campaign/shard.hpp"
#include "core/cases/json_fields.hpp"
#include "core/errors.hpp"
#include "core/tools/profile.hpp"

namespace difffuzz {
namespace {

constexpr std::size_t max_campaign_bytes = std::size_t{4} << 20;

// Names in `reference_varies`: a few for each operation.
constexpr std::size_t max_varying = 1024;

constexpr std::array<const char*, 3> folders{"staging", "records", "hangs"};
// What there is besides the folders when a campaign ended before campaign.json was in its place.
constexpr std::array<const char*, 3> first_files{"plan.json", "plan.json.new", "campaign.json.new"};

// Whether there is more than what a campaign leaves that failed before its first case.
bool holds_anything(const std::string& directory) {
    namespace fs = std::filesystem;
    try {
        // A plan alone is somebody's own.
        const bool begun = std::ranges::all_of(folders, [&](const char* folder) {
            return fs::is_directory(fs::symlink_status(directory + "/" + folder));
        });
        for (const auto& entry : fs::directory_iterator(directory)) {
            const fs::path name = entry.path().filename();
            const fs::file_type type = entry.symlink_status().type();
            const bool file =
                type == fs::file_type::regular &&
                (name == "lock" || (begun && std::ranges::any_of(first_files, [&](const char* f) {
                                        return name == f;
                                    })));
            const bool folder =
                std::ranges::any_of(folders, [&](const char* f) { return name == f; });
            if (!file && !(folder && type == fs::file_type::directory && fs::is_empty(entry))) {
                return true;
            }
        }
    } catch (const fs::filesystem_error& error) {
        throw EnvironmentError("cannot look into '" + directory + "': " + error.code().message() +
                               "; name another one with --out");
    }
    return false;
}

// What others rely on.
void require_campaign(const nlohmann::json& campaign) {
    ObjectFields fields(campaign, "");
    require_schema(fields.text("schema", 64), campaign_schema);
    if (const std::string state = fields.text("state", 16);
        state != "complete" && state != "incomplete") {
        throw RecipeError("/state", "must be complete or incomplete");
    }
    ObjectFields terms(fields.required("terms"), "/terms");
    for (const char* number : {"seed", "iterations", "generator", "triage_runs"}) {
        terms.number(number, 0, UINT64_MAX);
    }
    if (const std::string mode = terms.text("determinism", 16);
        mode != "off" && mode != "sample" && mode != "all") {
        throw RecipeError("/terms/determinism", "must be off, sample or all");
    }
    const auto& varies = fields.required("reference_varies");
    if (!varies.is_array() || varies.size() > max_varying) {
        throw RecipeError("/reference_varies", "must be a list of names");
    }
    for (const auto& name : varies) {
        checked_text(name, "/reference_varies", 128);
    }
    for (const char* digest : {"plan", "subject", "reference"}) {
        terms.text(digest, 64);
    }
    ObjectFields shard(terms.required("shard"), "/terms/shard");
    shard.number("index", 0, shard.number("count", 1, max_shards) - 1);
    if (const auto& max_new = terms.required("max_new"); !max_new.is_null()) {
        checked_number(max_new, "/terms/max_new", 1, UINT64_MAX);
    }
    for (const char* tool : {"subject", "reference"}) {
        profile_from_json(fields.required(tool), fields.at(tool));
    }
    if (const nlohmann::json* baseline = fields.optional("baseline")) {
        profile_from_json(*baseline, fields.at("baseline"));
    }
}

}  // namespace

nlohmann::json read_campaign(const std::string& directory) {
    const std::string path = directory + "/campaign.json";
    std::error_code error;
    if (!std::filesystem::exists(std::filesystem::symlink_status(path, error))) {
        throw UsageError("'" + directory +
                         "' holds no campaign (no campaign.json); give the directory that --out "
                         "named, or begin anew without --resume where one ended before its "
                         "first case");
    }
    try {
        nlohmann::json campaign =
            parse_bounded(read_evidence_file(path, max_campaign_bytes), max_campaign_bytes);
        require_campaign(campaign);
        return campaign;
    } catch (const RecipeError& reason) {
        throw UsageError("'" + path + "' is not a campaign of difffuzz: " + reason.what());
    }
}

Plan read_campaign_plan(const std::string& directory) {
    const std::string path = directory + "/plan.json";
    try {
        return plan_from_json(
            parse_bounded(read_evidence_file(path, max_campaign_bytes), max_campaign_bytes));
    } catch (const RecipeError& reason) {
        throw UsageError("'" + path + "' is not a plan of difffuzz: " + reason.what());
    }
}

Evidence open_evidence(const std::string& directory, bool resume) {
    if (resume) {
        read_campaign(directory);  // before anything is made
    }
    std::error_code error;
    std::filesystem::create_directories(directory, error);
    if (error || !std::filesystem::is_directory(directory, error)) {
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
    for (const char* name : folders) {
        make_directory(evidence.root.get(), name);
    }
    evidence.staging = FileDescriptor(open_directory(evidence.root.get(), "staging"));
    return evidence;
}

void write_campaign(const Evidence& evidence, const nlohmann::json& campaign) {
    write_file(evidence.root.get(), "campaign.json", campaign.dump(2) + "\n");
}

}  // namespace difffuzz
