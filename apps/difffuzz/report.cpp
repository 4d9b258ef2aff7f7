// difffuzz report: what a campaign's evidence says.
#include <algorithm>
#include <iostream>

#include <nlohmann/json.hpp>

#include "apps/difffuzz/flags.hpp"
#include "apps/difffuzz/input.hpp"
#include "apps/difffuzz/output_file.hpp"
#include "campaign/evidence/files.hpp"
#include "campaign/evidence/layout.hpp"
#include "campaign/triage/fingerprint.hpp"
#include "core/cases/json_fields.hpp"
#include "core/errors.hpp"
#include "oracles/shown_text.hpp"
#include "reporting/rebucket.hpp"
#include "reporting/reports/canonical.hpp"
#include "reporting/reports/report_data.hpp"
#include "reporting/reports/summary.hpp"

namespace difffuzz {
namespace {

constexpr std::size_t max_summary_bytes = std::size_t{64} << 20;

struct Output {
    OutputFile file;
    std::string (*report)(const ReportData& data);
};

std::vector<Output> outputs_from(const Flags& flags) {
    struct Row {
        const char* flag;
        const std::string& named;
        std::string (*report)(const ReportData& data);
    };
    std::vector<Output> outputs;
    std::vector<OutputFile> files;
    for (const Row& row :
         {Row{"--html", flags.html, html_report}, Row{"--junit", flags.junit, junit_report},
          Row{"--sarif", flags.sarif, sarif_report},
          Row{"--markdown", flags.markdown, markdown_report}}) {
        if (!row.named.empty()) {
            outputs.push_back({output_file(row.flag, row.named), row.report});
            files.push_back(outputs.back().file);
        }
    }
    require_different(files);
    return outputs;
}

// The report that goes to standard output would be mixed with what is printed there.
bool prints_report(const std::vector<Output>& outputs) {
    return std::ranges::any_of(
        outputs, [](const Output& output) { return output.file.is_standard_output(); });
}

void print_rebucketed(const std::vector<NewBucket>& buckets, bool as_json) {
    nlohmann::json list = nlohmann::json::array();
    for (const NewBucket& bucket : buckets) {
        if (as_json) {
            list.push_back({{"type", bucket.type},
                            {"fingerprint", bucket.fingerprint},
                            {"before", bucket.before},
                            {"records", bucket.records}});
            continue;
        }
        std::string line = bucket.type + "-" + bucket.fingerprint + ": " +
                           std::to_string(bucket.records.size()) +
                           (bucket.records.size() == 1 ? " record" : " records");
        for (const std::string& before : bucket.before) {
            if (before != bucket.fingerprint) {
                line += ", was " + before;
            }
        }
        std::cout << printable_text(line) << "\n";
    }
    if (as_json) {
        std::cout << nlohmann::json{{"schema", "difffuzz.rebucket/1"},
                                    {"fingerprint_version", fingerprint_version},
                                    {"buckets", std::move(list)}}
                         .dump(2, ' ', true)
                  << "\n";
    }
}

int report(const Flags& flags) {
    const std::string& evidence = flags.positional.at(0);
    const std::vector<Output> outputs = outputs_from(flags);
    const bool files = !outputs.empty();
    if (flags.canonical && (flags.json || files)) {
        throw UsageError("--canonical prints the records alone; it goes with no other flag");
    }
    if (flags.rebucket && (flags.canonical || files)) {
        throw UsageError("--rebucket prints buckets alone; of the other flags it takes --json");
    }
    if (flags.json && prints_report(outputs)) {
        throw UsageError("--json and a report on standard output do not go together");
    }
    const nlohmann::json campaign = read_campaign(evidence);
    if (flags.canonical) {
        print_canonical(evidence, std::cout);
        return static_cast<int>(ExitCode::holds);
    }
    if (flags.rebucket) {
        print_rebucketed(rebucketed(evidence), flags.json);
        return static_cast<int>(ExitCode::holds);
    }
    if (!ended_or_told(campaign, evidence)) {
        return static_cast<int>(ExitCode::no_verdict);
    }
    const std::string path = evidence + "/summary.json";
    std::string text;
    try {
        const nlohmann::json summary =
            parse_bounded(read_evidence_file(path, max_summary_bytes), max_summary_bytes, 64);
        if (!summary.is_object()) {
            throw RecipeError("", "must be an object");
        }
        require_schema(summary.at("schema").get<std::string>(), summary_schema);
        if (files) {
            const ReportData data = load_report_data(evidence, summary, DIFFFUZZ_VERSION);
            for (const Output& output : outputs) {
                write_output(output.file, output.report(data));
            }
        }
        text = flags.json ? summary.dump(2, ' ', true) + "\n"
               : files    ? summary.at("verdict").at("line").get<std::string>()
                          : summary_text(summary);
        if (files && !flags.json) {
            text = "verdict: " + printable_text(text) + "\n";
        }
    } catch (const RecipeError& error) {
        throw UsageError("'" + path + "' is not a summary of difffuzz: " + error.what());
    } catch (const nlohmann::json::exception&) {
        throw UsageError("'" + path +
                         "' is not a summary of difffuzz: a field is missing or of another type");
    }
    (prints_report(outputs) ? std::cerr : std::cout) << text;
    return static_cast<int>(ExitCode::holds);
}

}  // namespace

CommandSpec report_command() {
    return {"report",
            "prints what a campaign found, from its evidence",
            "difffuzz report difffuzz-out/42 --html report.html --junit report.xml",
            {"--html", "--junit", "--sarif", "--markdown", "--canonical", "--rebucket", "--json"},
            "EVIDENCE",
            1,
            1,
            report};
}

}  // namespace difffuzz
