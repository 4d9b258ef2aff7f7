// How damage is done to a file, on tables made for the purpose.
#include "images/damage.hpp"

#include <gtest/gtest.h>

#include <array>
#include <fstream>

#include "images/format.hpp"
#include "tests/images/image_support.hpp"

namespace difffuzz {
namespace {

using test::recipe_of;
using test::ScratchDirectory;

constexpr std::string_view words[] = {"", "longer"};
std::vector<std::uint64_t> second_word(const File&) { return {20}; }
std::vector<std::uint64_t> first_word(const File&) { return {16}; }

constexpr DamageField fields[] = {
    {"number", 2, ByteOrder::big, 0},
    {"sum", 1, ByteOrder::big, 2, nullptr, {}, 0, 0, true},
    {"pointer", 4, ByteOrder::little, 4, nullptr, {}, 512, 0x7fffffff},
    {"first", 0, ByteOrder::big, 0, first_word, {}, 0, 0, false, words},
    {"second", 0, ByteOrder::big, 0, second_word, {}, 0, 0, false, words},
};

void seal(const File& file) { file.write_at(2, std::array{std::byte{'S'}}); }

// What is left of "0123456789abcdef" and "abc \"def\"" with NULs behind it.
std::string damaged(std::vector<Damage> damage) {
    const ScratchDirectory directory;
    ImageRecipe recipe = recipe_of("a", "raw", 32);
    recipe.damage = std::move(damage);
    std::ofstream(directory.path() / "a.raw")
        << "0123456789abcdef" << std::string("abc def\"x\0\0\0\0\0\0\0", 16);
    apply_damage(recipe, {fields, nullptr, seal}, directory.string());
    return test::read_file(directory.path() / "a.raw");
}

std::string numbers_of(const std::string& file) { return file.substr(0, 8); }
std::string text_of(const std::string& file) { return file.substr(16, file.find('\0') - 16); }

TEST(Damage, NumbersAreWrittenAndSumsPutRight) {
    EXPECT_EQ(numbers_of(damaged({{"number", 0, 0x4142}})), "ABS34567");
    EXPECT_EQ(numbers_of(damaged({{"number", 9, 0x4142}, {"sum", 0, 0x51}})), "ABQ34567");
}

TEST(Damage, SumsStayWhereTheDamageIsBlindOrTheirOwn) {
    EXPECT_EQ(numbers_of(damaged({{"bytes", 0, 1}})), "11234567");
    EXPECT_EQ(numbers_of(damaged({{"sum", 0, 0x51}})), "01Q34567");
    EXPECT_EQ(damaged({{"number", 0, 0x4142}, {"length", 0, 3}}), "ABS");
}

TEST(Damage, TextMovesWhatFollowsIt) {
    EXPECT_EQ(text_of(damaged({{"first", 0, 1}})), "longer def\"x");
    EXPECT_EQ(text_of(damaged({{"first", 0, 0}, {"second", 0, 12345}})), " 12345\"x");
    EXPECT_EQ(damaged({{"second", 0, 0}}).size(), 32U);
    // From the end on, so that the first does not move the second before it is replaced.
    EXPECT_EQ(text_of(damaged({{"first", 0, 1}, {"second", 0, 1}})), "longer longer\"x");
}

TEST(Damage, PointersPastTheEndAreAClass) {
    ImageRecipe recipe = recipe_of("a", "raw", 1 << 20);
    const auto past = [&](std::vector<Damage> damage) {
        recipe.damage = std::move(damage);
        return points_past_end(recipe, fields);
    };
    EXPECT_FALSE(past({}));
    EXPECT_TRUE(past({{"pointer", 0, 1 << 20}}));
    EXPECT_FALSE(past({{"pointer", 0, 1 << 10}}));
    // The flag does not count, all ones are no place, and all damage must be of the class.
    EXPECT_FALSE(past({{"pointer", 0, 0x80000400}}));
    EXPECT_FALSE(past({{"pointer", 0, UINT64_MAX}}));
    EXPECT_FALSE(past({{"number", 0, 1 << 20}}));
    EXPECT_FALSE(past({{"pointer", 0, 1 << 20}, {"bytes", 0, 1}}));
}

TEST(Damage, TheClassIsTheFeatureOfACase) {
    Case c;
    c.images = {recipe_of("a", "vdi", 1 << 20), recipe_of("b", "raw", 1 << 20)};
    EXPECT_EQ(damage_feature(c), "");
    c.images[0].damage = {{"map.entry", 0, 1 << 20}};
    EXPECT_EQ(damage_feature(c), "pointers past the end");
    c.images[1].damage = {{"length", 0, 1}};
    EXPECT_EQ(damage_feature(c), "");
}

TEST(Damage, FieldsThatAFormatLacksAreNamed) {
    ImageRecipe image = recipe_of("src", "qcow2", 1 << 20);
    image.damage = {{"header.nonsense", 0, 0}};
    EXPECT_EQ(broken_recipe(image),
              "image src: format qcow2 has no field 'header.nonsense' to damage");
}

}  // namespace
}  // namespace difffuzz
