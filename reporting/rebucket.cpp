#include "reporting/rebucket.hpp"

#include <filesystem>
#include <map>
#include <set>

#include "campaign/evidence/files.hpp"
#include "campaign/evidence/record.hpp"
#include "campaign/triage/fingerprint.hpp"
#include "core/cases/json_fields.hpp"
#include "core/cases/recipe_json.hpp"
#include "core/errors.hpp"
#include "reporting/found_buckets.hpp"

namespace difffuzz {
namespace {

using nlohmann::json;

struct Group {
    std::set<std::string> before;
    std::set<std::string> records;
};
using Groups = std::map<std::pair<std::string, std::string>, Group>;  // by type and fingerprint

void add_record(const std::string& path, const std::string& directory, Groups& groups) {
    try {
        const json record =
            parse_bounded(read_evidence_file(path, max_record_bytes), max_record_bytes, 128);
        ObjectFields fields(record, "");
        const json* found = fields.optional("symptom");
        if (found == nullptr) {
            return;  // the case ended a worker
        }
        const Symptom symptom = symptom_from_json(*found);
        const Case c = case_from_json(fields.required("recipe"));
        const auto culprit =
            static_cast<std::size_t>(fields.number("culprit_step", 0, c.steps.size() - 1));
        const std::string fingerprint = fields.optional("shrinking") != nullptr
                                            ? shrunk_fingerprint(c, symptom)
                                            : unshrunk_fingerprint(c, culprit, symptom);
        Group& group = groups[{record_type(symptom), fingerprint}];
        group.before.insert(fields.text("fingerprint", 64));
        group.records.insert(directory);
    } catch (const RecipeError& error) {
        throw UsageError("'" + path + "' is not a record of difffuzz: " + error.what());
    }
}

}  // namespace

std::vector<NewBucket> rebucketed(const std::string& evidence) {
    Groups groups;
    for (const std::string& path : record_files(evidence)) {
        add_record(path,
                   std::filesystem::path(path).parent_path().lexically_relative(evidence).string(),
                   groups);
    }
    std::vector<NewBucket> buckets;
    for (const auto& [key, group] : groups) {
        buckets.push_back({key.first,
                           key.second,
                           {group.before.begin(), group.before.end()},
                           {group.records.begin(), group.records.end()}});
    }
    return buckets;
}

}  // namespace difffuzz
