// Every field of the damage tables can be spoilt, and some tool notices.
#include <gtest/gtest.h>

#include "images/format.hpp"
#include "support/run_tool.hpp"

namespace difffuzz {
namespace {

ImageRecipe rich_image(bool subclusters) {
    ImageRecipe image;
    image.id = "src";
    image.format = "qcow2";
    image.size = std::uint64_t{1} << 20;
    image.options = {{"cluster_size", plain_size(16384)}};
    image.backing = "base";
    image.content = {{WriteKind::write, 0, 40000, RandomFill{1}},
                     {WriteKind::compressed, 65536, 32768, ByteFill{3}},
                     {WriteKind::write, 131072, 100, RandomFill{2}},
                     {WriteKind::zero, 262144, 32768, {}}};
    if (subclusters) {
        image.options.push_back({"extended_l2", WordValue{"on"}});
        return image;
    }
    image.snapshots = {{"first", 2}, {"second", 4}};
    image.bitmaps = {{"dirty", 65536, true, {{0, 1000}}}};
    return image;
}

Case case_of(ImageRecipe image) {
    Case c;
    c.images.push_back(
        {"base", "raw", 600000, {}, {}, {{WriteKind::write, 0, 5000, RandomFill{9}}}});
    c.images.push_back(std::move(image));
    return c;
}

// What tools say about the image: how they end, what they print, what they read.
std::string said_about(const Case& c) {
    const test::ScratchDirectory directory;
    test::RealTools tools(directory.path());
    build_images(c, directory.string(), tools);
    std::string said;
    const std::vector<std::vector<std::string>> commands{
        {"timeout", "10", "qemu-img", "info", "-f", "qcow2", "--output", "json", "src.qcow2"},
        {"timeout", "10", "qemu-img", "check", "-f", "qcow2", "--output", "json", "src.qcow2"},
        {"timeout", "10", "qemu-img", "convert", "-f", "qcow2", "-O", "raw", "src.qcow2", "flat"},
        {"timeout", "10", "qemu-img", "convert", "-l", "snapshot.id=1", "-f", "qcow2", "-O", "raw",
         "src.qcow2", "old"},
        {"timeout", "10", "qemu-img", "bitmap", "--clear", "-f", "qcow2", "src.qcow2", "dirty"},
        {"timeout", "10", "qemu-img", "snapshot", "-d", "first", "src.qcow2"},
        {"timeout", "10", "qemu-img", "check", "-f", "qcow2", "--output", "json", "src.qcow2"},
        {"sha256sum", "flat", "old"},
    };
    for (const auto& command : commands) {
        const Outcome outcome = test::run_tool(directory.path(), command);
        const auto* exited = std::get_if<Exited>(&outcome.ending);
        said += (exited != nullptr ? std::to_string(exited->code) : "signal") + outcome.out.head +
                outcome.err.head;
    }
    return said;
}

TEST(Damage, EveryFieldOfQcow2IsThereAndMatters) {
    const Format& format = *find_format("qcow2");
    const std::string sound[] = {said_about(case_of(rich_image(false))),
                                 said_about(case_of(rich_image(true)))};
    for (const DamageField& field : format.damage_fields) {
        const bool subclusters = field.name == "l2.subclusters";
        bool noticed = false;
        for (const std::uint64_t value :
             {UINT64_MAX, std::uint64_t{0}, std::uint64_t{1}, std::uint64_t{0x8000000000004000},
              std::uint64_t{0x12345678}, std::uint64_t{5}}) {
            for (const std::uint64_t index : {0U, 1U, 2U}) {
                ImageRecipe image = rich_image(subclusters);
                image.damage = {{std::string(field.name), index, value}};
                noticed = noticed || said_about(case_of(image)) != sound[subclusters ? 1 : 0];
            }
        }
        EXPECT_EQ(noticed, field.ignored.empty()) << field.name;
    }
}

TEST(Damage, BytesAndLengthAreForEveryFormat) {
    for (const Format& format : formats()) {
        Case c;
        c.images.push_back({"src",
                            std::string(format.name),
                            1 << 20,
                            {},
                            {},
                            {{WriteKind::write, 0, 5000, RandomFill{9}}}});
        const test::ScratchDirectory sound;
        test::RealTools tools(sound.path());
        build_images(c, sound.string(), tools);
        c.images[0].damage = {{"bytes", 7, 0x10}, {"length", 0, 4096}};
        const test::ScratchDirectory spoilt;
        test::RealTools other(spoilt.path());
        build_images(c, spoilt.string(), other);
        const std::string name = file_name("src", format.name);
        std::string before = test::read_file(sound.path() / name).substr(0, 4096);
        before[7] = static_cast<char>(before[7] ^ 0x10);
        EXPECT_TRUE(test::read_file(spoilt.path() / name) == before) << name;
    }
}

TEST(Damage, FieldsThatAFormatLacksAreNamed) {
    ImageRecipe image = rich_image(false);
    image.damage = {{"header.nonsense", 0, 0}};
    EXPECT_EQ(broken_recipe(image),
              "image src: format qcow2 has no field 'header.nonsense' to damage");
}

}  // namespace
}  // namespace difffuzz
