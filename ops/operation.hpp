// An operation is one row: picker, cost, inspections, layers. All else is shared.
#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "core/cases/case.hpp"
#include "oracles/layer.hpp"
#include "pickers/picker.hpp"

namespace difffuzz {

// What a case may cost at most on one side; legal commands can take minutes.
struct Cost {
    std::uint64_t bytes_written = 0;      // by images' construction and all steps
    std::uint64_t requests = 0;           // reads and writes of the tool
    std::uint64_t metadata_clusters = 0;  // clusters of tables that are created or walked
    std::uint64_t key_derivations = 0;    // LUKS slots opened or made

    bool within(const Cost& limit) const;
};
inline constexpr Cost cost_limit{std::uint64_t{256} << 20, 100'000, 1'000'000, 4};

// A layer as this operation uses it, with another name in its record types where the row says so.
struct LayerUse {
    LayerId id;
    std::string_view name;  // empty: the layer's own
};

struct Operation {
    std::string_view name;
    std::string_view summary;  // one line for `difffuzz ops`
    unsigned weight = 1;       // default share of the mix
    const Picker* picker = nullptr;
    // Pure; over-estimates are fine, under-estimates are not.
    Cost (*cost)(const Case& c) = nullptr;
    // What to look at after step `step`. Pure.
    std::vector<InspectionRequest> (*inspections)(const Case& c, std::size_t step) = nullptr;
    // Ids of images that step `step` may change. Pure.
    std::vector<std::string> (*may_change)(const Case& c, std::size_t step) = nullptr;
    // Whether the reference writes the same bytes every time it does this step. Pure.
    bool (*bytes_stable)(const Case& c, std::size_t step) = nullptr;
    // The first line that step `step` prints when it succeeds, without its line feed; nothing where
    // the case alone does not determine it. Null: never. Pure.
    std::optional<std::string> (*first_line)(const Case& c, std::size_t step) = nullptr;
    // Exit codes beside 0 that are an answer ("the images differ"), not a refusal, when nothing
    // stands on stderr.
    std::vector<int> answer_codes = {};
    std::vector<LayerUse> layers;  // in the order of LayerId, gates included
    std::vector<const TextNormaliser*> text_normalisers;
    std::vector<const JsonNormaliser*> json_normalisers;
};

// All operations in a fixed order: the only place that lists them (ops/table.cpp).
const std::vector<const Operation*>& operations();
// Null when unknown.
const Operation* find_operation(std::string_view name);

// Runs the layers of the row over a step, in order.
struct LayerReport {
    LayerId id;
    std::string name;
    LayerResult result;
};
std::vector<LayerReport> compare_step(const Operation& operation, const Comparison& comparison);

// The plan with every operation at its default weight and every format and feature we know.
Plan default_plan();
// Throws UsageError for an operation that does not exist, or a plan that leaves nothing to draw.
void check_plan(const Plan& plan);
// "a,b=3,-c": only the named (weights default to the row's), or all but the ones with a minus.
// Throws UsageError naming the word at fault and suggesting the nearest.
std::vector<OperationWeight> parse_operations(std::string_view text);

// The case of an index: knows nothing of any registry. Odd indices are steered to hold a pair of
// what the plan's pickers can draw (ops/reach.hpp), and drawn like the others where that fails.
// With pins every index is drawn like the others.
Case draw_case(const Plan& plan, std::uint64_t seed, std::uint64_t index, std::uint32_t attempt,
               const Pins* pins = nullptr);

// The first attempt that `filter` lets through; nothing after 32 attempts (exhausted).
inline constexpr std::uint32_t max_attempts = 32;
std::optional<Case> draw_filtered_case(const Plan& plan, std::uint64_t seed, std::uint64_t index,
                                       const std::function<bool(const Case&)>& filter,
                                       const Pins* pins = nullptr);

// The envelope as a function: empty when the case is one that its operation could have drawn.
std::vector<Violation> validate(const Case& c);

}  // namespace difffuzz
