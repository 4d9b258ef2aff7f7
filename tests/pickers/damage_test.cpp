#include "pickers/damage.hpp"

#include <gtest/gtest.h>

#include <set>

#include "images/format.hpp"

namespace difffuzz {
namespace {

Case damaged(const Format& format, std::uint64_t i) {
    Case c;
    c.operation = "info";
    c.images.push_back({"src", std::string(format.name), 3 << 20, {}, {}, {}});
    c.steps.push_back({Actor::tool, "info", "info", ValidIntent{}, {{"", ImageValue{"src"}}}});
    DrawState state = Draws::start(17, i, 0);
    EXPECT_TRUE(damage_case(c, Draws(state).scope("damage")));
    return c;
}

TEST(DamagePicker, EveryFieldWordAndMeaningIsDrawn) {
    for (const Format& format : formats()) {
        std::set<std::pair<std::string, std::uint64_t>> drawn;
        std::set<std::string> fields;
        for (std::uint64_t i = 0; i < 12'000; ++i) {
            const Case c = damaged(format, i);
            ASSERT_EQ(broken_recipe(c.images[0]), "");
            ASSERT_EQ(intent_name(c), "damaged");
            for (const Damage& damage : c.images[0].damage) {
                drawn.emplace(damage.field, damage.value);
                fields.insert(damage.field);
            }
        }
        EXPECT_TRUE(fields.contains("bytes") && fields.contains("length")) << format.name;
        for (const DamageField& field : format.damage.fields) {
            EXPECT_TRUE(fields.contains(std::string(field.name))) << format.name << field.name;
            for (std::uint64_t word = 0; word < field.words.size(); ++word) {
                EXPECT_TRUE(drawn.contains({std::string(field.name), word}))
                    << format.name << field.name << field.words[word];
            }
            for (const std::uint64_t value : field.telling) {
                EXPECT_TRUE(drawn.contains({std::string(field.name), value}))
                    << format.name << field.name << value;
            }
        }
    }
}

TEST(DamagePicker, ValuesFitTheirFields) {
    for (const Format& format : formats()) {
        for (std::uint64_t i = 0; i < 2'000; ++i) {
            const Case c = damaged(format, i);
            for (const Damage& damage : c.images[0].damage) {
                const DamageField* field = find_field(format.damage.fields, damage.field);
                if (field != nullptr && field->words.empty() && field->bytes < 8) {
                    EXPECT_EQ(damage.value >> 8 * field->bytes, 0U) << damage.field;
                }
            }
        }
    }
}

// Neither absent nor what most cases are.
TEST(DamagePicker, PointersPastTheEndAreSome) {
    unsigned past = 0;
    constexpr unsigned draws = 4'000;
    const Format& qcow2 = *find_format("qcow2");
    for (std::uint64_t i = 0; i < draws; ++i) {
        past += damage_feature(damaged(qcow2, i)).empty() ? 0U : 1U;
    }
    EXPECT_GT(past, draws / 100);
    EXPECT_LT(past, draws / 4);
}

}  // namespace
}  // namespace difffuzz
