#include "reporting/reports/canonical.hpp"

#include <map>

#include <nlohmann/json.hpp>

#include "campaign/evidence/files.hpp"
#include "campaign/evidence/journal.hpp"
#include "campaign/evidence/layout.hpp"
#include "campaign/evidence/record.hpp"
#include "campaign/tally.hpp"
#include "campaign/triage/triage.hpp"
#include "core/cases/json_fields.hpp"
#include "core/errors.hpp"
#include "reporting/found_buckets.hpp"

namespace difffuzz {
namespace {

// What of a record is the same each time. A tool that does not repeat itself gives other details,
// and what is left of a case that was shrunk by them may be another one.
nlohmann::json repeatable(const nlohmann::json& record) {
    if (record.value("status", "") != "flaky" &&
        record.value("severity", "") != to_string(Severity::nondeterminism)) {
        return record;
    }
    nlohmann::json kept = nlohmann::json::object();
    for (const char* field : {"schema", "type", "operation", "severity", "status", "recipe",
                              "original_recipe", "seed", "iteration", "generator", "plan"}) {
        if (record.contains(field)) {
            kept[field] = record.at(field);
        }
    }
    return kept;
}

}  // namespace

void print_canonical(const std::string& evidence, std::ostream& out) {
    read_campaign(evidence);
    std::map<std::pair<std::uint64_t, std::string>, std::string> records;
    for (const std::string& path : record_files(evidence)) {
        try {
            const nlohmann::json record =
                parse_bounded(read_evidence_file(path, max_record_bytes), max_record_bytes, 128);
            ObjectFields fields(record, "");
            require_schema(fields.text("schema", 64), record_schema);
            records[{fields.number("iteration", 0, UINT64_MAX), path}] =
                repeatable(record).dump(-1, ' ', true);
        } catch (const RecipeError& error) {
            throw UsageError("'" + path + "' is not a record of difffuzz: " + error.what());
        }
    }
    for (const auto& [place, line] : records) {
        out << line << "\n";
    }
    Tally tally;
    const JournalState journal =
        Journal::load(evidence, [&](const CaseReport& report) { tally.add(report); });
    tally.set_buckets(buckets_after(tally, triaged_before(journal, evidence)));
    for (const auto& [fingerprint, bucket] : tally.buckets()) {
        out << nlohmann::json{{"fingerprint", fingerprint},
                              {"type", bucket.type},
                              {"status", bucket.status},
                              {"cases", bucket.cases},
                              {"kept", bucket.kept}}
                   .dump(-1, ' ', true)
            << "\n";
    }
}

}  // namespace difffuzz
