// Every field of the damage tables can be spoilt, and some tool notices.
#include <gtest/gtest.h>

#include <map>
#include <sstream>

#include "images/format.hpp"
#include "support/run_tool.hpp"

namespace difffuzz {
namespace {

using Options = std::vector<FormatOption>;

// An image of a format that has every structure, for one kind of it.
struct Rich {
    Options options = {};
    std::string base = {};  // format of its backing image
    bool features = false;  // snapshots, bitmaps, compressed clusters
};

Case rich_case(const std::string& format, const Rich& rich) {
    Case c;
    ImageRecipe image;
    image.id = "src";
    image.format = format;
    image.size = std::uint64_t{3} << 20;
    image.options = rich.options;
    image.content = {{WriteKind::write, 0, 40000, RandomFill{1}},
                     {WriteKind::write, 131072, 100, RandomFill{2}},
                     {WriteKind::zero, 262144, 32768, {}},
                     {WriteKind::write, 2600000, 5000, RandomFill{4}}};
    if (rich.features) {
        image.content.push_back({WriteKind::compressed, 65536, 32768, ByteFill{3}});
        image.snapshots = {{"first", 2}, {"second", 4}};
        image.bitmaps = {{"dirty", 65536, true, {{0, 1000}}}};
    }
    if (!rich.base.empty()) {
        image.backing = "base";
        ImageRecipe base{"base", rich.base, 600000, {}, {}, {}};
        base.content = {{WriteKind::write, 0, 90000, RandomFill{9}}};
        c.images.push_back(base);
    }
    c.images.push_back(image);
    return c;
}

std::vector<Rich> rich_images(const std::string& format) {
    if (format == "qcow2") {
        const FormatOption cluster{"cluster_size", plain_size(16384)};
        return {{{cluster}, "raw", true},
                {{cluster, {"extended_l2", WordValue{"on"}}}, "raw", false}};
    }
    if (format == "vmdk") {
        const auto of = [](const char* word) {
            return Rich{{{"subformat", WordValue{word}}}, {}, false};
        };
        return {of("monolithicSparse"), of("streamOptimized"), of("monolithicFlat"),
                Rich{{}, "vmdk", false}};
    }
    if (format == "vpc") {
        return {{},
                {{{"force_size", WordValue{"on"}}}, {}, false},
                {{{"subformat", WordValue{"fixed"}}}, {}, false}};
    }
    if (format == "vhdx") {
        return {{{{"block_size", plain_size(1 << 20)}}, {}, false}};
    }
    if (format == "qed" || format == "qcow") {
        return {{}, {{}, "raw", false}};
    }
    return {{}};
}

// Without what depends on no field: how much of the file system the image takes, and the content id
// that a tool draws when it writes to a vmdk image.
std::string settled(const std::string& text, bool written) {
    std::istringstream in(text);
    std::string kept;
    for (std::string line; std::getline(in, line);) {
        const bool drawn = line.find("actual-size") != std::string::npos ||
                           (written && line.find("\"cid\"") != std::string::npos);
        kept += drawn ? "" : line + "\n";
    }
    return kept;
}

struct Seen {
    std::string file;
    std::string said;
};

// What tools say about the image and make of it: how they end, what they print, what they read,
// also once they have written to it. Nothing if the file is as in `sound`.
Seen look_at(const Case& c, const Seen& sound) {
    const test::ScratchDirectory directory;
    test::RealTools tools(directory.path());
    build_images(c, directory.string(), tools);
    const std::string format = c.images.back().format;
    const std::string name = file_name("src", format);
    Seen seen{test::read_file(directory.path() / name), {}};
    if (seen.file == sound.file) {
        return sound;
    }
    const auto flatten = [&](const std::string& to) {
        return std::vector<std::string>{"convert", "-f", format, "-O", "raw", name, to};
    };
    std::vector<std::vector<std::string>> commands{
        {"info", "--output", "json", name},
        {"info", "--output", "json", "-f", format, name},
        {"check", "-f", format, "--output", "json", name},
        flatten("flat"),
    };
    if (format == "qcow2") {
        commands.push_back(
            {"convert", "-l", "snapshot.id=1", "-f", format, "-O", "raw", name, "old"});
        commands.push_back({"bitmap", "--clear", "-f", format, name, "dirty"});
        commands.push_back({"snapshot", "-d", "first", name});
    }
    commands.push_back({"bench", "-w", "-c", "1", "-s", "4096", "-o", "1310720", "-f", format,
                        "--pattern", "7", name});
    commands.push_back({"check", "-r", "all", "-f", format, "--output", "json", name});
    commands.push_back({"info", "--output", "json", "-f", format, name});
    commands.push_back(flatten("again"));
    bool written = false;
    for (std::vector<std::string> command : commands) {
        command.insert(command.begin(), {"timeout", "20", "qemu-img"});
        const Outcome outcome = test::run_tool(directory.path(), command);
        const auto* exited = std::get_if<Exited>(&outcome.ending);
        seen.said += exited != nullptr ? std::to_string(exited->code) : "signal";
        written = written || command[3] == "bench";
        if (command[3] != "bench") {
            seen.said += settled(outcome.out.head, written);
        }
        seen.said += outcome.err.head;
    }
    seen.said += test::run_tool(directory.path(), {"sha256sum", "flat", "old", "again"}).out.head;
    return seen;
}

// What leaves the image sound but for the structures that damage of this field puts there.
std::vector<Damage> harmless(std::string_view field) {
    if (field.starts_with("log.")) {
        return {{"log.signature", 0, 0x65676f6c}};
    }
    if (field.starts_with("footer.")) {
        return {{"footer.magic", 0, 0x564d444b}};
    }
    return {};
}

std::vector<std::uint64_t> values_of(const DamageField& field) {
    std::vector<std::uint64_t> values{UINT64_MAX, 0, 1, 0x8000000000004000, 0x12345678, 5};
    if (!field.ignored.empty()) {
        values.resize(3);
    }
    for (std::uint64_t word = 2; word < field.words.size(); ++word) {
        values.push_back(word);
    }
    values.insert(values.end(), field.telling.begin(), field.telling.end());
    return values;
}

// One field of the kind, another, and all, since structures may be there twice.
std::vector<std::vector<Damage>> attempts(const DamageField& field, std::uint64_t value) {
    const std::string name(field.name);
    const std::vector<Damage> all{{name, 0, value}, {name, 1, value}, {name, 2, value}};
    return field.ignored.empty()
               ? std::vector<std::vector<Damage>>{{all[0]}, {all[1]}, {all[2]}, all}
               : std::vector<std::vector<Damage>>{all};
}

class DamageTables : public testing::TestWithParam<std::string> {};

TEST_P(DamageTables, EveryFieldIsThereAndMatters) {
    const Format& format = *find_format(GetParam());
    std::map<std::string, Seen> sound;
    const auto seen_with = [&](const Rich& rich, std::vector<Damage> damage, const Seen& before) {
        Case c = rich_case(GetParam(), rich);
        c.images.back().damage = std::move(damage);
        return look_at(c, before);
    };
    for (const DamageField& field : format.damage.fields) {
        const std::string name(field.name);
        bool there = false;
        bool noticed = false;
        std::size_t number = 0;
        for (const Rich& rich : rich_images(GetParam())) {
            const std::vector<Damage> none =
                format.damage.prepare == nullptr ? std::vector<Damage>{} : harmless(name);
            const std::string key = std::to_string(number++) + (none.empty() ? "" : none[0].field);
            if (!sound.contains(key)) {
                sound[key] = seen_with(rich, none, {});
            }
            bool here = false;
            std::size_t tried = 0;
            for (const std::uint64_t value : values_of(field)) {
                // This kind of image has no such field: two values cannot both be what is there.
                if (noticed || (!here && tried++ >= 2)) {
                    break;
                }
                for (const std::vector<Damage>& damage : attempts(field, value)) {
                    if (!noticed) {
                        const Seen seen = seen_with(rich, damage, sound[key]);
                        here = here || seen.file != sound[key].file;
                        noticed = seen.said != sound[key].said;
                    }
                }
            }
            there = there || here;
        }
        EXPECT_TRUE(there) << name;
        EXPECT_EQ(noticed, field.ignored.empty()) << name;
    }
}

INSTANTIATE_TEST_SUITE_P(Formats, DamageTables,
                         testing::Values("qcow2", "vmdk", "vpc", "vdi", "vhdx", "qed", "qcow",
                                         "parallels"),
                         [](const auto& test) { return test.param; });

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

}  // namespace
}  // namespace difffuzz
