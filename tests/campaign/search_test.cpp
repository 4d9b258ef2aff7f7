// The search with a function in the place of the tools.
#include <deque>
#include <set>

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <rapidcheck.h>

#include "campaign/triage/search.hpp"

namespace difffuzz {
namespace {

using Predicate = std::function<TrialResult(const Case&)>;

// A case of `writes` writes at distinct places in one image.
Reduced case_with(std::size_t writes) {
    Reduced r;
    r.c.operation = "info";
    r.c.images.push_back({"src", "raw", 1 << 20, {}, {}, {}});
    for (std::size_t w = 0; w < writes; ++w) {
        r.c.images[0].content.push_back({WriteKind::write, w, 1, ByteFill{1}});
    }
    r.c.steps.push_back({Actor::tool, "info", "info", ValidIntent{}, {{"", ImageValue{"src"}}}});
    return r;
}

// Which of the writes of case_with() are left, by their offsets.
std::set<std::uint64_t> left(const Case& c) {
    std::set<std::uint64_t> result;
    for (const ContentWrite& write : c.images.at(0).content) {
        result.insert(write.offset);
    }
    return result;
}

// Drops pieces of the list of writes, and nothing else.
std::vector<Edit> drop_writes(const Reduced& from, const WordDomain&) {
    std::vector<Edit> edits;
    const std::size_t size = from.c.images.at(0).content.size();
    for (std::size_t count = size; count > 0; count /= 2) {
        for (std::size_t begin = 0; begin + count <= size; begin += count) {
            edits.push_back({"writes " + std::to_string(begin), "", [begin, count](Reduced r) {
                                 auto& writes = r.c.images[0].content;
                                 const auto first =
                                     writes.begin() + static_cast<std::ptrdiff_t>(begin);
                                 writes.erase(first, first + static_cast<std::ptrdiff_t>(count));
                                 return r;
                             }});
        }
    }
    return edits;
}
const std::vector<Reducer> only_writes{{"writes", drop_writes}};

SearchTerms terms_with(std::uint64_t max_runs) {
    SearchTerms terms;
    terms.max_runs = max_runs;
    terms.allowed = [](const Reduced&) { return true; };
    terms.words = [](const Step&, std::string_view) { return std::span<const std::string_view>{}; };
    return terms;
}

struct Found {
    Reduced least;
    std::uint64_t runs = 0;
    bool minimal = false;
    std::vector<std::string> refused;
    std::vector<std::string> slips;
    bool operator==(const Found&) const = default;
};

// As `workers` workers would, of which the last one that started always ends first.
Found search(const Reduced& start, SearchTerms terms, const Predicate& predicate,
             std::size_t workers, const std::vector<Reducer>& passes = only_writes) {
    Search search(start, std::move(terms), passes);
    std::deque<Search::Trial> running;
    while (!search.ended()) {
        while (running.size() < workers) {
            auto trial = search.next(workers);
            if (!trial) {
                break;
            }
            running.push_back(*std::move(trial));
        }
        if (running.empty()) {
            ADD_FAILURE() << "the search neither ended nor wants anything";
            break;
        }
        const Search::Trial trial = std::move(running.back());
        running.pop_back();
        search.put(trial.id, predicate(trial.candidate.c));
    }
    Found found{search.least(), search.runs(), search.is_minimal(), {}, {}};
    for (const RefusedEdit& edit : search.refused()) {
        found.refused.push_back(edit.thing + ": " + std::string(to_string(edit.end)));
    }
    for (const Slip& slip : search.slips()) {
        found.slips.push_back(slip.symptom_key + " " + std::to_string(left(slip.from.c).size()));
    }
    return found;
}

// The symptom needs all of `needed`; without the first of them there is another one.
Predicate needs(const std::set<std::uint64_t>& needed) {
    return [needed](const Case& c) -> TrialResult {
        const std::set<std::uint64_t> have = left(c);
        if (std::includes(have.begin(), have.end(), needed.begin(), needed.end())) {
            return {TrialEnd::same, {}};
        }
        if (!needed.empty() && !have.contains(*needed.begin())) {
            return {TrialEnd::slipped, "other"};
        }
        return {TrialEnd::agreed, {}};
    };
}

TEST(Search, EndsWithWhatTheSymptomNeedsWhateverTheOrderOfResults) {
    EXPECT_TRUE(rc::check("minimal and deterministic", [] {
        const auto size = *rc::gen::inRange<std::size_t>(1, 14);
        std::set<std::uint64_t> needed;
        for (std::size_t w = 0; w < size; ++w) {
            if (*rc::gen::inRange(0, 4) == 0) {
                needed.insert(w);
            }
        }
        const Found one = search(case_with(size), terms_with(1000), needs(needed), 1);
        RC_ASSERT(one.minimal);
        RC_ASSERT(left(one.least.c) == needed);
        // Deletion-minimal: each single deletion was tried and lost the symptom.
        RC_ASSERT(one.refused.size() >= needed.size());
        for (const std::size_t workers : {2U, 4U, 7U}) {
            RC_ASSERT(search(case_with(size), terms_with(1000), needs(needed), workers) == one);
        }
    }));
}

TEST(Search, StopsAtTheBudgetAtTheSamePlaceForAnyWorkers) {
    const Predicate predicate = needs({3, 11, 12});
    const Found whole = search(case_with(16), terms_with(1000), predicate, 1);
    for (std::uint64_t budget = 1; budget < whole.runs; ++budget) {
        const Found one = search(case_with(16), terms_with(budget), predicate, 1);
        EXPECT_EQ(one.runs, budget);
        EXPECT_FALSE(one.minimal);
        EXPECT_EQ(search(case_with(16), terms_with(budget), predicate, 4), one) << budget;
    }
    EXPECT_EQ(search(case_with(16), terms_with(whole.runs), predicate, 4), whole);
}

TEST(Search, OneThatTimesOutCountsAsManyRuns) {
    const Predicate hanging = [](const Case&) { return TrialResult{TrialEnd::timed_out, {}}; };
    const Found found = search(case_with(16), terms_with(2 * timeout_cost), hanging, 1);
    EXPECT_EQ(found.runs, 2 * timeout_cost);
    EXPECT_EQ(found.refused.size(), 2U);
}

TEST(Search, KeepsTheFirstCaseOfEveryOtherSymptom) {
    const Found found = search(case_with(8), terms_with(1000), needs({2}), 1);
    EXPECT_THAT(found.slips, testing::ElementsAre("other 0"));
    EXPECT_EQ(search(case_with(8), terms_with(1000), needs({2}), 4).slips, found.slips);
}

TEST(Search, RunsNeitherWhatIsNotAllowedNorTheSameCaseTwice) {
    SearchTerms terms = terms_with(1000);
    terms.allowed = [](const Reduced& r) { return left(r.c).contains(5); };
    std::set<std::set<std::uint64_t>> seen;
    const Found found = search(
        case_with(9), std::move(terms),
        [&](const Case& c) {
            EXPECT_TRUE(left(c).contains(5));
            EXPECT_TRUE(seen.insert(left(c)).second);
            return needs({1})(c);
        },
        1);
    EXPECT_EQ(left(found.least.c), (std::set<std::uint64_t>{1, 5}));
    EXPECT_EQ(found.runs, seen.size());
}

// An edit that makes nothing less must not keep a search going.
TEST(Search, EndsEvenWithEditsThatGoInCircles) {
    const std::vector<Reducer> circle{{"circle", [](const Reduced&, const WordDomain&) {
                                           return std::vector<Edit>{
                                               {"size", "other", [](Reduced r) {
                                                    r.c.images[0].size ^= 512;
                                                    return r;
                                                }}};
                                       }}};
    const Found found = search(
        case_with(1), terms_with(1000),
        [](const Case&) {
            return TrialResult{TrialEnd::same, {}};
        },
        1, circle);
    EXPECT_EQ(found.runs, 1U);
    EXPECT_TRUE(found.minimal);
}

}  // namespace
}  // namespace difffuzz
