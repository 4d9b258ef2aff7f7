#include "pickers/creation_options.hpp"

#include <map>
#include <set>

#include <gtest/gtest.h>

#include "ops/operation.hpp"
#include "pickers/rules.hpp"
#include "pickers/spelling.hpp"

namespace difffuzz {
namespace {

Case case_with(std::vector<FormatOption> options) {
    Case c;
    c.outputs.push_back({std::string(target_id), "qcow2"});
    Step step;
    step.arguments = {{"-o", OptionList{std::move(options)}},
                      {"", ImageValue{std::string(target_id)}}};
    c.steps.push_back(step);
    return c;
}

TEST(CreationOptions, AreDrawnWithAllTheirWords) {
    const Plan plan = default_plan();
    std::set<std::string> seen;
    for (const std::string_view format : {"raw", "qcow2", "vmdk", "vpc"}) {
        for (std::uint64_t i = 0; i < 3000; ++i) {
            DrawState state = Draws::start(5, i, 0);
            for (const FormatOption& option :
                 draw_creation_options(Draws(state), plan, {format, 1 << 20, false, false})) {
                const auto* word = std::get_if<WordValue>(&option.value);
                seen.insert(std::string(format) + ' ' + option.name +
                            (word == nullptr ? "" : '=' + word->text));
            }
        }
    }
    for (const CreationOption& option : known_creation_options()) {
        // Backing files and sizes are drawn by the pickers that know them.
        if (option.name.starts_with("backing") || option.name == "size") {
            continue;
        }
        const std::string name = std::string(option.format) + ' ' + std::string(option.name);
        if (option.words.empty()) {
            EXPECT_TRUE(seen.contains(name)) << name;
        }
        for (const std::string_view word : option.words) {
            EXPECT_TRUE(seen.contains(name + '=' + std::string(word))) << name << ' ' << word;
        }
    }
}

TEST(CreationOptions, AreDrawnOrLeftOutWithAReason) {
    for (const LeftOut& left_out : creation_options_left_out()) {
        EXPECT_FALSE(left_out.reason.empty()) << left_out.option;
        for (const CreationOption& option : known_creation_options()) {
            EXPECT_NE(option.name, left_out.option);
        }
    }
}

TEST(CreationOptions, AllocateLittleUpFront) {
    const Plan plan = default_plan();
    for (const std::uint64_t size : {1ULL, 1ULL << 24, (1ULL << 24) + 512, 1ULL << 43}) {
        for (std::uint64_t i = 0; i < 2000; ++i) {
            DrawState state = Draws::start(6, i, 0);
            const Case c =
                case_with(draw_creation_options(Draws(state), plan, {"qcow2", size, false, false}));
            const UpFront cost = target_up_front(c, size);
            EXPECT_LE(cost.bytes, 32U << 20);
            EXPECT_LE(cost.clusters, 20'000U);
        }
    }
}

TEST(CreationOptions, AreFoundSetAndErased) {
    Case c = case_with({{"compat", WordValue{"1.1"}}, {"compat", WordValue{"v2"}}});
    EXPECT_TRUE(makes_version_2(c)) << "the last one counts";
    set_creation_option(last_step(c), "cluster_size", plain_size(512));
    EXPECT_EQ(target_cluster(c), 512U);
    erase_creation_option(last_step(c), "compat");
    EXPECT_FALSE(makes_version_2(c));
    erase_creation_option(last_step(c), "cluster_size");
    EXPECT_FALSE(has_option(last_step(c), "-o")) << "an empty list must go";
}

// A reader of sizes of our own, for what the spelling promises.
std::uint64_t read_size(const std::string& text) {
    const bool hex = text.find_first_of("xX") != std::string::npos;
    std::size_t end = 0;
    const long double number =
        hex ? static_cast<long double>(std::stoull(text, &end, 16)) : std::stold(text, &end);
    static const std::map<char, unsigned> shifts{
        {'k', 10}, {'m', 20}, {'g', 30}, {'t', 40}, {'b', 0}};
    const auto shift =
        end < text.size()
            ? shifts.at(static_cast<char>(std::tolower(static_cast<unsigned char>(text[end]))))
            : 0U;
    return static_cast<std::uint64_t>(number * static_cast<long double>(1ULL << shift));
}

TEST(Spelling, GivesExactlyTheSize) {
    std::set<char> last;
    for (std::uint64_t i = 0; i < 20'000; ++i) {
        DrawState state = Draws::start(7, i, 0);
        const std::uint64_t bytes = (i % 97) << (i % 40);
        const SizeValue value = draw_any_spelling(Draws(state), bytes);
        ASSERT_EQ(value.bytes, bytes);
        ASSERT_EQ(read_size(value.as), bytes) << value.as;
        last.insert(value.as.back());
    }
    for (const char letter : {'K', 'k', 'M', 'm', 'G', 'g', 'T', 't', 'b', 'B'}) {
        EXPECT_TRUE(last.contains(letter)) << letter;
    }
}

}  // namespace
}  // namespace difffuzz
