// difffuzz report: what a campaign's evidence says.
#include <algorithm>
#include <filesystem>
#include <iostream>

#include <nlohmann/json.hpp>

#include "apps/difffuzz/flags.hpp"
#include "apps/difffuzz/input.hpp"
#include "campaign/evidence/files.hpp"
#include "campaign/evidence/layout.hpp"
#include "core/cases/json_fields.hpp"
#include "core/errors.hpp"
#include "oracles/shown_text.hpp"
#include "reporting/reports/canonical.hpp"
#include "reporting/reports/report_data.hpp"
#include "reporting/reports/summary.hpp"

namespace difffuzz {
namespace {

constexpr std::size_t max_summary_bytes = std::size_t{64} << 20;

struct Output {
    const std::string& file;
    std::string (*report)(const ReportData& data);
};

void write_report(const std::string& file, const std::string& content) {
    const std::filesystem::path path = std::filesystem::absolute(file).lexically_normal();
    if (!path.has_filename()) {
        throw UsageError("'" + file + "' names a directory; name the file that gets the report");
    }
    write_file(path.parent_path().string(), path.filename().string(), content);
}

int report(const Flags& flags) {
    const std::string& evidence = flags.positional.at(0);
    const nlohmann::json campaign = read_campaign(evidence);
    if (flags.canonical) {
        print_canonical(evidence, std::cout);
        return static_cast<int>(ExitCode::holds);
    }
    if (!ended_or_told(campaign, evidence)) {
        return static_cast<int>(ExitCode::no_verdict);
    }
    const std::string path = evidence + "/summary.json";
    const Output outputs[] = {{flags.html, html_report},
                              {flags.junit, junit_report},
                              {flags.sarif, sarif_report},
                              {flags.markdown, markdown_report}};
    const bool files =
        std::ranges::any_of(outputs, [](const Output& output) { return !output.file.empty(); });
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
                if (!output.file.empty()) {
                    write_report(output.file, output.report(data));
                }
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
    std::cout << text;
    return static_cast<int>(ExitCode::holds);
}

}  // namespace

CommandSpec report_command() {
    return {"report",
            "prints what a campaign found, from its evidence",
            "difffuzz report difffuzz-out/42 --html report.html --junit report.xml",
            {"--html", "--junit", "--sarif", "--markdown", "--canonical", "--json"},
            "EVIDENCE",
            1,
            1,
            report};
}

}  // namespace difffuzz
