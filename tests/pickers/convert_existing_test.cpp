#include "pickers/convert_existing.hpp"

#include <map>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "core/tools/dialect.hpp"
#include "ops/operation.hpp"
#include "pickers/convert.hpp"
#include "pickers/creation_options.hpp"

namespace difffuzz {
namespace {

using testing::ElementsAre;
using testing::IsEmpty;

ImageRecipe image(const std::string& id, const std::string& format, std::uint64_t size) {
    ImageRecipe recipe;
    recipe.id = id;
    recipe.format = format;
    recipe.size = size;
    return recipe;
}

Case sample() {
    Case c;
    c.operation = "convert_existing";
    c.images = {image("src", "raw", 65536), image(std::string(target_id), "qcow2", 1 << 20)};
    Step step{Actor::tool, "convert_existing", "convert", ValidIntent{}, {}};
    step.arguments = {{"-n", std::nullopt},
                      {"-f", WordValue{"raw"}},
                      {"-O", WordValue{"qcow2"}},
                      {"", ImageValue{"src"}},
                      {"", ImageValue{std::string(target_id)}}};
    c.steps = {step};
    return c;
}

std::vector<std::string> rules_of(const Case& c) {
    std::vector<std::string> rules;
    for (const Violation& violation : validate_case(convert_existing_picker(), c)) {
        rules.push_back(violation.rule);
    }
    return rules;
}

TEST(ConvertExisting, WritesToAnImageOfTheCase) {
    const Case c = sample();
    EXPECT_THAT(rules_of(c), IsEmpty());
    EXPECT_THAT(render_step(c, c.steps[0]),
                ElementsAre("convert", "-n", "-f", "raw", "-O", "qcow2", "src.raw", "out.qcow2"));
}

TEST(ConvertExisting, KeepsWhatLiesBehindTheSource) {
    Case c = sample();
    c.images[0].content = {{WriteKind::write, 0, 512, ByteFill{1}}};
    c.images[1].content = {{WriteKind::write, 0, 131072, ByteFill{2}}};
    const auto requests = find_operation("convert_existing")->inspections(c, 0);
    ASSERT_FALSE(requests.empty());
    const auto model = model_of(c, *requests[0].expected);
    EXPECT_EQ(model->size(), 1U << 20);
    const auto byte_at = [&](std::uint64_t offset) {
        std::byte byte{};
        model->read(offset, {&byte, 1});
        return std::to_integer<int>(byte);
    };
    EXPECT_EQ(byte_at(0), 1);
    EXPECT_EQ(byte_at(512), 0);
    EXPECT_EQ(byte_at(65535), 0);
    EXPECT_EQ(byte_at(65536), 2);
    EXPECT_EQ(byte_at(131072), 0);
}

TEST(ConvertExisting, BoundsItsTarget) {
    Case c = sample();
    c.images[1].size = 512;
    EXPECT_THAT(rules_of(c), ElementsAre("target-too-small"));

    c = sample();
    c.steps[0].arguments[2].value = WordValue{"raw"};
    EXPECT_THAT(rules_of(c), ElementsAre("target-as-raw"));
    c.steps[0].arguments[2].value = WordValue{"vmdk"};
    EXPECT_THAT(rules_of(c), ElementsAre("other-target-format"));

    c = sample();
    c.steps[0].arguments.insert(c.steps[0].arguments.begin(), {"--target-is-zero", std::nullopt});
    EXPECT_THAT(rules_of(c), IsEmpty());
    c.images[1].content = {{WriteKind::write, 0, 1, ByteFill{2}}};
    EXPECT_THAT(rules_of(c), ElementsAre("target-is-not-zero"));

    c = sample();
    c.images.pop_back();
    c.outputs = {{std::string(target_id), "qcow2"}};
    EXPECT_THAT(rules_of(c), ElementsAre("no-target-to-fill"));
}

TEST(ConvertExisting, DrawsTargetsLargerAndWithContent) {
    std::map<std::string, unsigned> seen;
    const Plan plan = default_plan();
    for (std::uint64_t i = 0; i < 1000; ++i) {
        DrawState state = Draws::start(5, i, 0);
        const Case c = convert_existing_picker().draw_valid({Draws(state), plan});
        const ImageRecipe& target = *existing_target(c);
        seen["larger"] += target.size > convert_size(c) ? 1U : 0U;
        seen["content"] += target.content.empty() ? 0U : 1U;
        seen["trusted"] += find_argument(c.steps[0], "--target-is-zero") == nullptr ? 0U : 1U;
        seen["snapshot read"] += find_argument(c.steps[0], "-l") == nullptr ? 0U : 1U;
        seen[target.format] += 1;
    }
    for (const char* kind :
         {"larger", "content", "trusted", "snapshot read", "raw", "qcow2", "vmdk", "vpc", "vdi"}) {
        EXPECT_GE(seen[kind], 20U) << kind;
    }
}

}  // namespace
}  // namespace difffuzz
