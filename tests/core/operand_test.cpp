// Arguments that are a name and a value in one word.
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <nlohmann/json.hpp>

#include "core/cases/recipe_json.hpp"
#include "core/tools/dialect.hpp"

namespace difffuzz {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;

Case sample() {
    Case c;
    c.operation = "dd";
    ImageRecipe image;
    image.id = "src";
    image.format = "raw";
    image.size = 512;
    c.images = {image};
    Step step{Actor::tool, "dd", "dd", ValidIntent{}, {}};
    step.arguments = {{"-f", WordValue{"raw"}},
                      {"bs", SizeValue{1024, "1k"}},
                      {"count", LiteralValue{""}},
                      {"if", ImageValue{"src"}},
                      {"", WordValue{"sync"}}};
    c.steps = {step};
    return c;
}

TEST(Operand, IsOneWord) {
    const Case c = sample();
    EXPECT_THAT(render_step(c, c.steps[0]),
                ElementsAre("dd", "-f", "raw", "bs=1k", "count=", "if=src.raw", "sync"));
}

TEST(Operand, SurvivesTheWayToJsonAndBack) {
    EXPECT_EQ(case_from_json(to_json(sample())), sample());
}

std::string error_of(const nlohmann::json& recipe) {
    try {
        case_from_json(recipe);
    } catch (const RecipeError& error) {
        return error.what();
    }
    return "accepted";
}

TEST(Operand, IsAHarmlessNameWithAValue) {
    nlohmann::json recipe = to_json(sample());
    nlohmann::json& option = recipe["steps"][0]["arguments"][1]["option"];
    for (const char* name : {"b", "Bs", "b2", "b.s", "bs=", "", "a b"}) {
        option = name;
        EXPECT_THAT(error_of(recipe), HasSubstr("must be an option")) << name;
    }
    option = "driver";
    EXPECT_THAT(error_of(recipe), HasSubstr("names a driver"));
    option = "bs";
    recipe["steps"][0]["arguments"][1].erase("value");
    EXPECT_THAT(error_of(recipe), HasSubstr("needs a value"));
}

}  // namespace
}  // namespace difffuzz
