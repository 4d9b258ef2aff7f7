// A campaign as one page. Its style and script are files of reporting/reports/html/; everything
// that depends on the campaign is JSON.
#include <fmt/format.h>

#include "core/cases/base64.hpp"
#include "core/cases/digest.hpp"
#include "reporting/attribution_text.hpp"
#include "reporting/record_text.hpp"
#include "reporting/reports/html_assets.hpp"
#include "reporting/reports/report_data.hpp"
#include "reporting/reports/summary.hpp"
#include "reporting/wording.hpp"

namespace difffuzz {
namespace {

using nlohmann::json;

constexpr std::size_t max_text_bytes = 16 << 10;

std::string html_escaped(const std::string& text) {
    std::string result;
    for (const char byte : text) {
        switch (byte) {
            case '&':
                result += "&amp;";
                break;
            case '<':
                result += "&lt;";
                break;
            case '>':
                result += "&gt;";
                break;
            default:
                result += byte;
        }
    }
    return result;
}

// A script element's text ends at the first "</script", and "<!--" changes how it is read.
std::string inside_script(const json& data) {
    std::string result;
    for (const char byte : data.dump(-1, ' ', true, json::error_handler_t::replace)) {
        result += byte == '<' ? std::string("\\u003c") : std::string(1, byte);
    }
    return result;
}

std::string source_hash(std::string_view text) {
    const std::string hex = sha256_hex(text);
    std::string bytes;
    for (std::size_t at = 0; at < hex.size(); at += 2) {
        bytes += static_cast<char>(std::stoi(hex.substr(at, 2), nullptr, 16));
    }
    return "'sha256-" + base64_encode(bytes) + "'";
}

json side_of(const json& record, const std::string& side) {
    return {{"ending", ending_text(record, side)},
            {"stdout", stream_text(record, side, "stdout", max_text_bytes)},
            {"stderr", stream_text(record, side, "stderr", max_text_bytes)}};
}

json bucket_of(const FoundBucket& bucket, const std::string& script) {
    json shown{{"type", bucket.type},
               {"fingerprint", bucket.fingerprint},
               {"severity", bucket.severity},
               {"status", bucket.status},
               {"operation", bucket.operation},
               {"index", bucket.index},
               {"cases", bucket.cases},
               {"directory", bucket.directory},
               {"script", script}};
    if (bucket.fingerprint.empty()) {
        shown["severity"] = "harness";
        shown["title"] = bucket.operation + ": the case ended difffuzz's own worker twice";
        return shown;
    }
    const json& record = bucket.record;
    const Wording wording = wording_of(record);
    shown["title"] = wording.title;
    shown["what"] = wording.what;
    shown["expected"] = wording.expected;
    shown["suspicion"] = wording.suspicion;
    shown["layer"] = text_field(record.at("symptom"), "layer_name");
    shown["commands"] = commands_text(record, max_text_bytes);
    shown["features"] = features_text(record, max_text_bytes);
    shown["subject"] = side_of(record, "subject");
    shown["reference"] = side_of(record, "reference");
    shown["details"] = record.contains("details")
                           ? record.at("details")
                                 .dump(1, ' ', false, json::error_handler_t::replace)
                                 .substr(0, max_text_bytes)
                           : "";
    shown["attribution"] = attribution_text(record);
    return shown;
}

json page_data(const ReportData& data) {
    json buckets = json::array();
    for (std::size_t i = 0; i < data.buckets.size(); ++i) {
        buckets.push_back(bucket_of(data.buckets[i], data.scripts[i]));
    }
    json series = json::array();
    for (const SeriesPoint& point : data.series) {
        series.push_back({point.index, point.compared, point.buckets});
    }
    json summary = data.summary;
    summary.erase("buckets");
    summary.erase("layers");
    return {{"version", data.version},
            {"summary", summary},
            {"gaps", containment_gaps(data.summary.at("containment"))},
            {"progress", progress_sentence(data)},
            {"buckets", buckets},
            {"series", series}};
}

}  // namespace

std::string html_report(const ReportData& data) {
    const std::string line = html_escaped(text_field(data.summary.at("verdict"), "line"));
    return fmt::format(
        "<!DOCTYPE html>\n<html lang=\"en\">\n<head>\n<meta charset=\"utf-8\">\n"
        "<meta http-equiv=\"Content-Security-Policy\" content=\"default-src 'none'; style-src {}; "
        "script-src {}; base-uri 'none'; form-action 'none'\">\n"
        "<meta name=\"viewport\" content=\"width=device-width, initial-scale=1\">\n"
        "<meta name=\"referrer\" content=\"no-referrer\">\n"
        "<title>difffuzz: {}</title>\n<style>{}</style>\n</head>\n<body>\n"
        "<header><p id=\"verdict\" role=\"status\">{}</p></header>\n<main id=\"main\"></main>\n"
        "<noscript><p>The details need JavaScript; summary.txt of the evidence has them as text."
        "</p></noscript>\n"
        "<script type=\"application/json\" id=\"data\">{}</script>\n<script>{}</script>\n"
        "</body>\n</html>\n",
        source_hash(html_style), source_hash(html_script), line, html_style, line,
        inside_script(page_data(data)), html_script);
}

}  // namespace difffuzz
