#include "reporting/reports/summary.hpp"

#include <algorithm>
#include <array>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "campaign/triage/attribution/attribution.hpp"
#include "oracles/normaliser.hpp"
#include "oracles/shown_text.hpp"
#include "reporting/attribution_text.hpp"
#include "reporting/reports/reach_ledger.hpp"
#include "reporting/seen/comparison.hpp"

namespace difffuzz {
namespace {

using nlohmann::json;

json books_json(const Books& books) {
    json result = json::object();
    for (std::size_t i = 0; i < books.size(); ++i) {
        if (books[i] > 0) {
            result[std::string(to_string(static_cast<Terminal>(i)))] = books[i];
        }
    }
    return result;
}

json operations_json(const Tally& tally) {
    json result = json::object();
    for (const auto& [name, operation] : tally.operations()) {
        result[name] = {{"books", books_json(operation.books)},
                        {"compared", operation.compared},
                        {"valid", operation.valid},
                        {"valid_accepted", operation.valid_accepted},
                        {"refused", operation.refused},
                        {"refused_refused", operation.refused_refused}};
    }
    return result;
}

json layers_json(const Tally& tally) {
    json result = json::object();
    for (const auto& [name, layer] : tally.layers()) {
        result[name] = {{"agreed", layer.agreed},
                        {"diverged", layer.diverged},
                        {"inconclusive", layer.inconclusive},
                        {"not_applicable", layer.not_applicable}};
    }
    return result;
}

// All normalisers that there are; one that never mattered has counts of 0 and no sample.
json normalisers_json(const Tally& tally) {
    json result = json::object();
    const auto add = [&](std::string_view name) {
        const auto found = tally.normalisers().find(std::string(name));
        const NormaliserTally counts =
            found == tally.normalisers().end() ? NormaliserTally{} : found->second;
        result[std::string(name)] = {
            {"comparisons", counts.comparisons},
            {"cases", counts.cases},
            {"sample", counts.cases == 0 ? json(nullptr) : json(counts.first)}};
    };
    for (const TextNormaliser* normaliser : text_normalisers()) {
        add(normaliser->name);
    }
    for (const JsonNormaliser* normaliser : json_normalisers()) {
        add(normaliser->name);
    }
    return result;
}

int severity_rank(const std::string& name) {
    const auto severity = parse_severity(name);
    return severity ? static_cast<int>(*severity) : 99;
}

json buckets_json(const Tally& tally) {
    std::vector<const Bucket*> buckets;
    for (const auto& [fingerprint, bucket] : tally.buckets()) {
        buckets.push_back(&bucket);
    }
    std::sort(buckets.begin(), buckets.end(), [](const Bucket* a, const Bucket* b) {
        return std::tuple(severity_rank(a->severity), a->kept.front()) <
               std::tuple(severity_rank(b->severity), b->kept.front());
    });
    json result = json::array();
    for (const Bucket* bucket : buckets) {
        result.push_back({{"type", bucket->type},
                          {"status", bucket->status},
                          {"severity", bucket->severity},
                          {"fingerprint", bucket->fingerprint},
                          {"cases", bucket->cases},
                          {"kept", bucket->kept},
                          {"directory", bucket->directory()},
                          {"features", bucket->features},
                          {"explanation", bucket->explanation},
                          {"slipped_from", bucket->slipped_from},
                          {"symptom", bucket->symptom},
                          {"attribution", bucket->attribution.is_null() ? to_json(Attribution{})
                                                                        : bucket->attribution}});
        if (!bucket->baseline.is_null()) {
            result.back()["baseline"] = bucket->baseline.at("runs");
        }
    }
    return result;
}

json known_json(const CampaignResult& result) {
    const KnownTally& tally = result.tally.known();
    json entries = json::object();
    for (const auto& [id, counts] : tally.entries()) {
        entries[id] = {{"steered", counts.steered},
                       {"classified", counts.classified},
                       {"inside", counts.inside}};
    }
    return {{"mode", result.plan.registry_mode},
            {"digest", result.plan.registry_digest},
            {"cases", tally.cases()},
            {"entries", std::move(entries)},
            {"warnings", share_warnings(tally, result.known)}};
}

json baseline_json(const CampaignResult& result) {
    json fixed = json::array();
    for (const FixedBucket& bucket : result.fixed.buckets) {
        fixed.push_back({{"type", bucket.type},
                         {"severity", bucket.severity},
                         {"cases", bucket.cases},
                         {"first", bucket.first}});
    }
    return {{"version", result.baseline->version_text},
            {"identity", result.baseline->identity},
            {"cases", result.fixed.cases},
            {"no_answer", result.fixed.no_answer},
            {"fixed", std::move(fixed)}};
}

std::vector<std::string> baseline_lines(const json& baseline) {
    std::vector<std::string> lines;
    if (const auto cases = baseline.at("cases").get<std::uint64_t>(); cases > 0) {
        lines.push_back(fmt::format(
            "fixed meanwhile: {} of what the baseline shows in {} cases the subject does not{}",
            baseline.at("fixed").size(), cases,
            baseline.at("no_answer") == 0
                ? ""
                : fmt::format(" ({} without an answer)",
                              baseline.at("no_answer").get<std::uint64_t>())));
    }
    for (const json& bucket : baseline.at("fixed")) {
        lines.push_back(fmt::format(
            "  {:<12} {:<32} {:>5} cases, the first is {}",
            bucket.at("severity").get<std::string>(), bucket.at("type").get<std::string>(),
            bucket.at("cases").get<std::uint64_t>(), bucket.at("first").get<std::uint64_t>()));
    }
    return lines;
}

std::uint64_t sum_of(const json& counts) {
    std::uint64_t sum = 0;
    for (const auto& item : counts.items()) {
        sum += item.value().get<std::uint64_t>();
    }
    return sum;
}

std::vector<std::string> known_lines(const json& known) {
    std::vector<std::string> lines;
    for (const auto& item : known.at("entries").items()) {
        const std::uint64_t inside = sum_of(item.value().at("inside"));
        lines.push_back(fmt::format(
            "known: {}: moved {} cases, recognised in {} cases{}", item.key(),
            sum_of(item.value().at("steered")), sum_of(item.value().at("classified")),
            inside == 0 ? "" : fmt::format("; {} cases inside it differ in another way", inside)));
    }
    for (const json& warning : known.at("warnings")) {
        lines.push_back("warning: " + warning.get<std::string>());
    }
    return lines;
}

json unavailable_json(const std::vector<UnavailableOperation>& unavailable) {
    json result = json::array();
    for (const UnavailableOperation& one : unavailable) {
        result.push_back({{"operation", one.operation},
                          {"tool", one.tool},
                          {"outcome", one.outcome},
                          {"words", one.words}});
    }
    return result;
}

// How many new buckets each tenth of the cases brought, and where the last one came: whether there
// is more to find can be seen from it.
std::string saturation_line(const json& summary) {
    const auto iterations = summary.at("iterations").get<std::uint64_t>();
    std::array<std::uint64_t, 10> tenths{};
    std::uint64_t last = 0;
    for (const json& bucket : summary.at("buckets")) {
        const auto first = bucket.at("kept").at(0).get<std::uint64_t>();
        last = std::max(last, first);
        ++tenths.at(static_cast<std::size_t>(first * 10 / std::max(iterations, first + 1)));
    }
    return fmt::format("new buckets by tenths of the cases: {}; the last at case {} of {}",
                       fmt::join(tenths, " "), last, iterations);
}

bool is_shown(const json& status) {
    return status == "new" || status == "regression" || status == "pre-existing";
}

json not_done(const CampaignResult& result) {
    json list = json::array();
    if (result.determinism == Determinism::off) {
        list.push_back("determinism of the subject (--determinism off)");
    }
    return list;
}

std::string share(std::uint64_t part, std::uint64_t whole) {
    return whole == 0 ? "-"
                      : fmt::format("{:.1f} %",
                                    100.0 * static_cast<double>(part) / static_cast<double>(whole));
}

}  // namespace

std::vector<std::string> containment_gaps(const json& containment) {
    std::vector<std::string> gaps;
    for (const auto& [key, words] :
         {std::pair{"pid_namespace", "no PID namespace"},
          std::pair{"landlock", "no Landlock: writes are bounded by mounts alone"},
          std::pair{"memory_cgroup", "no writable memory cgroup: memory is bounded by polling"},
          std::pair{"no_new_privileges", "no_new_privs is not set"},
          std::pair{"unprivileged_user", "tools keep privileges"}}) {
        if (!containment.at(key).get<bool>()) {
            gaps.emplace_back(words);
        }
    }
    return gaps;
}

std::vector<std::string> normaliser_lines(const json& normalisers) {
    std::vector<std::string> lines;
    std::string idle;
    for (const auto& item : normalisers.items()) {
        const auto comparisons = item.value().at("comparisons").get<std::uint64_t>();
        if (comparisons == 0) {
            idle += (idle.empty() ? "" : ", ") + item.key();
            continue;
        }
        lines.push_back(
            fmt::format("normaliser {}: {} comparisons in {} cases agree only because "
                        "of it, such as case {}",
                        item.key(), comparisons, item.value().at("cases").get<std::uint64_t>(),
                        item.value().at("sample").get<std::uint64_t>()));
    }
    if (!idle.empty()) {
        lines.push_back("normalisers that never mattered: " + idle);
    }
    return lines;
}

json summary_json(const CampaignResult& result) {
    json controls = json::array();
    for (const ControlResult& control : result.controls) {
        controls.push_back(
            {{"name", control.name}, {"passed", control.passed}, {"line", control.line}});
    }
    json hangs = json::array();
    for (const auto& [index, side] : result.tally.hangs()) {
        hangs.push_back({{"index", index}, {"side", side}});
    }
    json summary{
        {"schema", summary_schema},
        {"verdict",
         {{"exit", static_cast<int>(result.verdict.exit)},
          {"line", result.verdict.line},
          {"reasons", result.verdict.reasons}}},
        {"seed", result.seed},
        {"iterations", result.iterations},
        {"generator", generator_version},
        {"plan", plan_digest(result.plan)},
        {"subject",
         {{"version", result.subject.version_text}, {"identity", result.subject.identity}}},
        {"reference",
         {{"version", result.reference.version_text}, {"identity", result.reference.identity}}},
        {"books", books_json(result.tally.books())},
        {"compared", result.tally.compared()},
        {"operations", operations_json(result.tally)},
        {"layers", layers_json(result.tally)},
        {"reach", reach_ledger(result)},
        {"buckets", buckets_json(result.tally)},
        {"slips_left_out", result.slips_left_out},
        {"hangs", hangs},
        {"not_accepted", result.tally.not_accepted()},
        {"not_compared", result.tally.harness_reasons()},
        {"controls", controls},
        {"unavailable", unavailable_json(result.unavailable)},
        {"normalisers", normalisers_json(result.tally)},
        {"determinism",
         {{"mode", to_string(result.determinism)},
          {"cases", result.tally.run_again()},
          {"reference_varies", result.reference_varies}}},
        {"not_done", not_done(result)},
        {"known", known_json(result)},
        {"containment", to_json(result.containment)},
        {"figures",
         {{"seconds", result.seconds},
          {"workers_cpu_us", result.usage.own_cpu_us},
          {"workers_peak_bytes", result.usage.peak_memory_bytes},
          {"coordinator_cpu_us", result.coordinator_cpu_us},
          {"coordinator_peak_bytes", result.coordinator_peak_bytes},
          {"tools_cpu_us", result.usage.tools_cpu_us}}}};
    if (result.baseline) {
        summary["baseline"] = baseline_json(result);
    }
    return summary;
}

std::string summary_text(const json& summary) {
    std::string text;
    // What it quotes of tools and files cannot steer the terminal.
    const auto add = [&](const std::string& line) { text += printable_text(line) + "\n"; };
    add(fmt::format("subject    {}", summary.at("subject").at("version").get<std::string>()));
    add(fmt::format("reference  {}", summary.at("reference").at("version").get<std::string>()));
    if (summary.contains("baseline")) {
        add(fmt::format("baseline   {}", summary.at("baseline").at("version").get<std::string>()));
    }
    const auto iterations = summary.at("iterations").get<std::uint64_t>();
    add(fmt::format("seed {}, {} {}", summary.at("seed").get<std::uint64_t>(), iterations,
                    iterations == 1 ? "case" : "cases"));
    for (const json& control : summary.at("controls")) {
        add(fmt::format("{} control: {}", control.at("name").get<std::string>(),
                        control.at("line").get<std::string>()));
    }
    add("");
    add(fmt::format("{:<20} {:>7} {:>9} {:>9} {:>9} {:>9}", "operation", "cases", "compared",
                    "diverged", "accepted", "refused"));
    for (const auto& item : summary.at("operations").items()) {
        const json& operation = item.value();
        std::uint64_t cases = 0;
        for (const auto& book : operation.at("books").items()) {
            cases += book.value().get<std::uint64_t>();
        }
        add(fmt::format("{:<20} {:>7} {:>9} {:>9} {:>9} {:>9}", item.key(), cases,
                        share(operation.at("compared"), cases),
                        operation.at("books").value("diverged", 0),
                        share(operation.at("valid_accepted"), operation.at("valid")),
                        share(operation.at("refused_refused"), operation.at("refused"))));
    }
    add("  (accepted: valid cases that the reference accepted; refused: cases that break a rule "
        "and");
    add("   that the reference refused)");
    add("");
    std::string books = "outcomes:";
    for (const auto& item : summary.at("books").items()) {
        books += fmt::format(" {} {}", item.key(), item.value().get<std::uint64_t>());
    }
    add(books);
    for (const char* list : {"not_accepted", "not_compared"}) {
        for (const auto& item : summary.at(list).items()) {
            add(fmt::format(
                "  {}: {} ({})",
                std::string(list) == "not_accepted" ? "valid but refused" : "not compared",
                item.key(), item.value().get<std::uint64_t>()));
        }
    }
    for (const json& one : summary.at("unavailable")) {
        const auto words = one.at("words").get<std::string>();
        add(fmt::format("not available: {} ({}: {}{})", one.at("operation").get<std::string>(),
                        one.at("tool").get<std::string>(), one.at("outcome").get<std::string>(),
                        words.empty() ? "" : ", '" + words + "'"));
    }
    for (const json& hang : summary.at("hangs")) {
        add(fmt::format("suspected hang: case {} of the {}", hang.at("index").get<std::uint64_t>(),
                        hang.at("side").get<std::string>()));
    }
    for (const std::string& gap : containment_gaps(summary.at("containment"))) {
        add("warning: containment: " + gap);
    }
    for (const std::string& line : known_lines(summary.at("known"))) {
        add(line);
    }
    std::vector<json> shown;
    std::ranges::copy_if(summary.at("buckets"), std::back_inserter(shown),
                         [](const json& bucket) { return is_shown(bucket.at("status")); });
    // Regressions are what was asked for.
    std::ranges::stable_partition(
        shown, [](const json& bucket) { return bucket.at("status") != "pre-existing"; });
    if (summary.contains("baseline")) {
        for (const std::string& line : baseline_lines(summary.at("baseline"))) {
            add(line);
        }
    }
    if (!shown.empty()) {
        add("");
        add("new divergences, worst first:");
        for (const json& bucket : shown) {
            const json& symptom = bucket.at("symptom");
            const auto bucket_cases = bucket.at("cases").get<std::uint64_t>();
            const auto status = bucket.at("status").get<std::string>();
            add(fmt::format("  {:<12} {:<32} {:>5} {:<5}  {}{}",
                            bucket.at("severity").get<std::string>(),
                            bucket.at("type").get<std::string>(), bucket_cases,
                            bucket_cases == 1 ? "case" : "cases", symptom.value("field", ""),
                            status == "new" ? "" : " (" + status + ")"));
            for (const char* side : {"subject_message", "reference_message"}) {
                if (const std::string message = symptom.value(side, ""); !message.empty()) {
                    add(fmt::format("      {}: {}",
                                    std::string(side).substr(0, std::string(side).find('_')),
                                    message));
                }
            }
            for (const std::string& line : attribution_lines(bucket)) {
                add("      " + line);
            }
            for (const json& line : bucket.at("explanation")) {
                add("      " + line.get<std::string>());
            }
            add(fmt::format("      {}/{}", bucket.at("directory").get<std::string>(),
                            bucket.at("kept").at(0).get<std::uint64_t>()));
        }
    }
    if (const auto slips = summary.value("slips_left_out", std::uint64_t{0}); slips > 0) {
        add(fmt::format("met while shrinking and not followed: {} further {}", slips,
                        slips == 1 ? "symptom" : "symptoms"));
    }
    if (!summary.at("buckets").empty()) {
        add(saturation_line(summary));
    }
    add("");
    for (const std::string& line : reach_lines(summary.at("reach"))) {
        add(line);
    }
    if (summary.contains("seen")) {
        for (const std::string& line : seen_lines(summary.at("seen"))) {
            add(line);
        }
    }
    for (const std::string& line : normaliser_lines(summary.at("normalisers"))) {
        add(line);
    }
    for (const json& name : summary.at("determinism").at("reference_varies")) {
        add("the reference does not repeat itself: " + name.get<std::string>());
    }
    for (const json& item : summary.at("not_done")) {
        add("not done: " + item.get<std::string>());
    }
    for (const json& reason : summary.at("verdict").at("reasons")) {
        add("reason: " + reason.get<std::string>());
    }
    add("verdict: " + summary.at("verdict").at("line").get<std::string>());
    return text;
}

}  // namespace difffuzz
