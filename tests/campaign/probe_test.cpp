// Probes: what is left open is drawn, and what is wrong is said with its place.
#include <filesystem>
#include <fstream>
#include <set>

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <nlohmann/json.hpp>

#include "campaign/json_files.hpp"
#include "campaign/probe.hpp"
#include "core/cases/json_fields.hpp"
#include "core/cases/recipe_json.hpp"
#include "core/errors.hpp"
#include "ops/operation.hpp"
#include "support/run_tool.hpp"

namespace difffuzz::test {
namespace {

using nlohmann::json;
using testing::HasSubstr;

json create_probe() {
    return json::parse(R"({
        "schema": "difffuzz.probe/1", "comment": ["two", "lines"],
        "open": {"len": {"from": 1, "to": 100000, "multiple_of": 512},
                 "fmt": {"of": ["raw", "qcow2"]}},
        "recipe": {"schema": "difffuzz.recipe/1", "operation": "create", "images": [],
            "outputs": [{"id": "out", "format": {"draw": "fmt"}}],
            "steps": [{"actor": "tool", "operation": "create", "command": "create",
                "intent": "valid", "arguments": [
                    {"option": "-f", "value": {"draw": "fmt"}}, {"value": {"image": "out"}},
                    {"value": {"size": {"draw": "len"}}}]}]}})");
}

std::string error_of(const json& probe) {
    try {
        case_of(parse_probe(probe.dump()), 1, 0);
    } catch (const RecipeError& error) {
        return error.what();
    }
    return {};
}

TEST(Probe, DrawsWhatIsLeftOpenTheSameEachTimeAndInEachPlace) {
    const Probe probe = parse_probe(create_probe().dump());
    EXPECT_TRUE(probe.is_open());
    std::set<std::uint64_t> sizes;
    std::set<std::string> formats;
    for (std::uint64_t index = 0; index < 64; ++index) {
        const Case c = case_of(probe, 7, index);
        EXPECT_EQ(c, case_of(probe, 7, index));
        EXPECT_TRUE(validate(c).empty());
        const auto& size = std::get<SizeValue>(*c.steps[0].arguments[2].value);
        EXPECT_EQ(size.bytes % 512, 0U);
        EXPECT_GE(size.bytes, 512U);
        EXPECT_LE(size.bytes, 99840U);
        EXPECT_EQ(size.as, std::to_string(size.bytes));
        EXPECT_EQ(std::get<WordValue>(*c.steps[0].arguments[0].value).text, c.outputs[0].format);
        sizes.insert(size.bytes);
        formats.insert(c.outputs[0].format);
    }
    EXPECT_GT(sizes.size(), 40U);
    EXPECT_EQ(formats, (std::set<std::string>{"raw", "qcow2"}));
    EXPECT_NE(case_of(probe, 7, 0), case_of(probe, 8, 0));
}

TEST(Probe, TakesADrawnCaseWithDrawsHeldAndABareRecipe) {
    const Probe drawn = parse_probe(
        R"({"schema": "difffuzz.probe/1", "operation": "bench",
            "pins": {"image[src].format": "qcow2", "step[0].arg[-d]": "1"}})");
    for (std::uint64_t index = 0; index < 32; ++index) {
        const Case c = case_of(drawn, 3, index);
        EXPECT_EQ(c.operation, "bench");
        EXPECT_EQ(find_image(c, "src")->format, "qcow2");
    }
    const Case c = case_of(drawn, 3, 5);
    const Probe bare = parse_probe(to_json(c).dump());
    EXPECT_FALSE(bare.is_open());
    EXPECT_EQ(case_of(bare, 1, 0), c);
}

TEST(Probe, SaysWhereAndWhyItCannotBeUsed) {
    const auto with = [](const char* pointer, json value) {
        json probe = create_probe();
        probe[json::json_pointer(pointer)] = std::move(value);
        return error_of(probe);
    };
    EXPECT_EQ(error_of(create_probe()), "");
    EXPECT_THAT(with("/schema", "difffuzz.probe/9"), HasSubstr("/schema: "));
    EXPECT_THAT(with("/opne", 1), HasSubstr("unknown field 'opne'"));
    EXPECT_THAT(with("/open/other", json{{"of", {1}}}), HasSubstr("/open/other: is used nowhere"));
    EXPECT_THAT(with("/recipe/outputs/0/format", json{{"draw", "no"}}),
                HasSubstr("/recipe/outputs/0/format/draw: names 'no', which /open lacks"));
    EXPECT_THAT(with("/open/len", json{{"from", 5}, {"to", 4}}), HasSubstr("/open/len/to: "));
    EXPECT_THAT(with("/open/len", json{{"from", 5}, {"to", 9}, {"multiple_of", 512}}),
                HasSubstr("/open/len: leaves no number"));
    EXPECT_THAT(with("/open/fmt", json{{"of", json::array()}}), HasSubstr("/open/fmt/of: "));
    EXPECT_THAT(with("/recipe/steps/0/actor", "nobody"), HasSubstr("/recipe/steps/0/actor: "));
    EXPECT_THAT(with("/open/fmt", json{{"of", {"vfat"}}}), HasSubstr("/recipe: lies outside"));
    EXPECT_THAT(error_of(json{{"schema", "difffuzz.probe/1"}, {"operation", "convrt"}}),
                HasSubstr("/operation: there is no operation 'convrt'"));
    EXPECT_THAT(error_of(json{{"schema", "difffuzz.probe/1"},
                              {"operation", "info"},
                              {"pins", {{"no.such.draw", "1"}}}}),
                HasSubstr("/pins: no draw of this case has the path no.such.draw"));
}

TEST(JsonFiles, AreFoundBelowADirectoryAndMustBeRegularAndHoldSomething) {
    namespace fs = std::filesystem;
    const ScratchDirectory scratch;
    const auto write = [&](const char* name, const char* text) {
        fs::create_directories((scratch.path() / name).parent_path());
        std::ofstream(scratch.path() / name) << text;
    };
    const auto error = [&] {
        try {
            read_json_files(scratch.path().string());
        } catch (const UsageError& usage) {
            return std::string(usage.what());
        }
        return std::string();
    };
    EXPECT_THAT(error(), HasSubstr("there is no file '*.json' below it"));
    write("b.json", "1");
    write("a/c.json", "2");
    write("a/notes.txt", "");
    write(".git/d.json", "");
    std::vector<std::string> names;
    for (const JsonFile& file : read_json_files(scratch.path().string())) {
        names.push_back(file.name + "=" + file.text);
    }
    EXPECT_EQ(names, (std::vector<std::string>{"a/c=2", "b=1"}));
    write("e.json", "");
    EXPECT_THAT(error(), HasSubstr("e.json' cannot be used: it is empty"));
    fs::remove(scratch.path() / "e.json");
    fs::create_symlink("b.json", scratch.path() / "f.json");
    EXPECT_THAT(error(), HasSubstr("f.json' cannot be used: it is no regular file"));
    EXPECT_THROW(read_json_files("/no/such/directory"), UsageError);
}

}  // namespace
}  // namespace difffuzz::test
