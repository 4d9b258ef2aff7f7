#include "campaign/triage/place.hpp"

#include <filesystem>

#include "campaign/evidence/files.hpp"
#include "campaign/evidence/record.hpp"
#include "core/cases/json_fields.hpp"
#include "core/errors.hpp"

namespace difffuzz {
namespace {

namespace fs = std::filesystem;
using nlohmann::json;

void write_record(const std::string& directory, const std::string& name, const json& record) {
    write_file(directory, name, record.dump(2) + "\n");
}

// The record, script and streams of the case as it was seen, as `into`/original.
void copy_first_seen(const std::string& from, const std::string& into) {
    const fs::path target = fs::path(into) / first_seen_folder;
    std::error_code error;
    if (fs::exists(fs::path(from) / first_seen_folder)) {
        fs::copy(fs::path(from) / first_seen_folder, target, fs::copy_options::recursive, error);
    } else {
        fs::copy(from, target, fs::copy_options::recursive, error);
        if (!error) {
            fs::rename(target / "record.json", target / first_seen_record, error);
        }
    }
    if (error == std::errc::io_error && fs::space(into).available == 0) {
        // The library's copy does not tell what ails it.
        error = std::make_error_code(std::errc::no_space_on_device);
    }
    if (error) {
        throw EnvironmentError("cannot copy '" + from + "': " + error.message());
    }
}

}  // namespace

std::string record_directory(const std::string& type, const std::string& fingerprint,
                             std::uint64_t iteration) {
    return "records/" + type + "-" + fingerprint + "/" + std::to_string(iteration);
}

json read_first_seen(const std::string& directory) {
    const fs::path aside = fs::path(directory) / first_seen_folder / first_seen_record;
    return read_record(fs::exists(aside) ? aside.string() : directory + "/record.json");
}

void place_record(const std::string& evidence, const std::string& first,
                  const TriageSession& session, const TriageResult& result) {
    const std::string staged = evidence + "/staging/" + session.sighting().stage;
    if (result.status != "new") {
        remove_tree(staged);
        if (!first.empty()) {
            json record = read_record(evidence + "/" + first + "/record.json");
            finish_record(record, session, result);
            write_record(evidence + "/" + first, "record.json", record);
        }
        return;
    }
    json record = read_record(staged + "/record.json");
    finish_record(record, session, result);
    write_record(staged, "record.json", record);
    if (!first.empty()) {
        copy_first_seen(evidence + "/" + first, staged);
    }
    const std::string target =
        evidence + "/" + record_directory(result.type, result.fingerprint, result.iteration);
    make_evidence_directories(fs::path(target).parent_path());
    replace_directory(staged, target);
}

void restore_first_seen(const std::string& directory) {
    const fs::path seen = fs::path(directory) / first_seen_folder;
    if (fs::exists(seen)) {
        const std::string aside = directory + ".first-seen";
        move_directory(seen, aside);
        remove_tree(directory);
        move_directory(aside, directory);
        std::error_code error;
        fs::rename(fs::path(directory) / first_seen_record, fs::path(directory) / "record.json",
                   error);
        if (error) {
            throw EnvironmentError("cannot rename the record in '" + directory +
                                   "': " + error.message());
        }
        return;
    }
    json record = read_record(directory + "/record.json");
    if (record.at("status") == "flaky") {
        record["status"] = "untriaged";
        record["confirmations"] = json::array();
        write_record(directory, "record.json", record);
    }
}

void drop_first_seen(const std::string& evidence, const std::string& first,
                     const TriageResult& result) {
    if (result.status != "new" || first.empty() ||
        first == record_directory(result.type, result.fingerprint, result.iteration)) {
        return;
    }
    const fs::path seen = fs::path(evidence) / first;
    remove_tree(seen);
    std::error_code ignored;  // others may lie there
    fs::remove(seen.parent_path(), ignored);
}

}  // namespace difffuzz
