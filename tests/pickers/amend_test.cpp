#include "pickers/amend.hpp"

#include <gtest/gtest.h>

#include "ops/operation.hpp"
#include "pickers/rules.hpp"

namespace difffuzz {
namespace {

constexpr std::uint64_t mib = 1 << 20;

using Options = std::vector<FormatOption>;
using Names = std::vector<std::string>;

Case case_of(Options options, Options made_with = {}) {
    Case c;
    c.operation = "amend";
    ImageRecipe image;
    image.id = "src";
    image.format = "qcow2";
    image.size = 2 * mib;
    image.options = std::move(made_with);
    c.images = {image};
    c.steps = {{Actor::tool,
                "amend",
                "amend",
                ValidIntent{},
                {{"-o", OptionList{std::move(options)}}, {"", ImageValue{"src"}}}}};
    return c;
}

Names rules_of(const Case& c) {
    Names names;
    for (const Violation& violation : validate(c)) {
        names.push_back(violation.rule);
    }
    return names;
}

Names rules_of(Options options, Options made_with = {}) {
    return rules_of(case_of(std::move(options), std::move(made_with)));
}

const FormatOption old{"compat", WordValue{"0.10"}};
const FormatOption lazy{"lazy_refcounts", WordValue{"on"}};

FormatOption bits(std::int64_t width) { return {"refcount_bits", NumberValue{width}}; }
FormatOption size(std::uint64_t bytes) { return {"size", plain_size(bytes)}; }

TEST(AmendPicker, BoundsVersionTwo) {
    EXPECT_EQ(rules_of({old}), Names{});
    EXPECT_EQ(rules_of({old, bits(16)}, {bits(8), {"cluster_size", plain_size(4096)}}), Names{});
    EXPECT_EQ(rules_of({old}, {bits(8)}), Names{"version-2-refcount-bits"});
    EXPECT_EQ(rules_of({bits(8)}, {old}), Names{"version-2-refcount-bits"});
    EXPECT_EQ(rules_of({lazy}, {old}), Names{"version-2-lazy-refcounts"});
    EXPECT_EQ(rules_of({old}, {lazy}), Names{});
    EXPECT_EQ(rules_of({old, lazy}, {lazy}), Names{"contradiction"});
    EXPECT_EQ(rules_of({{"compat", WordValue{"v3"}}, lazy}, {old}), Names{});
    EXPECT_EQ(rules_of({old}, {{"extended_l2", WordValue{"on"}}}), Names{"version-2-feature"});
    Case zstd = case_of({old}, {{"compression_type", WordValue{"zstd"}}});
    EXPECT_EQ(rules_of(zstd), Names{});
    zstd.images[0].content = {{WriteKind::compressed, 0, 65536, ByteFill{1}}};
    EXPECT_EQ(rules_of(zstd), Names{"version-2-feature"});
}

TEST(AmendPicker, BoundsRefcounts) {
    const FormatOption small{"cluster_size", plain_size(4096)};
    EXPECT_EQ(rules_of({bits(64)}, {small}), Names{});
    EXPECT_EQ(rules_of({bits(64)}), Names{"slow-conversion"});
    EXPECT_EQ(rules_of({bits(16)}, {bits(64)}), Names{});
    EXPECT_EQ(rules_of({old, bits(16), lazy}, {bits(1)}), Names{"slow-conversion"})
        << "tools convert before they refuse";
    EXPECT_EQ(rules_of({bits(3)}), Names{"refcount-bits-range"});
    EXPECT_EQ(rules_of({bits(128)}), Names{"refcount-bits-range"});
    EXPECT_EQ(rules_of({bits(8)}, {{"cluster_size", plain_size(2 * mib)}}),
              Names{"slow-conversion"});
    EXPECT_EQ(rules_of({bits(16)}, {{"cluster_size", plain_size(2 * mib)}}), Names{});
    Case shared = case_of({bits(1)}, {small});
    EXPECT_EQ(rules_of(shared), Names{});
    shared.images[0].snapshots = {{"a", 0}};
    EXPECT_EQ(rules_of(shared), Names{"refcounts-too-narrow"});
    shared = case_of({bits(8)}, {small});
    shared.images[0].content = {{WriteKind::compressed, 0, 65536, ByteFill{1}}};
    EXPECT_EQ(rules_of(shared), Names{"refcounts-too-narrow"});
}

TEST(AmendPicker, BoundsTheSize) {
    EXPECT_EQ(rules_of({size(3 * mib)}), Names{});
    EXPECT_EQ(rules_of({size(mib)}), Names{});
    EXPECT_EQ(rules_of({size(mib + 1)}), Names{"size-not-sectors"});
    EXPECT_EQ(rules_of({size(0)}), Names{"size-bound"});
    Case c = case_of({size(2 * mib)}, {old});
    EXPECT_EQ(rules_of(c), Names{});
    c.images[0].snapshots = {{"a", 0}};
    EXPECT_EQ(rules_of(c), Names{"version-2-resize"});
    c = case_of({size(mib + 512)});
    c.steps.push_back(case_of({size(3 * mib)}).steps[0]);
    EXPECT_EQ(rules_of(c), Names{"stale-tail"});
    c = case_of({size(3 * mib), old});
    EXPECT_EQ(rules_of(c), Names{});
    c.images[0].snapshots = {{"a", 0}};
    EXPECT_EQ(rules_of(c), Names{"downgrade-with-resized-snapshots"});
    ImageRecipe longer = c.images[0];
    longer.id = "low";
    longer.size = 4 * mib;
    longer.snapshots.clear();
    c = case_of({size(3 * mib)}, {old});
    c.images[0].backing = "low";
    c.images.insert(c.images.begin(), longer);
    EXPECT_EQ(rules_of(c), Names{"version-2-resize"});
    c = case_of({size(3 * mib), {"compat", WordValue{"1.1"}}}, {old});
    EXPECT_EQ(rules_of(c), Names{});
}

TEST(AmendPicker, KnowsItsOptions) {
    EXPECT_EQ(rules_of({{"cluster_size", plain_size(65536)}}), Names{"creation-only-option"});
    EXPECT_EQ(rules_of({{"data_file_raw", WordValue{"on"}}}), Names{"no-data-file"});
    EXPECT_EQ(rules_of({{"backing_fmt", WordValue{"raw"}}}), Names{"backing-by-amend"});
    EXPECT_EQ(rules_of({{"other", WordValue{"on"}}}), Names{"unknown-creation-option"});
    EXPECT_EQ(rules_of({old, old}), Names{"creation-options-shape"});
    EXPECT_EQ(rules_of({{"size", WordValue{"on"}}}), Names{"creation-options-shape"});
    Case c = case_of({old});
    remove_option(c.steps[0], "-o");
    EXPECT_EQ(rules_of(c), Names{"no-options"});
}

TEST(AmendPicker, ChangesTheState) {
    const Case c =
        case_of({old, bits(16), size(mib)}, {lazy, {"compression_type", WordValue{"zstd"}}});
    CaseState state = initial_state(c);
    ASSERT_EQ(amend_kind().apply(c, c.steps[0], state), "");
    const ImageState& image = state.at("src");
    EXPECT_EQ(image.version, 2U);
    EXPECT_FALSE(image.lazy_refcounts);
    EXPECT_FALSE(image.zstd);
    EXPECT_EQ(image.own.size, mib);
}

TEST(AmendPicker, DrawsWaysUpAndDown) {
    Plan plan = default_plan();
    plan.operations = {{"amend", 1}};
    plan.refused_percent = 0;
    plan.damaged_percent = 0;
    unsigned up = 0;
    unsigned down = 0;
    unsigned widths = 0;
    unsigned sizes = 0;
    for (std::uint64_t i = 0; i < 1000; ++i) {
        const Case c = draw_case(plan, 3, i, 0);
        ASSERT_FALSE(c.steps.empty()) << i;
        const CaseState before = state_before(c, amend_picker().kinds, c.steps.size() - 1);
        const CaseState after = state_before(c, amend_picker().kinds, c.steps.size());
        const std::string id = image_of_step(last_step(c));
        up += after.at(id).version > before.at(id).version ? 1U : 0U;
        down += after.at(id).version < before.at(id).version ? 1U : 0U;
        widths += after.at(id).refcount_bits != before.at(id).refcount_bits ? 1U : 0U;
        sizes += after.at(id).own.size != before.at(id).own.size ? 1U : 0U;
    }
    EXPECT_GE(up, 50U);
    EXPECT_GE(down, 50U);
    EXPECT_GE(widths, 50U);
    EXPECT_GE(sizes, 100U);
}

}  // namespace
}  // namespace difffuzz
