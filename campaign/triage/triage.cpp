#include "campaign/triage/triage.hpp"

#include <algorithm>
#include <numeric>
#include <optional>
#include <set>

#include "campaign/again_sample.hpp"
#include "campaign/evidence/record.hpp"
#include "campaign/triage/place.hpp"
#include "campaign/triage/scheduler.hpp"
#include "core/cases/json_fields.hpp"
#include "core/errors.hpp"

namespace difffuzz {
namespace {

// One divergence to triage, and what is known of it.
struct Item {
    std::string first;  // directory of its record below the evidence; empty: a slip
    std::string first_fingerprint;
    std::string slipped_from;
    Sighting sighting;
    std::optional<TriageResult> result;
};

class CampaignTriage {
public:
    CampaignTriage(WorkerPool& pool, Journal& journal, const TriageTerms& terms,
                   const std::vector<TriageResult>& earlier,
                   const std::function<void(std::size_t, std::size_t)>& progress)
        : pool_(pool), journal_(journal), terms_(terms), earlier_(earlier), progress_(progress) {}

    // One wave. False when the pool was stopped.
    bool run(std::vector<Item> items) {
        std::deque<std::unique_ptr<TriageSession>> sessions;
        std::map<const TriageSession*, Item*> of;
        for (Item& item : items) {
            item.result = known(item);
            if (item.result) {
                drop_first_seen(terms_.evidence, item.first, *item.result);
                continue;
            }
            item.sighting.stage = "triage-" + std::to_string(++last_stage_);
            sessions.push_back(std::make_unique<TriageSession>(item.sighting, terms_.max_runs));
            of[sessions.back().get()] = &item;
        }
        total_ += items.size();
        done_ += items.size() - sessions.size();
        run_sessions(pool_, std::move(sessions), terms_.jobs, [&](TriageSession& session) {
            Item& item = *of.at(&session);
            item.result = result_of(session, item.first_fingerprint, item.slipped_from);
            place_record(terms_.evidence, item.first, session, *item.result);
            journal_.triaged(to_json(*item.result));
            drop_first_seen(terms_.evidence, item.first, *item.result);
            if (progress_) {
                progress_(++done_, total_);
            }
        });
        bool all = true;
        for (Item& item : items) {
            if (item.result) {
                results_.push_back(*item.result);
            }
            all &= item.result.has_value();
        }
        return all;
    }

    const std::vector<TriageResult>& results() const { return results_; }

private:
    std::optional<TriageResult> known(const Item& item) const {
        const auto found = std::ranges::find_if(earlier_, [&](const TriageResult& result) {
            return result.iteration == item.sighting.iteration &&
                   result.symptom_key == item.sighting.symptom_key;
        });
        return found == earlier_.end() ? std::nullopt : std::optional(*found);
    }

    WorkerPool& pool_;
    Journal& journal_;
    const TriageTerms& terms_;
    const std::vector<TriageResult>& earlier_;
    const std::function<void(std::size_t, std::size_t)>& progress_;
    std::vector<TriageResult> results_;
    std::size_t last_stage_ = 0;
    std::size_t done_ = 0;
    std::size_t total_ = 0;
};

int severity_rank(const std::string& name) {
    return static_cast<int>(parse_severity(name).value_or(Severity::reference));
}

std::string key_of(const nlohmann::json& symptom) {
    return symptom_key(symptom_from_json(symptom));
}

// How a divergence with this symptom is seen again: in a second run only where it took one.
SecondRun second_run_of(const nlohmann::json& symptom, std::uint64_t iteration,
                        const TriageTerms& terms) {
    if (symptom_from_json(symptom).layer != LayerId::determinism) {
        return {};
    }
    return {again_of(Determinism::all, iteration), terms.reference_varies};
}

std::vector<const Bucket*> chosen_buckets(const Tally& tally) {
    std::vector<const Bucket*> buckets;
    for (const auto& [key, bucket] : tally.buckets()) {
        if (bucket.known.empty()) {
            buckets.push_back(&bucket);
        }
    }
    std::ranges::sort(buckets, {}, [](const Bucket* bucket) {
        return std::tuple(severity_rank(bucket->severity), bucket->kept.front());
    });
    buckets.resize(std::min(buckets.size(), max_triaged_symptoms));
    return buckets;
}

// The cases of a bucket that have a record; `known` gives the sightings of those whose record has
// been dropped already.
std::vector<Item> items_of(const Bucket& bucket, const TriageTerms& terms,
                           const std::vector<TriageResult>& earlier) {
    std::vector<Item> items;
    for (const std::uint64_t iteration : bucket.kept) {
        Item item;
        item.first = record_directory(bucket.type, bucket.fingerprint, iteration);
        item.first_fingerprint = bucket.fingerprint;
        item.sighting.iteration = iteration;
        item.sighting.symptom_key = key_of(bucket.symptom);
        item.sighting.second = second_run_of(bucket.symptom, iteration, terms);
        const bool triaged = std::ranges::any_of(earlier, [&](const TriageResult& result) {
            return result.iteration == iteration && result.symptom_key == item.sighting.symptom_key;
        });
        if (!triaged) {
            const ParsedRecord record =
                parse_record(read_first_seen(terms.evidence + "/" + item.first).dump());
            item.sighting.seen = {record.recipe, record.culprit_step};
            item.sighting.explain = iteration == bucket.kept.front();
        }
        items.push_back(std::move(item));
    }
    return items;
}

// Of several cases of one bucket, the one that says most gives its status.
int weight(std::string_view status) {
    return status == "flaky" ? 0 : status == "untriaged" ? 1 : 2;
}

}  // namespace

std::vector<TriageResult> triaged_before(const JournalState& journal, const std::string& evidence) {
    std::vector<TriageResult> results;
    for (const nlohmann::json& line : journal.triaged) {
        std::string reason = "a field is missing or of another type";
        try {
            results.push_back(triage_result_from_json(line));
            continue;
        } catch (const RecipeError& error) {
            reason = error.what();
        } catch (const nlohmann::json::exception&) {
        }
        throw EnvironmentError("a result of triage in '" + evidence +
                               "/journal.ndjson' cannot be used (" + reason +
                               "); start anew in another --out directory");
    }
    return results;
}

std::vector<TriageResult> run_triage(WorkerPool& pool, Journal& journal, const Tally& tally,
                                     const std::vector<TriageResult>& earlier,
                                     const TriageTerms& terms,
                                     const std::function<void(std::size_t, std::size_t)>& progress,
                                     bool& done) {
    CampaignTriage triage(pool, journal, terms, earlier, progress);
    std::set<std::string> symptoms;
    for (const auto& [key, bucket] : tally.buckets()) {
        symptoms.insert(key_of(bucket.symptom));
    }
    const std::vector<const Bucket*> chosen = chosen_buckets(tally);
    std::size_t places = max_triaged_symptoms - chosen.size();
    std::vector<Item> wave;
    for (const Bucket* bucket : chosen) {
        for (Item& item : items_of(*bucket, terms, earlier)) {
            wave.push_back(std::move(item));
        }
    }
    // Results come in the order of their items. Of each, the divergence that it was met from, and
    // of those, how many slips were followed.
    std::vector<std::size_t> roots(wave.size());
    std::iota(roots.begin(), roots.end(), std::size_t{0});
    std::vector<std::size_t> followed(wave.size(), 0);
    std::size_t looked_at = 0;  // results whose slips are known
    while (!wave.empty()) {
        done = triage.run(std::move(wave));
        if (!done) {
            return triage.results();
        }
        wave.clear();
        for (; looked_at < triage.results().size(); ++looked_at) {
            const TriageResult& result = triage.results()[looked_at];
            const std::size_t root = roots[looked_at];
            for (const Slip& slip : result.slips) {
                if (places > 0 && followed[root] < max_followed_slips &&
                    symptoms.insert(slip.symptom_key).second) {
                    --places;
                    ++followed[root];
                    roots.push_back(root);
                    wave.push_back({{},
                                    {},
                                    result.fingerprint,
                                    {slip.from,
                                     slip.symptom_key,
                                     result.iteration,
                                     {},
                                     true,
                                     second_run_of(result.symptom, result.iteration, terms)},
                                    {}});
                }
            }
        }
    }
    done = true;
    return triage.results();
}

std::size_t slips_left_out(const Tally& tally, const std::vector<TriageResult>& results) {
    std::set<std::string> looked_at;
    for (const auto& [key, bucket] : tally.buckets()) {
        looked_at.insert(key_of(bucket.symptom));
    }
    std::set<std::string> met;
    for (const TriageResult& result : results) {
        looked_at.insert(result.symptom_key);
        for (const Slip& slip : result.slips) {
            met.insert(slip.symptom_key);
        }
    }
    std::erase_if(met, [&](const std::string& key) { return looked_at.contains(key); });
    return met.size();
}

std::map<std::string, Bucket> buckets_after(const Tally& tally,
                                            const std::vector<TriageResult>& results) {
    std::map<std::string, Bucket> buckets;
    const auto add = [&](const Bucket& like, std::uint64_t index, std::uint64_t cases) {
        Bucket& bucket = buckets.try_emplace(like.key(), like).first->second;
        if (weight(like.status) > weight(bucket.status)) {
            bucket.status = like.status;
        }
        if (bucket.explanation.empty()) {
            bucket.explanation = like.explanation;
        }
        bucket.cases += cases;
        bucket.kept.push_back(index);
        std::ranges::sort(bucket.kept);
    };
    for (const auto& [key, seen] : tally.buckets()) {
        const std::uint64_t uncounted = seen.cases - seen.kept.size();
        for (const std::uint64_t index : seen.kept) {
            Bucket like = seen;
            like.kept.clear();
            like.cases = 0;
            const auto result = std::ranges::find_if(results, [&](const TriageResult& one) {
                return seen.known.empty() && one.iteration == index &&
                       one.first_fingerprint == seen.fingerprint;
            });
            if (result != results.end()) {
                like.status = result->status;
                if (result->status == "new") {
                    like.fingerprint = result->fingerprint;
                    like.features = result->features;
                    like.explanation = result->explanation;
                    like.attribution = result->attribution;
                }
            }
            add(like, index, 1 + (index == seen.kept.front() ? uncounted : 0));
        }
    }
    for (const TriageResult& result : results) {
        if (!result.slipped_from.empty() && result.status == "new") {
            Bucket like;
            like.type = result.type;
            like.severity = result.severity;
            like.symptom = result.symptom;
            like.fingerprint = result.fingerprint;
            like.status = result.status;
            like.features = result.features;
            like.explanation = result.explanation;
            like.attribution = result.attribution;
            like.slipped_from = result.slipped_from;
            add(like, result.iteration, 1);
        }
    }
    return buckets;
}

}  // namespace difffuzz
