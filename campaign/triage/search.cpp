#include "campaign/triage/search.hpp"

#include <algorithm>

#include <nlohmann/json.hpp>

#include "core/cases/digest.hpp"
#include "core/cases/recipe_json.hpp"

namespace difffuzz {
namespace {

std::string digest_of(const Reduced& r) {
    return sha256_hex(to_json(r.c).dump() + " " + std::to_string(r.culprit));
}

}  // namespace

std::string_view to_string(TrialEnd end) {
    switch (end) {
        case TrialEnd::same:
            return "same";
        case TrialEnd::slipped:
            return "another symptom";
        case TrialEnd::agreed:
            return "agreed";
        case TrialEnd::other:
            return "not compared";
        case TrialEnd::timed_out:
            return "timed out";
    }
    return "not compared";
}

Search::Search(Reduced start, SearchTerms terms, const std::vector<Reducer>& passes)
    : terms_(std::move(terms)), passes_(passes), current_(std::move(start)) {
    former_.insert(digest_of(current_));
    load();
    advance();
}

void Search::load() {
    edits_ =
        pass_ < passes_.size() ? passes_[pass_].edits(current_, terms_.words) : std::vector<Edit>{};
    prepared_.assign(edits_.size(), std::nullopt);
}

const Search::Prepared& Search::prepared(std::size_t at) {
    if (!prepared_[at]) {
        Prepared made;
        Reduced candidate = edits_[at].apply(current_);
        if (candidate != current_ && terms_.allowed(candidate)) {
            made.id = digest_of(candidate);
            if (!former_.contains(made.id)) {
                made.candidate = std::move(candidate);
            }
        }
        prepared_[at] = std::move(made);
    }
    return *prepared_[at];
}

void Search::take(const Prepared& prepared, const TrialResult& result) {
    if (result.end == TrialEnd::slipped &&
        std::ranges::find(slips_, result.symptom_key, &Slip::symptom_key) == slips_.end()) {
        slips_.push_back({*prepared.candidate, result.symptom_key});
    }
    if (result.end != TrialEnd::same) {
        refused_.push_back(
            {edits_[at_].thing, edits_[at_].becomes, result.end, prepared.candidate->c});
        ++at_;
        return;
    }
    current_ = *prepared.candidate;
    former_.insert(prepared.id);
    refused_.clear();
    changed_ = true;
    load();
}

void Search::advance() {
    while (!ended_) {
        if (at_ >= edits_.size()) {
            at_ = 0;
            ++pass_;
            if (pass_ >= passes_.size()) {
                minimal_ = ended_ = !changed_;
                changed_ = false;
                pass_ = 0;
                if (ended_) {
                    return;
                }
                refused_.clear();
            }
            load();
            continue;
        }
        // A copy: taking it replaces what is prepared.
        const Prepared here = prepared(at_);
        if (!here.candidate) {
            ++at_;
            continue;
        }
        const bool counted = counted_.contains(here.id);
        if (!counted && runs_ >= terms_.max_runs) {
            ended_ = true;
            return;
        }
        const auto result = known_.find(here.id);
        if (result == known_.end()) {
            return;
        }
        if (!counted) {
            counted_.insert(here.id);
            runs_ += result->second.end == TrialEnd::timed_out ? timeout_cost : 1;
        }
        take(here, result->second);
    }
}

std::optional<Search::Trial> Search::next(std::size_t ahead) {
    std::size_t places = 0;
    for (std::size_t at = at_; !ended_ && at < edits_.size() && places < ahead; ++at) {
        const Prepared& candidate = prepared(at);
        if (!candidate.candidate || known_.contains(candidate.id)) {
            continue;
        }
        ++places;
        if (out_.insert(candidate.id).second) {
            return Trial{candidate.id, *candidate.candidate};
        }
    }
    return std::nullopt;
}

void Search::put(const std::string& id, TrialResult result) {
    out_.erase(id);
    known_.emplace(id, std::move(result));
    advance();
}

}  // namespace difffuzz
