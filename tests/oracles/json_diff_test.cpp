#include "oracles/json_diff.hpp"

#include <gtest/gtest.h>

namespace difffuzz {
namespace {

using nlohmann::json;

std::string fields(const char* subject, const char* reference) {
    return joined_fields(difference_of(json::parse(subject), json::parse(reference)));
}

TEST(JsonDiff, NamesEachKindOfChange) {
    EXPECT_EQ(fields(R"({"a":1})", R"({"a":1})"), "");
    EXPECT_EQ(fields(R"({"a":1,"n":2})", R"({"a":1})"), "+n");
    EXPECT_EQ(fields(R"({"a":1})", R"({"a":1,"z":0})"), "-z");
    EXPECT_EQ(fields(R"({"a":{"b":{"c":"x"}}})", R"({"a":{"b":{"c":"y"}}})"), "~a.b.c");
    EXPECT_EQ(fields(R"({"a":"1"})", R"({"a":1})"), "!a");
    EXPECT_EQ(fields(R"({"a":1.0})", R"({"a":1})"), "!a");
    EXPECT_EQ(fields(R"({"a":null})", R"({})"), "+a");
    EXPECT_EQ(fields(R"([])", R"({})"), "!");
}

TEST(JsonDiff, ArraysAreComparedByPlaceAndTheirIndicesAbstracted) {
    EXPECT_EQ(fields(R"([{"x":1},{"x":2}])", R"([{"x":2},{"x":1}])"), "~[].x");
    EXPECT_EQ(fields(R"([1,2,3])", R"([1])"), "+[]");
    EXPECT_EQ(fields(R"({"m":[1]})", R"({"m":[1,2]})"), "-m[]");
}

TEST(JsonDiff, FieldsAreBoundedButAllAreCounted) {
    json subject = json::object();
    for (int i = 0; i < 200; ++i) {
        subject["k" + std::to_string(100 + i)] = std::string(1000, 'v');
    }
    const JsonDifferences differences = difference_of(subject, json::object());
    EXPECT_EQ(differences.count, 200U);
    EXPECT_EQ(differences.first.size(), max_differences);
    EXPECT_LE(differences.first[0].subject.get<std::string>().size(), max_shown_value);
    EXPECT_EQ(joined_fields(differences), "+k100,+k101,+k102,+k103,+k104,+k105,+k106,+k107,…");
    EXPECT_EQ(to_json(differences).at("count"), 200);
}

TEST(JsonDiff, KeysOfStrangersAreEscapedAndBounded) {
    json subject = json::object();
    subject[std::string("a\nb") + std::string(500, 'x')] = 1;
    const std::string field = joined_fields(difference_of(subject, json::object()));
    EXPECT_TRUE(field.starts_with("+a\\nb"));
    EXPECT_LE(field.size(), 130U);
}

TEST(ParseOutput, TakesObjectsAndArraysOnly) {
    EXPECT_EQ(parse_output(" {\"a\":[1]}\n").form, JsonForm::parsed);
    EXPECT_EQ(parse_output("12").form, JsonForm::malformed);
    EXPECT_EQ(parse_output("").form, JsonForm::malformed);
    EXPECT_EQ(parse_output("{\"a\":1} trailing").form, JsonForm::malformed);
    EXPECT_EQ(parse_output("{\"a\":1,\"a\":2}").form, JsonForm::malformed);
    EXPECT_EQ(parse_output("{\"a\":\"\xff\"}").form, JsonForm::malformed);
}

TEST(ParseOutput, IsBoundedInDepth) {
    const auto nested = [](std::size_t depth) {
        return std::string(depth, '[') + std::string(depth, ']');
    };
    EXPECT_EQ(parse_output(nested(60)).form, JsonForm::parsed);
    EXPECT_EQ(parse_output(nested(70)).form, JsonForm::too_deep);
    EXPECT_EQ(parse_output(nested(1'000'000)).form, JsonForm::too_deep);
}

}  // namespace
}  // namespace difffuzz
