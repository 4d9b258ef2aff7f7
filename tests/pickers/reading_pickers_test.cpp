// What is particular to the pickers of info, check, map and measure.
#include <algorithm>
#include <map>
#include <set>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "core/tools/dialect.hpp"
#include "images/format.hpp"
#include "pickers/check.hpp"
#include "pickers/creation_options.hpp"
#include "pickers/info.hpp"
#include "pickers/map.hpp"
#include "pickers/measure.hpp"
#include "pickers/rules.hpp"
#include "pickers/value_rules.hpp"

namespace difffuzz {
namespace {

using testing::Contains;
using testing::ElementsAre;
using testing::IsEmpty;

constexpr unsigned draw_count = 4000;

std::vector<Case> draw_many(const Picker& picker, unsigned refused_percent) {
    Plan plan;
    plan.formats = {"raw", "qcow2", "vmdk", "vpc"};
    plan.features = {"zstd"};
    plan.refused_percent = refused_percent;
    plan.damaged_percent = 0;
    std::vector<Case> cases;
    for (std::uint64_t i = 0; i < draw_count; ++i) {
        DrawState state = Draws::start(51, i, 0);
        cases.push_back(pick_case(picker, {Draws(state), plan}));
    }
    return cases;
}

std::vector<std::string> broken_in(const Picker& picker, const Case& c) {
    std::vector<std::string> names;
    for (const Violation& violation : validate_case(picker, c)) {
        names.push_back(violation.rule);
    }
    return names;
}

template <typename Predicate>
const Case& find_case(const std::vector<Case>& cases, Predicate predicate) {
    const auto found = std::ranges::find_if(cases, predicate);
    EXPECT_NE(found, cases.end());
    return found == cases.end() ? cases.front() : *found;
}

template <typename Predicate>
unsigned percent(const std::vector<Case>& cases, Predicate predicate) {
    return static_cast<unsigned>(std::ranges::count_if(cases, predicate) * 100 /
                                 static_cast<std::ptrdiff_t>(cases.size()));
}

TEST(InfoPicker, LooksAtChainsInBothForms) {
    const auto cases = draw_many(info_picker(), 0);
    EXPECT_GE(percent(cases, [](const Case& c) { return c.images.size() > 1; }), 8U);
    EXPECT_GE(percent(cases,
                      [](const Case& c) {
                          return c.images.size() > 1 && has_option(c.steps[0], "--backing-chain");
                      }),
              2U);
    EXPECT_GE(percent(cases,
                      [](const Case& c) {
                          return option_value<WordValue>(c.steps[0], "--output") == nullptr;
                      }),
              15U);
}

TEST(CheckPicker, ChecksFormatsThatHaveChecks) {
    std::map<std::string, unsigned> formats;
    for (const Case& c : draw_many(check_picker(), 0)) {
        ++formats[c.images.back().format];
    }
    EXPECT_EQ(formats.size(), 2U);
    EXPECT_GE(formats["qcow2"], draw_count * 6 / 10);
    EXPECT_GE(formats["vmdk"], draw_count / 10);
}

TEST(CheckPicker, RefusesTheRestByOneRule) {
    std::set<std::string> formats;
    for (const Case& c : draw_many(check_picker(), 100)) {
        if (broken_rule(c) == "no-check-support") {
            formats.insert(c.images.back().format);
            const auto* word = option_value<WordValue>(c.steps[0], "-f");
            EXPECT_TRUE(c.images.back().format == "raw" ||
                        (word != nullptr && word->text == "raw"));
        }
    }
    EXPECT_THAT(formats, testing::UnorderedElementsAre("qcow2", "raw", "vmdk"));
}

TEST(MapPicker, WindowsHugBoundaries) {
    const auto cases = draw_many(map_picker(), 0);
    std::map<std::string, unsigned> seen;
    for (const Case& c : cases) {
        const ImageRecipe& image = c.images.back();
        const std::uint64_t size = find_format(image.format)->actual_size(image);
        const std::uint64_t unit = find_format(image.format)->cluster_bytes(image);
        const auto start = bytes_of(c.steps[0], "--start-offset");
        const auto length = bytes_of(c.steps[0], "--max-length");
        seen["start"] += start ? 1U : 0U;
        seen["length"] += length ? 1U : 0U;
        seen["both"] += start && length ? 1U : 0U;
        seen["past"] += start && *start > size ? 1U : 0U;
        seen["unaligned"] += start && *start % 512 != 0 ? 1U : 0U;
        seen["cluster"] += start && unit != 0 && *start != 0 && *start % unit == 0 ? 1U : 0U;
        seen["zero"] += length && *length == 0 ? 1U : 0U;
    }
    for (const auto& [what, least] : std::map<std::string, unsigned>{{"start", 30},
                                                                     {"length", 30},
                                                                     {"both", 8},
                                                                     {"past", 3},
                                                                     {"unaligned", 5},
                                                                     {"cluster", 2}}) {
        EXPECT_GE(seen[what], draw_count * least / 100) << what;
    }
    EXPECT_GE(seen["zero"], 10U);
}

TEST(MapPicker, CompressedClustersAreForJson) {
    const auto compressed = [](const Case& c) {
        return std::ranges::any_of(c.images, [](const ImageRecipe& image) {
            return std::ranges::any_of(image.content, [](const ContentWrite& write) {
                return write.kind == WriteKind::compressed;
            });
        });
    };
    const auto cases = draw_many(map_picker(), 0);
    EXPECT_GE(percent(cases, compressed), 8U);
    for (const Case& c : cases) {
        const auto* output = option_value<WordValue>(c.steps[0], "--output");
        EXPECT_TRUE(!compressed(c) || (output != nullptr && output->text == "json"));
    }
    Case text = find_case(cases, compressed);
    set_option(text.steps[0], "--output", WordValue{"human"});
    EXPECT_THAT(broken_in(map_picker(), text), Contains("compressed-as-text"));
}

TEST(MapPicker, BoundsTheSumOfTheWindow) {
    Case c = find_case(draw_many(map_picker(), 0), [](const Case&) { return true; });
    set_option(c.steps[0], "--start-offset", plain_size(1));
    set_option(c.steps[0], "--max-length", plain_size(9'223'372'036'854'775'806));
    EXPECT_THAT(broken_in(map_picker(), c), IsEmpty());
    set_option(c.steps[0], "--start-offset", plain_size(2));
    EXPECT_THAT(broken_in(map_picker(), c), ElementsAre("window-overflow"));
}

TEST(MeasurePicker, MeasuresSizesAndFiles) {
    const auto cases = draw_many(measure_picker(), 0);
    EXPECT_NEAR(percent(cases, [](const Case& c) { return c.images.empty(); }), 45, 4);
    for (const Case& c : cases) {
        EXPECT_EQ(c.images.empty(), has_option(c.steps[0], "--size"));
        EXPECT_EQ(c.images.empty(), positionals(c.steps[0]).empty());
    }
    EXPECT_GE(percent(cases, [](const Case& c) { return target_format(c) == "qcow2"; }), 55U);
}

TEST(MeasurePicker, AsksForEveryOptionThatMatters) {
    std::set<std::string> seen;
    for (const Case& c : draw_many(measure_picker(), 0)) {
        for (const FormatOption& option : creation_options(c.steps[0])) {
            const auto* word = std::get_if<WordValue>(&option.value);
            seen.insert(option.name + (word == nullptr ? "" : "=" + word->text));
        }
    }
    for (const char* name : {"cluster_size", "refcount_bits", "backing_file", "compat=0.10",
                             "compat=1.1", "lazy_refcounts=on", "extended_l2=on", "extended_l2=off",
                             "compression_type=zstd", "preallocation=off", "preallocation=metadata",
                             "preallocation=falloc", "preallocation=full"}) {
        EXPECT_TRUE(seen.contains(name)) << name;
    }
    EXPECT_FALSE(seen.contains("compat=v2"));
    EXPECT_FALSE(seen.contains("compat=v3"));
}

// The largest sizes as measured on qemu-img 7.2.22, 10.0 and 11.1.
TEST(MeasurePicker, KnowsTheLargestSize) {
    const auto broken = [](std::uint64_t size, std::vector<FormatOption> options) {
        Case c;
        c.operation = "measure";
        c.steps.push_back({Actor::tool, "measure", "measure", ValidIntent{}, {}});
        c.steps[0].arguments = {{"-O", WordValue{"qcow2"}}, {"--size", plain_size(size)}};
        if (!options.empty()) {
            c.steps[0].arguments.push_back({"-o", OptionList{std::move(options)}});
        }
        return broken_in(measure_picker(), c);
    };
    const FormatOption small{"cluster_size", plain_size(512)};
    const FormatOption large{"cluster_size", plain_size(2 << 20)};
    const FormatOption extended{"extended_l2", WordValue{"on"}};
    EXPECT_THAT(broken(std::uint64_t{1} << 51, {}), IsEmpty());
    EXPECT_THAT(broken((std::uint64_t{1} << 51) + 1, {}), ElementsAre("size-too-large"));
    EXPECT_THAT(broken(137'438'953'472, {small}), IsEmpty());
    EXPECT_THAT(broken(137'438'953'473, {small}), ElementsAre("size-too-large"));
    EXPECT_THAT(broken(std::uint64_t{1} << 50, {extended}), IsEmpty());
    EXPECT_THAT(broken((std::uint64_t{1} << 50) + 1, {extended}), ElementsAre("size-too-large"));
    EXPECT_THAT(broken(std::uint64_t{1} << 61, {large}), IsEmpty());
    EXPECT_THAT(broken((std::uint64_t{1} << 61) + 1, {large}), ElementsAre("size-too-large"));
}

}  // namespace
}  // namespace difffuzz
