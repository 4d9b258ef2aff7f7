// JUnit's XML, in the form that Jenkins, GitLab and others read.
#include <map>

#include <fmt/format.h>

#include "oracles/shown_text.hpp"
#include "reporting/record_text.hpp"
#include "reporting/reports/report_data.hpp"
#include "reporting/wording.hpp"

namespace difffuzz {
namespace {

using nlohmann::json;

constexpr std::size_t max_stream_bytes = 2'000;

// Text or an attribute's value. XML cannot hold control characters even as references.
std::string xml_escaped(const std::string& text) {
    std::string result;
    for (std::size_t at = 0; at < text.size();) {
        const char byte = text[at];
        const std::size_t length = printable_length(text, at);
        if (byte == '&') {
            result += "&amp;";
        } else if (byte == '<') {
            result += "&lt;";
        } else if (byte == '>') {
            result += "&gt;";
        } else if (byte == '"') {
            result += "&quot;";
        } else if (byte == '\n') {
            result += "&#10;";
        } else if (length == 0) {
            result += shown_text(text.substr(at, 1), 16);
        } else {
            result += text.substr(at, length);
        }
        at += length == 0 ? 1 : length;
    }
    return result;
}

struct Suite {
    unsigned tests = 0;
    unsigned failures = 0;
    unsigned errors = 0;
    unsigned skipped = 0;
    std::string cases;

    void add(const std::string& suite, const std::string& name, const std::string& inside) {
        ++tests;
        cases += fmt::format("    <testcase classname=\"difffuzz.{}\" name=\"{}\"{}\n",
                             xml_escaped(suite), xml_escaped(name),
                             inside.empty() ? "/>" : ">\n" + inside + "    </testcase>");
    }
};

std::string problem(const char* element, const std::string& type, const std::string& message,
                    const std::string& text) {
    return fmt::format("      <{0} type=\"{1}\" message=\"{2}\">{3}</{0}>\n", element,
                       xml_escaped(type), xml_escaped(message), xml_escaped(text));
}

std::string bucket_text(const FoundBucket& bucket) {
    const json& record = bucket.record;
    std::string text = bucket.directory + "\n" + commands_text(record, max_stream_bytes);
    for (const char* side : {"subject", "reference"}) {
        text += std::string(side) + ": " + ending_text(record, side) + "\n";
        for (const char* stream : {"stdout", "stderr"}) {
            text += stream_text(record, side, stream, max_stream_bytes);
        }
    }
    return text;
}

void add_bucket(const FoundBucket& bucket, Suite& suite) {
    const bool harness = bucket.fingerprint.empty();
    const std::string name =
        bucket.type + "-" + (harness ? std::to_string(bucket.index) : bucket.fingerprint);
    if (harness) {
        ++suite.errors;
        suite.add(bucket.operation, name,
                  problem("error", bucket.status, "the case ended difffuzz's own worker twice",
                          bucket.directory));
        return;
    }
    const Wording wording = wording_of(bucket.record);
    if (bucket.status.starts_with("known") || bucket.status == "pre-existing" ||
        bucket.severity == "reference") {
        ++suite.skipped;
        suite.add(
            bucket.operation, name,
            fmt::format("      <skipped message=\"{}: {}\"/>\n",
                        xml_escaped(bucket.severity == "reference" ? "the reference's own fault"
                                                                   : bucket.status),
                        xml_escaped(wording.title)));
        return;
    }
    ++suite.failures;
    suite.add(bucket.operation, name,
              problem("failure", bucket.severity, wording.title, bucket_text(bucket)));
}

}  // namespace

std::string junit_report(const ReportData& data) {
    std::map<std::string, Suite> suites;
    Suite& campaign = suites["campaign"];
    for (const json& control : data.summary.at("controls")) {
        const bool passed = control.at("passed").get<bool>();
        const std::string line = control.at("line").get<std::string>();
        campaign.errors += passed ? 0 : 1;
        campaign.add("campaign", control.at("name").get<std::string>() + " control",
                     passed ? "" : problem("error", "control", line, line));
    }
    const json& verdict = data.summary.at("verdict");
    const bool none = verdict.at("exit").get<int>() > 1;
    campaign.errors += none ? 1 : 0;
    const std::string line = verdict.at("line").get<std::string>();
    campaign.add("campaign", "verdict", none ? problem("error", "no verdict", line, line) : "");
    for (const auto& operation : data.summary.at("operations").items()) {
        Suite& suite = suites[operation.key()];
        suite.add(
            operation.key(),
            fmt::format("{} cases compared", operation.value().at("compared").get<std::uint64_t>()),
            "");
    }
    for (const FoundBucket& bucket : data.buckets) {
        add_bucket(bucket, suites[bucket.operation]);
    }
    Suite all;
    std::string inside;
    for (const auto& [name, suite] : suites) {
        all.tests += suite.tests;
        all.failures += suite.failures;
        all.errors += suite.errors;
        all.skipped += suite.skipped;
        inside += fmt::format(
            "  <testsuite name=\"{}\" tests=\"{}\" failures=\"{}\" errors=\"{}\" "
            "skipped=\"{}\">\n{}  </testsuite>\n",
            xml_escaped(name), suite.tests, suite.failures, suite.errors, suite.skipped,
            suite.cases);
    }
    return fmt::format(
        "<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n<testsuites name=\"difffuzz\" tests=\"{}\" "
        "failures=\"{}\" errors=\"{}\">\n{}</testsuites>\n",
        all.tests, all.failures, all.errors, inside);
}

}  // namespace difffuzz
