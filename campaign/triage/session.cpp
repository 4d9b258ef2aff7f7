#include "campaign/triage/session.hpp"

#include <algorithm>
#include <cassert>

#include "core/cases/symptom.hpp"

namespace difffuzz {
namespace {

// Name of a confirming run; candidates are named by their digests.
constexpr std::string_view confirming_id = "confirm";
constexpr std::string_view explaining_id = "explain";
// As timeout_runs, of a candidate: there are many.
constexpr unsigned candidate_timeout_runs = 2;

}  // namespace

TriageSession::TriageSession(Sighting sighting, std::uint64_t max_runs)
    : sighting_(std::move(sighting)), max_runs_(max_runs), least_(sighting_.seen) {}

std::optional<TriageSession::Wanted> TriageSession::next(std::size_t ahead) {
    if (stage_ == Stage::ended) {
        return std::nullopt;
    }
    Wanted wanted;
    wanted.task.index = sighting_.iteration;
    wanted.task.second = sighting_.second;
    wanted.task.runs = timeout_runs;
    if (stage_ == Stage::searching) {
        auto trial = search_->next(ahead);
        if (!trial) {
            return std::nullopt;
        }
        wanted.task.runs = candidate_timeout_runs;
        wanted.id = std::move(trial->id);
        culprits_[wanted.id] = trial->candidate.culprit;
        wanted.task.recipe = std::move(trial->candidate.c);
        return wanted;
    }
    if (out_) {
        return std::nullopt;
    }
    out_ = true;
    if (stage_ == Stage::explaining) {
        wanted.id = explaining_id;
        wanted.task.recipe = explainer_->wanted()->c;
        return wanted;
    }
    wanted.id = confirming_id;
    wanted.alone = true;
    wanted.task.recipe = stage_ == Stage::confirming_least ? least_.c : sighting_.seen.c;
    // The record is that of the last run.
    if (stage_ == Stage::recording ||
        (stage_ == Stage::confirming_least && seen_ + 1 == confirming_runs)) {
        wanted.task.stage = sighting_.stage;
    }
    return wanted;
}

void TriageSession::put(const std::string& id, const CaseReport& report) {
    if (id == explaining_id) {
        out_ = false;
        explainer_->put(judge_trial(*target_, least_.culprit, report).end);
        if (!explainer_->wanted()) {
            end_explaining();
        }
        return;
    }
    if (id != confirming_id) {
        const auto culprit = culprits_.extract(id);
        if (stage_ != Stage::searching) {
            return;  // was run ahead in vain
        }
        search_->put(id, judge_trial(*target_, culprit.mapped(), report));
        if (search_->ended()) {
            end_search();
        }
        return;
    }
    out_ = false;
    last_ = report;
    switch (stage_) {
        case Stage::confirming:
            put_confirmation(report, false);
            if (seen_ == confirming_runs) {
                confirmed_ = shown_ == seen_;
                if (confirmed_) {
                    start_search();
                } else {
                    stage_ = Stage::ended;
                }
            }
            return;
        case Stage::confirming_least:
            put_confirmation(report, true);
            if (seen_ == confirming_runs) {
                staged_ = shown_ == seen_ && report.staged;
                stage_ = Stage::ended;
                if (!staged_) {
                    // A least case that comes and goes is none.
                    least_ = sighting_.seen;
                    minimal_ = false;
                    explanation_.reset();
                    stage_ = Stage::recording;
                }
            }
            return;
        case Stage::recording:
            put_confirmation(report, false);
            staged_ = report.staged && shows_symptom(report, sighting_.seen.culprit);
            confirmed_ = staged_;
            stage_ = Stage::ended;
            return;
        case Stage::searching:
        case Stage::explaining:
        case Stage::ended:
            assert(false);
    }
}

void TriageSession::put_confirmation(const CaseReport& report, bool of_least) {
    const bool diverged = report.terminal == Terminal::diverged;
    if (diverged && !target_ &&
        symptom_key(symptom_from_json(report.symptom)) == sighting_.symptom_key) {
        target_ = target_of(report);
    }
    shown_ += shows_symptom(report, of_least ? least_.culprit : sighting_.seen.culprit) ? 1U : 0U;
    ++seen_;
    confirmations_.push_back({of_least, std::string(to_string(report.terminal)), report.type,
                              diverged ? symptom_key(symptom_from_json(report.symptom)) : ""});
}

bool TriageSession::shows_symptom(const CaseReport& report, std::size_t culprit) const {
    return target_ && judge_trial(*target_, culprit, report).end == TrialEnd::same;
}

void TriageSession::start_search() {
    SearchTerms terms;
    terms.max_runs = max_runs_;
    terms.allowed = [target = *target_](const Reduced& candidate) {
        return may_stand_for(target, candidate.c);
    };
    terms.words = word_domain(sighting_.seen.c.operation);
    stage_ = Stage::searching;
    search_.emplace(sighting_.seen, std::move(terms));
    if (search_->ended()) {
        end_search();
    }
}

void TriageSession::end_search() {
    least_ = search_->least();
    minimal_ = search_->is_minimal();
    slips_ = search_->slips();
    shown_ = seen_ = 0;
    stage_ = Stage::confirming_least;
    if (!minimal_ || !sighting_.explain) {
        return;
    }
    stage_ = Stage::explaining;
    explainer_.emplace(least_, search_->refused(), std::min(max_runs_, explaining_runs),
                       [target = *target_](const Reduced& candidate) {
                           return may_stand_for(target, candidate.c);
                       });
    if (!explainer_->wanted()) {
        end_explaining();
    }
}

void TriageSession::end_explaining() {
    explanation_ = explainer_->explanation();
    stage_ = Stage::confirming_least;
}

}  // namespace difffuzz
