// difffuzz known: the known divergences.
#include <ctime>
#include <iostream>
#include <set>

#include <boost/asio/io_context.hpp>
#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include "apps/difffuzz/flags.hpp"
#include "apps/difffuzz/output.hpp"
#include "apps/difffuzz/scratch_directory.hpp"
#include "apps/difffuzz/tools.hpp"
#include "campaign/case_source.hpp"
#include "campaign/identify.hpp"
#include "campaign/known_audit.hpp"
#include "core/errors.hpp"

namespace difffuzz {
namespace {

std::string words_of(const std::vector<std::string>& words) {
    std::string text;
    for (const std::string& word : words) {
        text += (text.empty() ? "" : ",") + word;
    }
    return text;
}

std::string shown_range(const ToolRange& range) {
    return range.tool + (range.versions.text().empty() ? "" : " " + range.versions.text());
}

int list(const Registry& registry) {
    for (const KnownDivergence& entry : registry.entries) {
        print_line(entry.id + "  [" + words_of(entry.operations) + "]  " +
                   shown_range(entry.subject) + " against " + shown_range(entry.reference) +
                   (entry.either_way ? ", and the other way round" : "") +
                   (entry.steers ? "" : "; recognised, not steered around"));
        print_line("    " + entry.reason);
        print_line("    " + entry.link + "; " + entry.owner + ", " + entry.date +
                   ", to be reviewed by " + entry.review_by);
    }
    return static_cast<int>(ExitCode::holds);
}

// In UTC: what has expired is the same for everybody.
std::string today() {
    const std::time_t now = std::time(nullptr);
    std::tm date{};
    ::gmtime_r(&now, &date);
    return fmt::format("{:04}-{:02}-{:02}", date.tm_year + 1900, date.tm_mon + 1, date.tm_mday);
}

int audit(const Registry& registry, const Flags& flags) {
    const std::set<std::string> ids(flags.positional.begin() + 1, flags.positional.end());
    AuditTerms terms;
    terms.ids.assign(ids.begin(), ids.end());
    require_entries(registry, terms.ids);
    CampaignOptions options;
    const ToolPaths tools = find_tools(flags);
    options.subject = tools.subject;
    options.reference = tools.reference;
    options.exposed = exposed_from(flags);
    options.run_as = tool_identity(flags);
    options.limits = limits_from(flags);
    const ScratchDirectory scratch;
    const IdentifiedTools identified = identify_tools(options, scratch.descriptor());
    Plan plan = default_plan();
    plan.formats = identified.formats;
    plan.features = identified.features;
    plan.versions = declared_versions(identified.subject, identified.reference);
    plan.registry_mode = known_enter;
    plan.registry_digest = registry_digest(registry.files);
    check_plan(plan);

    terms.today = today();
    terms.seed = flags.seed.value_or(terms.seed);
    terms.inside = flags.number.value_or(terms.inside);
    boost::asio::io_context context;
    WorkerPool pool(context, options.executable, scratch.descriptor(),
                    worker_setup(options, default_plan()), jobs_from(flags));
    const std::size_t count = ids.empty() ? registry.entries.size() : ids.size();
    std::cout << "incomplete: the audit of " << count << (count == 1 ? " entry" : " entries")
              << " begins\n"
              << std::flush;
    const std::vector<EntryAudit> audits =
        audit_known(pool, registry, plan, terms, [](const EntryAudit& entry) {
            print_line(fmt::format("{:<20} {}: {}", to_string(entry.verdict), entry.id, entry.why));
            std::cout.flush();
        });
    const ExitCode code = audit_exit(audits);
    std::cout << (code == ExitCode::holds           ? "every entry about these tools holds\n"
                  : code == ExitCode::does_not_hold ? "not every entry holds\n"
                                                    : "no verdict: nothing was audited, or a run "
                                                      "could not tell\n");
    return static_cast<int>(code);
}

int known(const Flags& flags) {
    const Registry registry = load_registry(known_steer, flags.known_directory);
    const std::string& what = flags.positional.at(0);
    if (what == "list" && flags.positional.size() == 1) {
        return list(registry);
    }
    if (what == "audit") {
        return audit(registry, flags);
    }
    throw UsageError("'difffuzz known' takes list, or audit and the ids of entries, not '" +
                     what.substr(0, 80) + "'" +
                     (what == "list" ? " and '" + flags.positional[1].substr(0, 80) + "'" : ""));
}

}  // namespace

CommandSpec known_command() {
    return {"known",
            "lists the known divergences, or audits them on the tools at hand",
            "difffuzz known audit --subject ./my-qemu-img --known-dir ./my-known",
            {"--known-dir", "--subject", "--reference", "--seed", "-n,--number", "--jobs",
             "--timeout", "--run-as", "--expose", "--memory-limit", "--disk-limit", "--no-config"},
            "list|audit",
            1,
            1000,
            known};
}

}  // namespace difffuzz
