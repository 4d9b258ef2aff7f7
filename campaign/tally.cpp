#include "campaign/tally.hpp"

#include <algorithm>
#include <numeric>

namespace difffuzz {
namespace {

std::string percent(std::uint64_t part, std::uint64_t whole) {
    const std::uint64_t tenths = whole == 0 ? 0 : part * 1000 / whole;
    return std::to_string(tenths / 10) + "." + std::to_string(tenths % 10) + " %";
}

bool ran_to_an_end(Terminal terminal) {
    return terminal == Terminal::agreed || terminal == Terminal::diverged ||
           terminal == Terminal::refused_by_both;
}

std::string plural(std::uint64_t number, const std::string& one) {
    return std::to_string(number) + " " + one + (number == 1 ? "" : "s");
}

}  // namespace

std::string Bucket::directory() const {
    return "records/" + type + "-" + fingerprint + (known.empty() ? "" : "-" + known);
}

void Tally::add(const CaseReport& report) {
    const auto slot = static_cast<std::size_t>(report.terminal);
    ++books_[slot];
    known_.add(report);
    if (report.operation.empty()) {
        return;  // exhausted, outside shard, untested: nothing was drawn or run
    }
    OperationTally& operation = operations_[report.operation];
    ++operation.books[slot];
    const bool counts = report.compared && ran_to_an_end(report.terminal);
    compared_ += counts ? 1 : 0;
    operation.compared += counts ? 1 : 0;
    if (ran_to_an_end(report.terminal)) {
        if (report.intent == "valid") {
            ++operation.valid;
            operation.valid_accepted += report.reference_accepted ? 1 : 0;
            if (!report.reference_accepted) {
                ++not_accepted_[report.operation];
            }
        } else if (report.intent == "refused") {
            ++operation.refused;
            operation.refused_refused += report.reference_accepted ? 0 : 1;
        }
    } else {
        ++harness_reasons_[std::string(to_string(report.terminal)) +
                           (report.reason.empty() ? "" : ": " + report.reason)];
    }
    reach_[report.operation].add(
        report.reach, {1, counts && report.terminal != Terminal::refused_by_both ? 1U : 0U,
                       report.terminal == Terminal::refused_by_both ? 1U : 0U});
    for (const LayerVerdictReport& layer : report.layers) {
        LayerTally& tally = layers_[layer.layer];
        switch (layer.verdict) {
            case LayerVerdict::agree:
                ++tally.agreed;
                break;
            case LayerVerdict::diverge:
                ++tally.diverged;
                break;
            case LayerVerdict::inconclusive:
                ++tally.inconclusive[layer.reason];
                break;
            case LayerVerdict::not_applicable:
                ++tally.not_applicable[layer.reason];
                break;
        }
    }
    for (const auto& [name, comparisons] : report.normalisers) {
        NormaliserTally& normaliser =
            normalisers_.try_emplace(name, NormaliserTally{0, 0, report.index}).first->second;
        normaliser.comparisons += comparisons;
        ++normaliser.cases;
    }
    if (report.timeouts.hang) {
        hangs_.emplace_back(report.index, report.timeouts.subject > 0 ? "subject" : "reference");
    }
    if (report.terminal == Terminal::diverged) {
        Bucket& bucket = buckets_[report.bucket_key()];
        if (bucket.cases == 0) {
            bucket.type = report.type;
            bucket.severity = report.severity;
            bucket.symptom = report.symptom;
            bucket.fingerprint = report.fingerprint;
            bucket.known = report.known.known;
            bucket.attribution = report.attribution;
            bucket.status = bucket.known.empty() ? "untriaged" : known_status(bucket.known);
        }
        ++bucket.cases;
        if (bucket.kept.size() < kept_per_bucket) {
            bucket.kept.push_back(report.index);
        }
    }
}

std::uint64_t Tally::total() const {
    return std::accumulate(books_.begin(), books_.end(), std::uint64_t{0});
}

std::uint64_t Tally::run_again() const {
    const auto found = layers_.find(std::string(to_string(LayerId::determinism)));
    return found == layers_.end() ? 0 : found->second.agreed + found->second.diverged;
}

std::uint64_t Tally::new_buckets() const {
    return static_cast<std::uint64_t>(
        std::count_if(buckets_.begin(), buckets_.end(), [](const auto& item) {
            return item.second.known.empty() && item.second.severity != "reference" &&
                   item.second.status != "flaky" && item.second.status != "pre-existing";
        }));
}

std::uint64_t Tally::buckets_of(std::string_view status) const {
    return static_cast<std::uint64_t>(
        std::count_if(buckets_.begin(), buckets_.end(), [&](const auto& item) {
            return item.second.severity != "reference" && item.second.status == status;
        }));
}

bool Tally::wants_record(const std::string& bucket_key) const {
    const auto found = buckets_.find(bucket_key);
    return found == buckets_.end() || found->second.kept.size() < kept_per_bucket;
}

bool Tally::opens_bucket(const CaseReport& report) const {
    return report.terminal == Terminal::diverged && report.severity != "reference" &&
           report.known.known.empty() && !buckets_.contains(report.bucket_key());
}

Verdict judge(const Tally& tally, const VerdictTerms& terms) {
    const std::uint64_t inside = terms.iterations - tally.count(Terminal::outside_shard);
    const std::uint64_t untested = tally.count(Terminal::untested);
    const std::uint64_t inconclusive = tally.count(Terminal::inconclusive_external_timeout) +
                                       tally.count(Terminal::inconclusive_limited);
    Verdict verdict;
    if (tally.total() != terms.iterations) {
        verdict.reasons.push_back("the books do not balance: " + std::to_string(tally.total()) +
                                  " outcomes for " + plural(terms.iterations, "case"));
    }
    if (terms.iterations == 0 || inside == 0) {
        verdict.reasons.emplace_back("no case was to be run");
    }
    if (untested > 0 && !terms.stopped_at_max_new) {
        verdict.reasons.push_back(plural(untested, "case") + " of " + std::to_string(inside) +
                                  (untested == 1 ? " was not run" : " were not run"));
    }
    if (!terms.stopped_at_max_new && tally.compared() * 100 < inside * terms.min_compared) {
        verdict.reasons.push_back("only " + percent(tally.compared(), inside) +
                                  " of the cases were compared, less than --min-compared " +
                                  std::to_string(terms.min_compared));
    }
    if (inconclusive * 100 > inside * terms.max_inconclusive) {
        verdict.reasons.push_back(percent(inconclusive, inside) +
                                  " of the cases were inconclusive, more than "
                                  "--max-inconclusive " +
                                  std::to_string(terms.max_inconclusive));
    }
    if (const std::uint64_t killed = tally.count(Terminal::harness_killed); killed > 0) {
        verdict.reasons.push_back(plural(killed, "case") + " ended difffuzz's own worker twice");
    }
    const std::uint64_t divergences = tally.new_buckets();
    const std::uint64_t regressions = tally.buckets_of("regression");
    const std::uint64_t flaky = tally.buckets_of("flaky");
    const std::uint64_t untriaged = tally.buckets_of("untriaged");
    const auto reference_only = static_cast<std::uint64_t>(
        std::count_if(tally.buckets().begin(), tally.buckets().end(), [](const auto& item) {
            return item.second.known.empty() && item.second.severity == "reference";
        }));
    if (flaky > 0) {
        verdict.reasons.push_back(plural(flaky, "divergence") +
                                  " did not show again each time (flaky)");
    }
    if (terms.baseline && divergences > regressions) {
        verdict.reasons.push_back("of " + plural(divergences - regressions, "bucket") +
                                  " nothing tells whether the baseline shows them, too");
    }
    std::string tail = "; " + percent(tally.compared(), inside) + " compared";
    if (reference_only > 0) {
        tail += "; " + plural(reference_only, "bucket") + " of the reference's own";
    }
    tail +=
        terms.determinism == Determinism::off
            ? "; the subject's determinism not looked at"
            : "; the subject ran twice in " + percent(tally.run_again(), inside) + " of the cases";
    if (const std::uint64_t known = tally.known().cases(); known > 0) {
        tail += "; known divergences took " + percent(known, inside) + " of the cases";
    }
    if (terms.known_mode == known_off) {
        tail += "; known divergences not considered";
    } else if (terms.known_mode == known_enter) {
        tail += "; known divergences not steered around";
    }
    if (flaky > 0) {
        tail += "; " + plural(flaky, "flaky bucket");
    }
    if (untriaged > 0) {
        tail += "; " + (untriaged == divergences ? "none" : plural(untriaged, "bucket") + " not") +
                " confirmed and shrunk";
    }
    if (!tally.hangs().empty()) {
        tail += "; " + plural(tally.hangs().size(), "suspected hang");
    }
    if (terms.baseline_is_subject) {
        tail += "; the baseline is the subject itself";
    }
    const std::string pre_existing =
        terms.baseline ? "; " + plural(tally.buckets_of("pre-existing"), "bucket") +
                             " of pre-existing divergences"
                       : "";
    if (!terms.control_failures.empty()) {
        verdict.reasons.insert(verdict.reasons.begin(), terms.control_failures.begin(),
                               terms.control_failures.end());
        verdict.exit = ExitCode::no_verdict;
        verdict.line = "no verdict: " + terms.control_failures.front();
    } else if (terms.interrupted) {
        verdict.exit = ExitCode::interrupted;
        verdict.line = "interrupted after " + std::to_string(terms.iterations - untested) + " of " +
                       plural(terms.iterations, "case") + "; continue with --resume" + tail;
    } else if (terms.baseline && regressions > 0) {
        verdict.exit = ExitCode::does_not_hold;
        verdict.line = plural(regressions, "bucket") + " of regressions" + pre_existing + tail;
    } else if (!terms.baseline && divergences > 0) {
        verdict.exit = ExitCode::does_not_hold;
        verdict.line = plural(divergences, "bucket") + " of new divergences" + tail;
    } else if (!verdict.reasons.empty()) {
        verdict.exit = ExitCode::no_verdict;
        verdict.line = "no verdict: " + verdict.reasons.front() + pre_existing + tail;
    } else if (tally.buckets_of("pre-existing") > 0) {
        verdict.exit = ExitCode::holds;
        verdict.line = "no regression" + pre_existing + tail;
    } else {
        verdict.exit = ExitCode::holds;
        verdict.line = (terms.null_run ? "null run: the subject is the reference; no divergence"
                                       : "clean: no divergence") +
                       tail;
    }
    return verdict;
}

}  // namespace difffuzz
