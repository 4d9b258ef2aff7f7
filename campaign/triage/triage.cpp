#include "campaign/triage/triage.hpp"

#include <algorithm>
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

class CampaignTriage {
public:
    CampaignTriage(WorkerPool& pool, Journal& journal, const TriageTerms& terms,
                   const std::vector<TriageResult>& earlier,
                   const std::function<void(std::size_t, std::size_t)>& progress)
        : pool_(pool), journal_(journal), terms_(terms), earlier_(earlier), progress_(progress) {}

    // One wave. False when the pool was stopped.
    bool run(std::vector<TriageItem>& items) {
        std::deque<std::unique_ptr<TriageSession>> sessions;
        std::map<const TriageSession*, TriageItem*> of;
        for (TriageItem& item : items) {
            item.result = result_in(earlier_, item);
            if (item.result) {
                drop_first_seen(terms_.evidence, item.first, *item.result);
                continue;
            }
            if (!item.first.empty()) {
                const ParsedRecord record =
                    parse_record(read_first_seen(terms_.evidence + "/" + item.first).dump());
                item.sighting.seen = {record.recipe, record.culprit_step};
            }
            if (item.again) {
                item.sighting.second = {again_of(Determinism::all, item.sighting.iteration),
                                        terms_.reference_varies};
            }
            item.sighting.stage = "triage-" + std::to_string(++last_stage_);
            sessions.push_back(std::make_unique<TriageSession>(item.sighting, terms_.max_runs));
            of[sessions.back().get()] = &item;
        }
        total_ += items.size();
        done_ += items.size() - sessions.size();
        run_sessions(pool_, std::move(sessions), terms_.jobs, [&](TriageSession& session) {
            TriageItem& item = *of.at(&session);
            item.result = result_of(session, item.first_fingerprint, item.slipped_from);
            place_record(terms_.evidence, item.first, session, *item.result);
            journal_.triaged(to_json(*item.result));
            drop_first_seen(terms_.evidence, item.first, *item.result);
            if (progress_) {
                progress_(++done_, total_);
            }
        });
        return std::ranges::all_of(items,
                                   [](const TriageItem& item) { return item.result.has_value(); });
    }

private:
    WorkerPool& pool_;
    Journal& journal_;
    const TriageTerms& terms_;
    const std::vector<TriageResult>& earlier_;
    const std::function<void(std::size_t, std::size_t)>& progress_;
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

// Whether a divergence with this symptom is seen again in a second run only.
bool took_second_run(const nlohmann::json& symptom) {
    return symptom_from_json(symptom).layer == LayerId::determinism;
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

// The cases of a bucket that have a record.
std::vector<TriageItem> items_of(const Bucket& bucket) {
    std::vector<TriageItem> items;
    for (const std::uint64_t iteration : bucket.kept) {
        TriageItem item;
        item.first = record_directory(bucket.type, bucket.fingerprint, iteration);
        item.first_fingerprint = bucket.fingerprint;
        item.lineage = bucket.fingerprint;
        item.sighting.iteration = iteration;
        item.sighting.symptom_key = key_of(bucket.symptom);
        item.again = took_second_run(bucket.symptom);
        item.sighting.explain = iteration == bucket.kept.front();
        items.push_back(std::move(item));
    }
    return items;
}

// Which slips are followed.
class SlipChoice {
public:
    SlipChoice(const Tally& tally, bool shard, std::size_t places)
        : shard_(shard), places_(places) {
        for (const auto& [key, bucket] : tally.buckets()) {
            seen_.insert(key_of(bucket.symptom));
        }
    }

    // What is to be followed of a wave's results.
    std::vector<TriageItem> after(const std::vector<TriageItem>& wave) {
        std::vector<const TriageItem*> order;
        for (const TriageItem& item : wave) {
            if (item.result && item.slipped_from.empty()) {
                order.push_back(&item);
            }
        }
        std::ranges::stable_sort(order, {},
                                 [](const TriageItem* item) { return item->sighting.iteration; });
        std::vector<TriageItem> next;
        for (const TriageItem* item : order) {
            std::set<std::string> met;
            for (const Slip& slip : item->result->slips) {
                met.insert(slip.symptom_key);
                if (met.size() > max_followed_slips) {
                    break;
                }
                TriageItem followed = of(*item, slip);
                if (wants(followed)) {
                    next.push_back(std::move(followed));
                }
            }
        }
        return next;
    }

private:
    static TriageItem of(const TriageItem& item, const Slip& slip) {
        TriageItem followed;
        followed.slipped_from = item.result->fingerprint;
        followed.lineage = item.lineage + " " + slip.symptom_key;
        followed.again = item.again;
        followed.sighting = {slip.from, slip.symptom_key, item.sighting.iteration, {}, true, {}};
        return followed;
    }

    bool wants(const TriageItem& item) {
        const std::string& symptom = item.sighting.symptom_key;
        const std::string index = std::to_string(item.sighting.iteration) + " " + symptom;
        const std::string& key = shard_ ? item.lineage : symptom;
        if (places_ == 0 || seen_.contains(symptom) || followed_.contains(key) ||
            (shard_ && of_cases_.contains(index))) {
            return false;
        }
        --places_;
        followed_.insert(key);
        of_cases_.insert(index);
        return true;
    }

    bool shard_;
    std::size_t places_;
    std::set<std::string> seen_;      // symptoms of the campaign's cases
    std::set<std::string> followed_;  // symptoms; of a shard: lineages
    std::set<std::string> of_cases_;  // index and symptom: a record's directory holds one of both
};

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

std::optional<TriageResult> result_in(const std::vector<TriageResult>& results,
                                      const TriageItem& item) {
    const auto found = std::ranges::find_if(results, [&](const TriageResult& result) {
        return result.iteration == item.sighting.iteration &&
               result.symptom_key == item.sighting.symptom_key &&
               result.slipped_from == item.slipped_from;
    });
    return found == results.end() ? std::nullopt : std::optional(*found);
}

std::vector<TriageResult> triage_in_waves(const Tally& tally, bool shard,
                                          const std::function<bool(std::vector<TriageItem>&)>& run,
                                          bool& done) {
    const std::vector<const Bucket*> chosen = chosen_buckets(tally);
    const std::size_t most =
        shard ? max_triaged_symptoms * Tally::kept_per_bucket : max_triaged_symptoms;
    SlipChoice slips(tally, shard, most - chosen.size());
    std::vector<TriageItem> wave;
    for (const Bucket* bucket : chosen) {
        std::ranges::move(items_of(*bucket), std::back_inserter(wave));
    }
    std::vector<TriageResult> results;
    done = true;
    while (!wave.empty() && done) {
        done = run(wave);
        for (const TriageItem& item : wave) {
            if (item.result) {
                results.push_back(*item.result);
            }
        }
        wave = slips.after(wave);
    }
    return results;
}

std::vector<TriageResult> run_triage(WorkerPool& pool, Journal& journal, const Tally& tally,
                                     const std::vector<TriageResult>& earlier,
                                     const TriageTerms& terms,
                                     const std::function<void(std::size_t, std::size_t)>& progress,
                                     bool& done) {
    CampaignTriage triage(pool, journal, terms, earlier, progress);
    return triage_in_waves(
        tally, terms.shard, [&](std::vector<TriageItem>& wave) { return triage.run(wave); }, done);
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
