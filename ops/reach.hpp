// What a plan's pickers can draw, the pairs of it, and cases steered to hold one pair each.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "core/cases/plan.hpp"
#include "ops/operation.hpp"
#include "pickers/case_reach.hpp"

namespace difffuzz {

// All that one operation can draw by a plan's formats and features. An option counts if its picker
// (or one of the kinds of its steps) declares it, a format if the plan does, a feature if there is
// a row for it, and each only if steered draws of the operation come to hold it.
struct OperationReach {
    std::string operation;
    std::vector<std::string> options;  // as in CaseReach, sorted
    std::vector<std::string> formats;
    std::vector<std::pair<std::string, std::string>> features;
    // Creation options and formats that one case can hold: an option of what is made goes with some
    // formats of what it is made from.
    std::vector<std::pair<std::string, std::string>> creation;
};

enum class PairKind { option_option, option_format, feature_format };

// Two things that a case is to hold. Of a feature and a format: an image of the format that has it.
struct ReachPair {
    std::string operation;
    PairKind kind = PairKind::option_option;
    std::string first;
    std::string second;
    bool operator==(const ReachPair&) const = default;
};

class Reach {
public:
    explicit Reach(const Plan& plan);

    const std::vector<OperationReach>& operations() const { return operations_; }
    const std::vector<ReachPair>& pairs() const { return pairs_; }

    // The pair that case `index` is steered to: every odd index takes the next one of a permutation
    // of all pairs, another permutation each time through, keyed with the seed. Null for even ones.
    const ReachPair* pair_of(std::uint64_t seed, std::uint64_t index) const;

private:
    std::vector<OperationReach> operations_;
    std::vector<ReachPair> pairs_;
};

// The reach of a plan, worked out once. The result lives until 32 other plans have been asked for.
const Reach& reach_of(const Plan& plan);

// Spares a process the work of reach_of(): `operations` are those of Reach for a plan with the same
// formats and features.
void know_reach(const Plan& plan, const std::vector<OperationReach>& operations);

bool holds(const CaseReach& found, const ReachPair& pair);

// Steered draws of one case before it is drawn freely.
inline constexpr std::uint32_t max_steered_draws = 64;

// A case of the pair's operation that holds the pair before it is damaged or made to be refused;
// nothing when no steered draw came to that.
std::optional<Case> draw_steered(const Plan& plan, const ReachPair& pair, std::uint64_t seed,
                                 std::uint64_t index, std::uint32_t attempt);

}  // namespace difffuzz
