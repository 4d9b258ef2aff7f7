#include "campaign/known_audit.hpp"

#include <algorithm>
#include <map>

#include <fmt/format.h>

#include "campaign/run_tasks.hpp"
#include "core/cases/recipe_json.hpp"
#include "core/suggest.hpp"
#include "core/tools/dialect.hpp"

namespace difffuzz {
namespace {

constexpr unsigned exhibit_runs = 3;

Task task_of(Case c, std::uint64_t index) {
    Task task;
    task.index = index;
    task.recipe = std::move(c);
    return task;
}

std::string shown(const nlohmann::json& symptom, const std::string& field) {
    return "'" + symptom.value(field, "").substr(0, 160) + "'";
}

// What a case's tools are asked to do, for a message.
std::string commands(const Case& c) {
    std::string text;
    for (const Step& step : c.steps) {
        if (step.actor == Actor::tool) {
            text += text.empty() ? "" : "; ";
            for (const std::string& word : render_step(c, step)) {
                text += (text.empty() || text.ends_with("; ") ? "" : " ") + word;
            }
        }
    }
    constexpr std::size_t longest = 400;
    return text.substr(0, longest);
}

// What one entry is held against: its own place in the registry, its effects for these tools.
class EntryAuditor {
public:
    EntryAuditor(WorkerPool& pool, const Registry& registry, const Plan& plan, KnownFilter& filter,
                 const AuditTerms& terms, std::size_t entry)
        : pool_(pool),
          plan_(plan),
          filter_(filter),
          terms_(terms),
          place_(entry),
          entry_(registry.entries[entry]),
          effects_(effects_for(entry_, fit(entry_, declared_pair(plan)))) {
        audit_.id = entry_.id;
    }

    EntryAudit run() {
        exhibit_ = case_from_text(entry_.exhibit);
        if (!inside(exhibit_)) {
            return ended(AuditVerdict::drifted, "its predicate does not hold for its exhibit");
        }
        if (const auto verdict = exhibit_verdict()) {
            return *verdict;
        }
        run_inside();
        return inside_verdict();
    }

private:
    EntryAudit ended(AuditVerdict verdict, std::string why) {
        audit_.verdict = verdict;
        audit_.why = std::move(why);
        return audit_;
    }

    bool inside(const Case& c) {
        for (std::size_t s = 0; s < c.steps.size(); ++s) {
            if (filter_.holds(place_, c, s)) {
                return true;
            }
        }
        return false;
    }

    bool culprit_inside(const Case& c, const CaseReport& report) {
        return filter_.holds(place_, c, static_cast<std::size_t>(report.culprit_step));
    }

    bool shows(const Case& c, const CaseReport& report) {
        if (report.terminal != Terminal::diverged || !culprit_inside(c, report)) {
            return false;
        }
        const Symptom symptom = symptom_from_json(report.symptom);
        return std::ranges::any_of(effects_, [&](const Effect& effect) {
            return differing_fields(effect, symptom).empty();
        });
    }

    // Which fields of the nearest effect are otherwise.
    std::string difference(const CaseReport& report) const {
        const Symptom symptom = symptom_from_json(report.symptom);
        std::vector<std::string> nearest = differing_fields(effects_.front(), symptom);
        for (const Effect& effect : effects_) {
            std::vector<std::string> fields = differing_fields(effect, symptom);
            if (fields.size() < nearest.size()) {
                nearest = std::move(fields);
            }
        }
        std::string text = report.type + ", where the entry has another " +
                           fmt::format("{}", fmt::join(nearest, ", "));
        for (const std::string& field : nearest) {
            text += "; seen as " + field + ": " + shown(report.symptom, field);
        }
        return text;
    }

    // Nothing when the exhibit shows the effect.
    std::optional<EntryAudit> exhibit_verdict() {
        CaseReport last;
        for (unsigned run = 0; run < exhibit_runs; ++run) {
            const auto reports = run_tasks(pool_, {task_of(exhibit_, 0)});
            if (reports.empty()) {
                return ended(AuditVerdict::unfinished, "interrupted");
            }
            last = reports.front();
            if (shows(exhibit_, last)) {
                return std::nullopt;
            }
        }
        if (last.agreed()) {
            return ended(AuditVerdict::gone, "the tools agree on its exhibit (" +
                                                 std::string(to_string(last.terminal)) +
                                                 "): remove the entry");
        }
        if (last.terminal != Terminal::diverged) {
            return ended(AuditVerdict::unfinished,
                         "its exhibit ended as " + std::string(to_string(last.terminal)) +
                             (last.reason.empty() ? "" : ", " + last.reason));
        }
        if (!culprit_inside(exhibit_, last)) {
            return ended(AuditVerdict::drifted, "its exhibit differs at step " +
                                                    std::to_string(last.culprit_step) +
                                                    ", for which its predicate does not hold");
        }
        return ended(AuditVerdict::drifted, "its exhibit shows " + difference(last));
    }

    // A case that is meant to be what the exhibit is (valid, damaged, refused by the same rule), or
    // anything.
    std::optional<Case> draw(std::uint64_t index) const {
        Plan plan = plan_;
        plan.operations.clear();
        for (const std::string& operation : entry_.operations) {
            plan.operations.push_back({operation, 1});
        }
        Pins pins;
        if (index % 2 == 0) {
            const std::string_view intent = intent_name(exhibit_);
            plan.damaged_percent = intent == "damaged" ? 100 : 0;
            plan.refused_percent = 0;
            if (intent == "refused") {
                pins = {{"intent.refused", "true"},
                        {"intent.rule", std::string(broken_rule(exhibit_))}};
            }
        }
        try {
            return draw_case(plan, terms_.seed, index, 0, &pins);
        } catch (const PinError&) {
            return std::nullopt;  // another operation of the entry, or a case that cannot break it
        }
    }

    void run_inside() {
        std::map<std::uint64_t, Case> cases;
        std::deque<Task> tasks;
        for (; audit_.draws < terms_.draws && cases.size() < terms_.inside; ++audit_.draws) {
            std::optional<Case> c = draw(audit_.draws);
            if (c && inside(*c)) {
                tasks.push_back(task_of(*c, audit_.draws));
                cases.emplace(audit_.draws, *std::move(c));
            }
        }
        audit_.inside = cases.size();
        for (const CaseReport& report : run_tasks(pool_, std::move(tasks))) {
            count(cases.at(report.index), report);
        }
    }

    void count(const Case& c, const CaseReport& report) {
        if (report.agreed()) {
            ++audit_.agreed;
            if (example_.empty()) {
                example_ = commands(c);
            }
        } else if (report.terminal != Terminal::diverged) {
            ++audit_.unclear;
        } else if (shows(c, report)) {
            ++audit_.shown;
        } else {
            ++audit_.other;
            const auto culprit = static_cast<std::size_t>(report.culprit_step);
            if (culprit_inside(c, report) &&
                filter_.classify(c, culprit, symptom_from_json(report.symptom)).known.empty() &&
                drift_.empty()) {
                drift_ = difference(report) + ", by '" + commands(c) + "'";
            }
        }
    }

    EntryAudit inside_verdict() {
        const std::uint64_t told = audit_.shown + audit_.agreed + audit_.other;
        const std::string tally = std::to_string(audit_.shown) + " of " +
                                  std::to_string(audit_.inside) + " cases inside show it, " +
                                  std::to_string(audit_.agreed) + " agree, " +
                                  std::to_string(audit_.other) + " differ in another way (" +
                                  std::to_string(audit_.draws) + " draws)";
        if (!drift_.empty()) {
            return ended(AuditVerdict::drifted, "a case inside shows " + drift_ + "; " + tally);
        }
        if (audit_.agreed * 100 > told * entry_.agreeing) {
            return ended(AuditVerdict::over_broad,
                         std::to_string(audit_.agreed * 100 / told) +
                             " per cent of the cases inside agree, more than its " +
                             std::to_string(entry_.agreeing) + ", such as '" + example_ + "'; " +
                             tally);
        }
        if (audit_.inside > 0 && told == 0) {
            return ended(AuditVerdict::unfinished, "no case inside came to an end; " + tally);
        }
        return ended(AuditVerdict::holds, audit_.inside == 0
                                              ? "its exhibit shows it; no case inside in " +
                                                    std::to_string(audit_.draws) + " draws"
                                              : "its exhibit shows it; " + tally);
    }

    WorkerPool& pool_;
    const Plan& plan_;
    KnownFilter& filter_;
    const AuditTerms& terms_;
    std::size_t place_;
    const KnownDivergence& entry_;
    std::vector<Effect> effects_;
    Case exhibit_;
    EntryAudit audit_;
    std::string drift_;
    std::string example_;  // of a case inside that agrees
};

std::string shown_pair(const ToolPair& pair) {
    return pair.subject.tool + " " + pair.subject.version + " against " + pair.reference.tool +
           " " + pair.reference.version;
}

}  // namespace

std::string_view to_string(AuditVerdict verdict) {
    switch (verdict) {
        case AuditVerdict::holds:
            return "holds";
        case AuditVerdict::gone:
            return "gone";
        case AuditVerdict::drifted:
            return "drifted";
        case AuditVerdict::over_broad:
            return "over-broad";
        case AuditVerdict::not_applicable:
            return "not applicable here";
        case AuditVerdict::expired:
            return "expired";
        case AuditVerdict::unfinished:
            return "unfinished";
    }
    return "";
}

void require_entries(const Registry& registry, const std::vector<std::string>& ids) {
    std::vector<std::string> known;
    for (const KnownDivergence& entry : registry.entries) {
        known.push_back(entry.id);
    }
    for (const std::string& id : ids) {
        if (std::ranges::find(known, id) == known.end()) {
            throw UsageError("there is no known divergence '" + id.substr(0, 80) + "'" +
                             suggestion(id, known) + "; 'difffuzz known list' lists them");
        }
    }
}

std::vector<EntryAudit> audit_known(WorkerPool& pool, const Registry& registry, const Plan& plan,
                                    const AuditTerms& terms,
                                    const std::function<void(const EntryAudit&)>& done) {
    KnownFilter filter(registry, plan);
    const ToolPair pair = declared_pair(plan);
    std::vector<EntryAudit> audits;
    for (std::size_t e = 0; e < registry.entries.size(); ++e) {
        const KnownDivergence& entry = registry.entries[e];
        if (!terms.ids.empty() && std::ranges::find(terms.ids, entry.id) == terms.ids.end()) {
            continue;
        }
        EntryAudit audit;
        audit.id = entry.id;
        if (entry.review_by < terms.today) {
            audit.verdict = AuditVerdict::expired;
            audit.why = "it was to be reviewed by " + entry.review_by + ": audit it on its " +
                        "tools, then give it another day";
        } else if (fit(entry, pair) == Fit::none) {
            audit.verdict = AuditVerdict::not_applicable;
            audit.why = "it is not about " + shown_pair(pair);
        } else {
            audit = EntryAuditor(pool, registry, plan, filter, terms, e).run();
        }
        audits.push_back(std::move(audit));
        done(audits.back());
    }
    return audits;
}

ExitCode audit_exit(const std::vector<EntryAudit>& audits) {
    const auto any = [&](std::initializer_list<AuditVerdict> verdicts) {
        return std::ranges::any_of(audits, [&](const EntryAudit& audit) {
            return std::ranges::find(verdicts, audit.verdict) != verdicts.end();
        });
    };
    if (any({AuditVerdict::gone, AuditVerdict::drifted, AuditVerdict::over_broad,
             AuditVerdict::expired})) {
        return ExitCode::does_not_hold;
    }
    return any({AuditVerdict::unfinished}) || !any({AuditVerdict::holds}) ? ExitCode::no_verdict
                                                                          : ExitCode::holds;
}

}  // namespace difffuzz
