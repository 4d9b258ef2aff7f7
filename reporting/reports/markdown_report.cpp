// A campaign in GitHub's Markdown.
#include <fmt/format.h>

#include "oracles/shown_text.hpp"
#include "reporting/attribution_text.hpp"
#include "reporting/markdown.hpp"
#include "reporting/record_text.hpp"
#include "reporting/reports/report_data.hpp"
#include "reporting/reports/summary.hpp"
#include "reporting/wording.hpp"

namespace difffuzz {
namespace {

using nlohmann::json;

constexpr std::size_t max_report_bytes = 60'000;
constexpr std::size_t max_quoted_stream_bytes = 800;

std::string folded(const std::string& summary, const std::string& content) {
    return "<details><summary>" + summary + "</summary>\n\n" + content + "\n</details>\n\n";
}

std::string outcome(const json& record, const std::string& side) {
    std::string lines = side + ": " + ending_text(record, side) + "\n";
    for (const char* stream : {"stdout", "stderr"}) {
        const std::string printed = stream_text(record, side, stream, max_quoted_stream_bytes);
        lines += printed + (printed.empty() || printed.ends_with('\n') ? "" : "\n");
    }
    return lines;
}

std::string bucket_section(const FoundBucket& bucket) {
    if (bucket.fingerprint.empty()) {
        return "- A case ended difffuzz's own worker twice: `" +
               plain_words(bucket.directory, 160) + "`\n\n";
    }
    const Wording wording = wording_of(bucket.record);
    const std::string attribution = attribution_text(bucket.record);
    const std::string head = fmt::format(
        "<b>{}</b>: {} ({} {}, {})", plain_words(bucket.severity, 40), wording.title, bucket.cases,
        bucket.cases == 1 ? "case" : "cases", plain_words(bucket.status, 80));
    return folded(
        head,
        wording.what + "\n\n" + (attribution.empty() ? "" : fenced(attribution, "text") + "\n") +
            wording.expected + "\n\n" + fenced(commands_text(bucket.record, 2'000), "sh") + "\n" +
            fenced(outcome(bucket.record, "subject") + outcome(bucket.record, "reference"),
                   "text") +
            "\n`" + plain_words(bucket.directory, 160) + "`\n");
}

}  // namespace

std::string markdown_report(const ReportData& data) {
    const json& summary = data.summary;
    std::string text = "## " + plain_words(text_field(summary.at("verdict"), "line"), 300) + "\n\n";
    std::string tools;
    for (const char* side : {"subject", "reference"}) {
        tools += fmt::format("{:<11}{}\n", side, text_field(summary.at(side), "version"));
    }
    text += fenced(tools, "text") + "\n" + progress_sentence(data) +
            fmt::format(" Seed {}.\n\n", summary.at("seed").get<std::uint64_t>());
    for (const json& reason : summary.at("verdict").at("reasons")) {
        text += "- " + plain_words(reason.get<std::string>(), 300) + "\n";
    }
    for (const json& control : summary.at("controls")) {
        text += fmt::format("- {} control: {}\n", plain_words(text_field(control, "name"), 40),
                            plain_words(text_field(control, "line"), 300));
    }
    for (const std::string& line : normaliser_lines(summary.at("normalisers"))) {
        text += "- " + plain_words(line, 300) + "\n";
    }
    text += "\n";
    std::size_t left_out = 0;
    for (const FoundBucket& bucket : data.buckets) {
        const std::string section = bucket_section(bucket);
        if (text.size() + section.size() > max_report_bytes) {
            ++left_out;
        } else {
            text += section;
        }
    }
    if (left_out > 0) {
        text +=
            fmt::format("Of {} more buckets there is no room here: see the evidence.\n", left_out);
    }
    return text;
}

}  // namespace difffuzz
