#include "core/cases/symptom.hpp"

#include <gtest/gtest.h>

#include <nlohmann/json.hpp>

#include "core/cases/json_fields.hpp"

namespace difffuzz {
namespace {

Symptom example() {
    Symptom symptom;
    symptom.operation = "bench";
    symptom.layer = LayerId::content;
    symptom.layer_name = "write";
    symptom.direction = Direction::subject;
    symptom.subject_class = "succeeded";
    symptom.reference_class = "succeeded";
    symptom.field = "data";
    symptom.shape = ContentShape{"zeros", "edge", "cluster", "data"};
    return symptom;
}

TEST(Symptom, JsonGivesTheSameSymptomBack) {
    EXPECT_EQ(symptom_from_json(to_json(example())), example());
    Symptom plain = example();
    plain.shape.reset();
    plain.subject_message = "Could not open '<name>'";
    EXPECT_EQ(symptom_from_json(to_json(plain)), plain);
}

TEST(Symptom, UnknownAndMissingFieldsAreRefused) {
    nlohmann::json json = to_json(example());
    json["surprise"] = 1;
    EXPECT_THROW(symptom_from_json(json), RecipeError);
    json = to_json(example());
    json["shape"]["surprise"] = "x";
    EXPECT_THROW(symptom_from_json(json), RecipeError);
    json = to_json(example());
    json.erase("direction");
    EXPECT_THROW(symptom_from_json(json), RecipeError);
    json = to_json(example());
    json["layer"] = "nonsense";
    EXPECT_THROW(symptom_from_json(json), RecipeError);
    json["layer"] = 5;
    EXPECT_THROW(symptom_from_json(json), RecipeError);
    json = to_json(example());
    json["subject_message"] = std::string(100'000, 'x');
    EXPECT_THROW(symptom_from_json(json), RecipeError);
}

TEST(Symptom, TypeUsesTheNameThatTheOperationGivesTheLayer) {
    EXPECT_EQ(record_type(example()), "bench_write_divergence");
}

TEST(Symptom, KeyIsStableAndTellsSymptomsApart) {
    EXPECT_EQ(symptom_key(example()).size(), 16U);
    EXPECT_EQ(symptom_key(example()), symptom_key(example()));
    Symptom other = example();
    other.shape->subject_has = "old";
    EXPECT_NE(symptom_key(other), symptom_key(example()));
    other = example();
    other.direction = Direction::differ;
    EXPECT_NE(symptom_key(other), symptom_key(example()));
}

TEST(Symptom, NamesOfEnumerationsReadBack) {
    for (int i = 0; i <= static_cast<int>(LayerId::resource); ++i) {
        const auto layer = static_cast<LayerId>(i);
        EXPECT_EQ(parse_layer(to_string(layer)), layer);
    }
    for (int i = 0; i <= static_cast<int>(Severity::reference); ++i) {
        const auto severity = static_cast<Severity>(i);
        EXPECT_EQ(parse_severity(to_string(severity)), severity);
    }
    for (int i = 0; i <= static_cast<int>(Direction::differ); ++i) {
        const auto direction = static_cast<Direction>(i);
        EXPECT_EQ(parse_direction(to_string(direction)), direction);
    }
    EXPECT_FALSE(parse_layer("Crash"));
    EXPECT_FALSE(parse_severity(""));
    EXPECT_FALSE(parse_direction("none"));
}

}  // namespace
}  // namespace difffuzz
