#include "core/cases/recipe_json.hpp"

#include <string>

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <nlohmann/json.hpp>

#include "core/cases/base64.hpp"
#include "tests/support/sample_case.hpp"

namespace difffuzz {
namespace {

using nlohmann::json;
using testing::HasSubstr;

Case sample() {
    Case c = test::sample_case();
    c.images.back().snapshots.back().name = "\xc3\xa4 2";
    return c;
}

std::string error_of(const json& recipe) {
    try {
        case_from_json(recipe);
    } catch (const RecipeError& error) {
        return error.what();
    }
    return "accepted";
}

json at(json recipe, const std::string& pointer, const json& value) {
    recipe[json::json_pointer(pointer)] = value;
    return recipe;
}

TEST(RecipeJson, RoundTripKeepsEverything) {
    const Case c = sample();
    EXPECT_EQ(case_from_json(to_json(c)), c);
    EXPECT_EQ(case_from_text(to_json(c).dump()), c);
}

TEST(RecipeJson, DamagedIntentsAndBadNamesOfFeatures) {
    Case c = sample();
    c.steps[0].intent = DamagedIntent{};
    EXPECT_EQ(case_from_json(to_json(c)), c);
    EXPECT_EQ(intent_name(c), "damaged");
    const json recipe = to_json(sample());
    EXPECT_THAT(error_of(at(recipe, "/images/1/snapshots/0/name", "")), HasSubstr("1 to 255"));
    EXPECT_THAT(error_of(at(recipe, "/images/1/snapshots/0/extra", 1)), HasSubstr("extra"));
    EXPECT_THAT(error_of(at(recipe, "/images/1/bitmaps/0/enabled", 1)), HasSubstr("true or false"));
    EXPECT_THAT(error_of(at(recipe, "/images/1/bitmaps/0/dirty/0/length", 0)),
                HasSubstr("/images/1/bitmaps/0/dirty/0/length"));
    EXPECT_THAT(error_of(at(recipe, "/images/1/damage/0/field", "../x")), HasSubstr("/field"));
    EXPECT_THAT(error_of(at(recipe, "/steps/0/intent", "ruined")), HasSubstr("damaged"));
}

TEST(RecipeJson, UnknownFieldsAreRefusedAtEveryLevel) {
    const json recipe = to_json(sample());
    for (const char* pointer :
         {"/extra", "/images/0/extra", "/images/1/options/0/extra", "/images/1/content/0/extra",
          "/images/1/content/0/fill/extra", "/outputs/0/extra", "/steps/0/extra",
          "/steps/0/intent/extra", "/steps/0/arguments/0/extra", "/steps/0/arguments/2/value/extra",
          "/steps/0/arguments/6/value/extra"}) {
        EXPECT_THAT(error_of(at(recipe, pointer, 1)), HasSubstr("unknown field 'extra'"))
            << pointer;
    }
}

TEST(RecipeJson, WhatCouldLeaveTheWorkspaceIsRefused) {
    const json recipe = to_json(sample());
    for (const char* text : {"/etc/passwd", "nbd:unix:x", "json:{\"driver\":\"file\"}",
                             "../../secret", "a\nb", "driver=file", "file.filename=x"}) {
        EXPECT_NE(error_of(at(recipe, "/steps/0/arguments/0/value", text)), "accepted") << text;
        EXPECT_NE(error_of(at(recipe, "/steps/0/arguments/3/value/literal", text)), "accepted")
            << text;
        EXPECT_NE(error_of(at(recipe, "/steps/0/arguments/2/value/as", text)), "accepted") << text;
        EXPECT_NE(error_of(at(recipe, "/images/1/options/1/value", text)), "accepted") << text;
        EXPECT_NE(error_of(at(recipe, "/images/0/id", text)), "accepted") << text;
        EXPECT_NE(error_of(at(recipe, "/images/0/format", text)), "accepted") << text;
    }
    EXPECT_NE(error_of(at(recipe, "/steps/0/arguments/5/value/base64", base64_encode("../x"))),
              "accepted");
}

TEST(RecipeJson, ReferencesMustExist) {
    const json recipe = to_json(sample());
    EXPECT_THAT(error_of(at(recipe, "/images/1/backing", "gone")), HasSubstr("earlier image"));
    EXPECT_THAT(error_of(at(recipe, "/images/0/backing", "src")), HasSubstr("earlier image"));
    EXPECT_THAT(error_of(at(recipe, "/steps/0/arguments/7/value/image", "gone")),
                HasSubstr("which the case lacks"));
    EXPECT_THAT(error_of(at(recipe, "/images/1/id", "base")), HasSubstr("used twice"));
    EXPECT_THAT(error_of(at(recipe, "/outputs/0/id", "base")), HasSubstr("used twice"));
}

TEST(RecipeJson, BoundsHold) {
    const json recipe = to_json(sample());
    EXPECT_THAT(error_of(at(recipe, "/images/0/size", -1)), HasSubstr("whole number"));
    EXPECT_THAT(error_of(at(recipe, "/images/0/size", UINT64_MAX)), HasSubstr("between"));
    EXPECT_THAT(error_of(at(recipe, "/images/1/content/0/length", 0)), HasSubstr("between"));
    EXPECT_THAT(error_of(at(recipe, "/images/1/content/0/length", std::uint64_t{1} << 40)),
                HasSubstr("data of all images"));
    EXPECT_THAT(error_of(at(recipe, "/images/1/content/2/fill/period", 0)), HasSubstr("between"));
    EXPECT_THAT(error_of(at(recipe, "/steps", json::array())), HasSubstr("at least one step"));
    EXPECT_THAT(error_of(at(recipe, "/schema", "difffuzz.recipe/2")), HasSubstr("/schema"));
}

TEST(RecipeJson, HostileTextIsRefusedInOneSentence) {
    const auto error = [](const std::string& text) -> std::string {
        try {
            case_from_text(text);
        } catch (const RecipeError& e) {
            return e.what();
        }
        return "accepted";
    };
    EXPECT_THAT(error(std::string(100'000, '[')), HasSubstr("nested more than"));
    EXPECT_THAT(error(std::string(5 << 20, ' ')), HasSubstr("bytes long"));
    EXPECT_THAT(error(R"({"schema":"a","schema":"b"})"), HasSubstr("twice"));
    EXPECT_THAT(error("{"), HasSubstr("not JSON"));
    EXPECT_THAT(error("\xff\xfe"), HasSubstr("not JSON"));
    EXPECT_THAT(error("3"), HasSubstr("must be an object"));
    EXPECT_THAT(error(""), HasSubstr("not JSON"));
}

TEST(RecipeJson, Base64IsCanonical) {
    for (const std::string bytes : {"", "a", "ab", "abc", "abcd"}) {
        EXPECT_EQ(base64_decode(base64_encode(bytes)), bytes);
    }
    for (const char* text : {"a", "YQ", "YQ==\n", "YR==", "Y===", "===="}) {
        EXPECT_EQ(base64_decode(text), std::nullopt) << text;
    }
}

TEST(RecipeJson, ASizeIsWhatItsSpellingSays) {
    const json recipe = to_json(sample());
    const std::string place = "/steps/0/arguments/2/value/as";
    EXPECT_EQ(error_of(at(recipe, place, "1024")), "accepted");
    for (const char* as : {"2k", "1023", "1.0001k", "1 k", "lots", ""}) {
        EXPECT_THAT(error_of(at(recipe, place, as)),
                    HasSubstr(place + ": does not spell the size 1024"));
    }
}

TEST(RecipeJson, ARecipeOfAnotherVersionIsNamedSo) {
    EXPECT_THAT(error_of(at(to_json(sample()), "/schema", "difffuzz.recipe/2")),
                HasSubstr("from another version of difffuzz"));
    EXPECT_THAT(error_of(at(to_json(sample()), "/schema", "recipe")), HasSubstr("must be"));
}

}  // namespace
}  // namespace difffuzz
