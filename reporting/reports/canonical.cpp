#include "reporting/reports/canonical.hpp"

#include <filesystem>
#include <map>

#include <nlohmann/json.hpp>

#include "campaign/evidence/files.hpp"
#include "campaign/evidence/journal.hpp"
#include "campaign/evidence/layout.hpp"
#include "campaign/tally.hpp"
#include "core/cases/json_fields.hpp"

namespace difffuzz {
namespace {

namespace fs = std::filesystem;

constexpr std::size_t max_record_bytes = std::size_t{16} << 20;

}  // namespace

void print_canonical(const std::string& evidence, std::ostream& out) {
    read_campaign(evidence);
    std::map<std::pair<std::uint64_t, std::string>, std::string> records;
    for (const auto& entry : fs::recursive_directory_iterator(evidence + "/records")) {
        if (entry.path().filename() != "record.json") {
            continue;
        }
        const nlohmann::json record =
            parse_bounded(read_file(entry.path(), max_record_bytes), max_record_bytes, 128);
        records[{record.at("iteration").get<std::uint64_t>(), entry.path()}] = record.dump();
    }
    for (const auto& [place, line] : records) {
        out << line << "\n";
    }
    Tally tally;
    Journal::load(evidence, [&](const CaseReport& report) { tally.add(report); });
    for (const auto& [fingerprint, bucket] : tally.buckets()) {
        out << nlohmann::json{{"fingerprint", fingerprint},
                              {"type", bucket.type},
                              {"cases", bucket.cases},
                              {"kept", bucket.kept}}
                   .dump()
            << "\n";
    }
}

}  // namespace difffuzz
