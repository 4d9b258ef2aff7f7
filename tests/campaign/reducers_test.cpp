// Reducers by literals: what each leaves of a case.
#include <algorithm>
#include <set>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "campaign/triage/reducers/table.hpp"

namespace difffuzz {
namespace {

using testing::Contains;
using testing::Not;

using Edits = std::vector<Edit> (*)(const Reduced&, const WordDomain&);

std::span<const std::string_view> two_words(const Step&, std::string_view option) {
    static constexpr std::string_view words[] = {"human", "json"};
    return option == "--output" ? std::span<const std::string_view>(words)
                                : std::span<const std::string_view>{};
}

// What the edits about `thing` make of the case, with what they say it becomes.
std::vector<std::pair<std::string, Reduced>> results(Edits edits, const Reduced& from,
                                                     const std::string& thing) {
    std::vector<std::pair<std::string, Reduced>> found;
    for (const Edit& edit : edits(from, two_words)) {
        if (edit.thing == thing) {
            found.emplace_back(edit.becomes, edit.apply(from));
        }
    }
    return found;
}

Reduced result(Edits edits, const Reduced& from, const std::string& thing,
               const std::string& becomes = "") {
    for (const auto& [word, reduced] : results(edits, from, thing)) {
        if (word == becomes) {
            return reduced;
        }
    }
    ADD_FAILURE() << "no edit of '" << thing << "' to '" << becomes << "'";
    return from;
}

std::vector<std::string> things(Edits edits, const Reduced& from) {
    std::vector<std::string> names;
    for (const Edit& edit : edits(from, two_words)) {
        names.push_back(edit.thing);
    }
    return names;
}

Step step(const std::string& command, std::vector<Argument> arguments) {
    return {Actor::tool, command, command, ValidIntent{}, std::move(arguments)};
}

// base <- src; four steps: makes out from src, a snapshot of it, deletes that, looks at src.
Reduced chain() {
    Reduced r;
    r.c.operation = "sequence";
    r.c.images.push_back({"base", "raw", 1 << 20, {}, {}, {}});
    r.c.images.push_back({"src",
                          "qcow2",
                          1 << 20,
                          {{"cluster_size", suffixed_size(65536)}, {"compat", WordValue{"1.1"}}},
                          "base",
                          {{WriteKind::write, 0, 512, RandomFill{7}},
                           {WriteKind::compressed, 65536, 65536, RandomFill{8}},
                           {WriteKind::unmap, 131072, 65536, {}}},
                          {{"one", 1}, {"two", 3}},
                          {{"b0", 65536, false, {{0, 4096}, {1040000, 8576}}}}});
    r.c.outputs.push_back({"out", "qcow2"});
    r.c.steps.push_back(step(
        "convert", {{"-O", WordValue{"qcow2"}}, {"", ImageValue{"src"}}, {"", ImageValue{"out"}}}));
    r.c.steps.push_back(
        step("snapshot", {{"-c", BytesValue{"\xff\xfe"}}, {"", ImageValue{"src"}}}));
    r.c.steps.push_back(
        step("snapshot", {{"-d", BytesValue{"\xff\xfe"}}, {"", ImageValue{"src"}}}));
    r.c.steps.push_back(step("info", {{"--output", WordValue{"json"}}, {"", ImageValue{"src"}}}));
    r.culprit = 3;
    return r;
}

TEST(Reducers, DropStepsWithWhatNeedsThem) {
    Reduced from = chain();
    from.c.steps.push_back(step("check", {{"", ImageValue{"out"}}}));
    const Reduced shorter = result(step_edits, from, "all steps after step 3");
    EXPECT_EQ(shorter.c.steps.size(), 4U);
    EXPECT_EQ(shorter.culprit, 3U);
    // The step that makes an output takes along the one that looks at it, and the output.
    const Reduced without = result(step_edits, from, "step 0");
    EXPECT_EQ(without.c.steps.size(), 3U);
    EXPECT_TRUE(without.c.outputs.empty());
    EXPECT_EQ(without.culprit, 2U);
    EXPECT_EQ(without.c.steps[without.culprit].command, "info");
    // A snapshot that is made and deleted goes as one.
    const Reduced pair = result(step_edits, from, "step 1 and those about its name");
    EXPECT_EQ(pair.c.steps.size(), 3U);
    EXPECT_THAT(things(step_edits, from), Not(Contains("step 3")));
}

TEST(Reducers, MakeAValidCaseOfADamagedOrRefusedOne) {
    Reduced from = chain();
    EXPECT_TRUE(things(intent_edits, from).empty());
    from.c.images[0].damage.push_back({"bytes", 0, 1});
    from.c.steps[3].intent = DamagedIntent{};
    const Reduced sound = result(intent_edits, from, "all damage");
    EXPECT_EQ(sound, chain());
    Reduced refused = chain();
    refused.c.steps[3].intent = RefusedIntent{"no-such-word"};
    const Reduced valid =
        result(intent_edits, refused, "option --output of step 3", "none, in a valid step");
    EXPECT_EQ(intent_name(valid.c), "valid");
    EXPECT_EQ(valid.c.steps[3].arguments.size(), 1U);
}

TEST(Reducers, MakeNeutralWritesPartOfTheImage) {
    Reduced from = chain();
    Step write{Actor::neutral,
               "io",
               "write",
               ValidIntent{},
               {{"-f", WordValue{"raw"}},
                {"-P", NumberValue{7}},
                {"", plain_size(4096)},
                {"", plain_size(512)},
                {"", ImageValue{"base"}}}};
    Step zeros = write;
    zeros.arguments[1] = {"-z", std::nullopt};
    Step made = write;
    made.arguments.back().value = ImageValue{"out"};
    from.c.steps.insert(from.c.steps.begin() + 1, {write, zeros, made});
    from.culprit = 6;
    const Reduced first = result(absorb_edits, from, "step 1", "a write of image base");
    EXPECT_EQ(first.c.steps.size(), 6U);
    EXPECT_EQ(first.culprit, 5U);
    ASSERT_EQ(first.c.images[0].content.size(), 1U);
    EXPECT_EQ(first.c.images[0].content[0],
              (ContentWrite{WriteKind::write, 4096, 512, ByteFill{7}}));
    EXPECT_EQ(
        result(absorb_edits, from, "step 2", "a write of image base").c.images[0].content[0].kind,
        WriteKind::zero);
    // Neither what is written to an output, nor what comes after the symptom, nor a tool's step.
    EXPECT_EQ(things(absorb_edits, from).size(), 2U);
    from.culprit = 1;
    EXPECT_TRUE(things(absorb_edits, from).empty());
}

TEST(Reducers, DropArgumentsAndOptionsOfLists) {
    Reduced from;
    from.c.steps.push_back(step(
        "create",
        {{"-q", std::nullopt},
         {"-o", OptionList{{{"compat", WordValue{"1.1"}}, {"cluster_size", plain_size(65536)}}}},
         {"", ImageValue{"out"}}}));
    from.c.outputs.push_back({"out", "qcow2"});
    EXPECT_EQ(result(argument_edits, from, "option -q of step 0").c.steps[0].arguments.size(), 2U);
    const Reduced one = result(argument_edits, from, "compat of option -o of step 0");
    EXPECT_EQ(one.c.steps[0].arguments[1].value,
              Value(OptionList{{{"cluster_size", plain_size(65536)}}}));
    const Reduced none = result(argument_edits, one, "cluster_size of option -o of step 0");
    EXPECT_EQ(find_argument(none.c.steps[0], "-o"), nullptr);
    EXPECT_TRUE(result(argument_edits, from, "argument 2 of step 0").c.outputs.empty());
}

TEST(Reducers, DropImagesAndMembersOfChains) {
    Reduced from = chain();
    from.c.images.insert(from.c.images.begin(), {"far", "raw", 512, {}, {}, {}});
    from.c.images[1].backing = "far";
    const Reduced without = result(image_edits, from, "image base");
    ASSERT_EQ(without.c.images.size(), 2U);
    EXPECT_EQ(without.c.images[1].backing, "far");
    EXPECT_EQ(result(image_edits, from, "backing file of image src").c.images[2].backing,
              std::nullopt);
    EXPECT_THAT(things(image_edits, from), Not(Contains("image src")));
}

TEST(Reducers, DropWritesAndMoveSnapshotsWithThem) {
    const Reduced from = chain();
    const Reduced without = result(write_edits, from, "write 0 of image src");
    EXPECT_EQ(without.c.images[1].content.size(), 2U);
    EXPECT_EQ(without.c.images[1].snapshots, (std::vector<SnapshotRecipe>{{"one", 0}, {"two", 2}}));
    const Reduced all = result(write_edits, from, "writes 0 to 2 of image src");
    EXPECT_TRUE(all.c.images[1].content.empty());
    EXPECT_EQ(all.c.images[1].snapshots, (std::vector<SnapshotRecipe>{{"one", 0}, {"two", 0}}));
}

TEST(Reducers, MakeWritesPlainShortAndAligned) {
    Reduced from = chain();
    const auto& of = [](const Reduced& r) { return r.c.images[1].content; };
    EXPECT_EQ(of(result(write_edits, from, "kind of write 1 of image src", "write"))[1].kind,
              WriteKind::write);
    EXPECT_EQ(of(result(write_edits, from, "kind of write 2 of image src", "zero"))[2].kind,
              WriteKind::zero);
    EXPECT_EQ(of(result(write_edits, from, "length of write 1 of image src", "512"))[1].length,
              512U);
    from.c.images[1].content[1] = {WriteKind::write, 70000, 100, ByteFill{2}};
    EXPECT_EQ(of(result(write_edits, from, "offset of write 1 of image src", "65536"))[1].offset,
              65536U);
    const Reduced joined = result(write_edits, from, "writes 0 and 1 of image src", "one");
    ASSERT_EQ(of(joined).size(), 2U);
    EXPECT_EQ(of(joined)[0].offset, 0U);
    EXPECT_EQ(of(joined)[0].length, 70100U);
    EXPECT_EQ(
        of(result(fill_edits, from, "content of write 0 of image src", "a byte repeated"))[0].fill,
        Fill(ByteFill{1}));
    EXPECT_THAT(things(fill_edits, from), Not(Contains("content of write 2 of image src")));
}

TEST(Reducers, DropOptionsSnapshotsAndBitmapsOfImages) {
    const Reduced from = chain();
    EXPECT_EQ(result(feature_edits, from, "option compat of image src").c.images[1].options.size(),
              1U);
    EXPECT_EQ(result(feature_edits, from, "snapshot 0 of image src").c.images[1].snapshots,
              (std::vector<SnapshotRecipe>{{"two", 3}}));
    EXPECT_TRUE(result(feature_edits, from, "bitmap 0 of image src").c.images[1].bitmaps.empty());
    EXPECT_TRUE(result(feature_edits, from, "bitmap 0 of image src", "enabled")
                    .c.images[1]
                    .bitmaps[0]
                    .enabled);
    EXPECT_EQ(result(feature_edits, from, "dirty ranges from 1 of bitmap 0 of image src")
                  .c.images[1]
                  .bitmaps[0]
                  .dirty.size(),
              1U);
}

TEST(Reducers, ShrinkSizesAndCutWhatLiesBeyond) {
    Reduced from = chain();
    const Reduced both = result(size_edits, from, "size of all images of 1048576 bytes", "65536");
    EXPECT_EQ(both.c.images[0].size, 65536U);
    EXPECT_EQ(both.c.images[1].size, 65536U);
    EXPECT_EQ(both.c.images[1].content.size(), 1U);
    EXPECT_EQ(both.c.images[1].bitmaps[0].dirty, (std::vector<ByteRange>{{0, 4096}}));
    EXPECT_EQ(both.c.images[1].snapshots, (std::vector<SnapshotRecipe>{{"one", 1}, {"two", 1}}));
    from.c.images[1].content[0].length = 700;
    const Reduced cut = result(size_edits, from, "size of image src", "512");
    EXPECT_EQ(cut.c.images[0].size, 1U << 20);
    EXPECT_EQ(cut.c.images[1].content[0].length, 512U);
    from.c.images[1].content[0].offset = 100;
    EXPECT_EQ(result(size_edits, from, "size of image src", "512").c.images[1].content[0].length,
              412U);
}

TEST(Reducers, UndoDamageFieldByField) {
    Reduced from = chain();
    from.c.images[1].damage = {
        {"header.version", 0, 77}, {"l1.entry", 3, 1000}, {"length", 0, 900}};
    EXPECT_EQ(result(damage_edits, from, "damage 1 of image src").c.images[1].damage.size(), 2U);
    EXPECT_EQ(result(damage_edits, from, "place of damage 1 of image src", "the first")
                  .c.images[1]
                  .damage[1],
              (Damage{"l1.entry", 0, 1000}));
    EXPECT_EQ(
        result(damage_edits, from, "value of damage 0 of image src", "1").c.images[1].damage[0],
        (Damage{"header.version", 0, 1}));
    EXPECT_THAT(things(damage_edits, from), Not(Contains("value of damage 2 of image src")));
}

TEST(Reducers, MoveValuesTowardsSimpleOnes) {
    Reduced from;
    from.c.steps.push_back(step("bench", {{"-c", NumberValue{100}},
                                          {"-s", SizeValue{2 << 20, "2M"}},
                                          {"--output", WordValue{"json"}},
                                          {"", SizeValue{1536, "+1.5k"}}}));
    const auto value = [&](const std::string& thing, const std::string& becomes, std::size_t a) {
        return *result(value_edits, from, thing, becomes).c.steps[0].arguments[a].value;
    };
    EXPECT_EQ(value("value of option -c of step 0", "1", 0), Value(NumberValue{1}));
    EXPECT_EQ(value("value of option -c of step 0", "50", 0), Value(NumberValue{50}));
    EXPECT_EQ(value("value of option -s of step 0", "65536", 1), Value(plain_size(65536)));
    EXPECT_EQ(value("value of option -s of step 0", "2097152", 1), Value(plain_size(2 << 20)));
    EXPECT_EQ(value("value of option --output of step 0", "human", 2), Value(WordValue{"human"}));
    EXPECT_EQ(value("value of argument 3 of step 0", "+512", 3), Value(SizeValue{512, "+512"}));
    EXPECT_EQ(value("value of argument 3 of step 0", "+1536", 3), Value(SizeValue{1536, "+1536"}));
    for (const auto& [becomes, reduced] :
         results(value_edits, from, "value of option -c of step 0")) {
        EXPECT_LT(std::stoi(becomes), 100);
    }
}

TEST(Reducers, GiveOneSimpleNameEverywhere) {
    const Reduced from = chain();
    // A word of an option without a list is a name as well: it cannot be told from one.
    EXPECT_THAT(things(name_edits, from), Contains("a name of 5 bytes"));
    EXPECT_THAT(things(name_edits, from), Not(Contains("a name of 4 bytes")));
    // In the order of the names: the bitmap's, then the one that two steps share.
    const auto both = results(name_edits, from, "a name of 2 bytes");
    ASSERT_EQ(both.size(), 2U);
    EXPECT_EQ(both[0].second.c.images[1].bitmaps[0].name, "a");
    const Reduced& renamed = both[1].second;
    for (const std::size_t s : {1U, 2U}) {
        EXPECT_EQ(renamed.c.steps[s].arguments[0].value, Value(BytesValue{"a"}));
    }
}

TEST(Reducers, ReplaceFormatsByRawAndQcow2) {
    Reduced from;
    from.c.images.push_back(
        {"src", "vmdk", 1 << 20, {{"subformat", WordValue{"monolithicSparse"}}}, {}, {}});
    from.c.outputs.push_back({"out", "vmdk"});
    from.c.steps.push_back(step("convert", {{"-f", WordValue{"vmdk"}},
                                            {"-O", WordValue{"vmdk"}},
                                            {"", ImageValue{"src"}},
                                            {"", ImageValue{"out"}}}));
    const auto words = [](const Reduced& r) {
        return option_value<WordValue>(r.c.steps[0], "-f")->text + " " +
               option_value<WordValue>(r.c.steps[0], "-O")->text;
    };
    std::set<std::string> seen;
    for (const auto& [becomes, reduced] : results(format_edits, from, "format of image src")) {
        EXPECT_EQ(reduced.c.images[0].format, becomes);
        EXPECT_EQ(reduced.c.outputs[0].format, "vmdk");
        EXPECT_TRUE(reduced.c.images[0].options.empty());
        seen.insert(words(reduced));
    }
    EXPECT_TRUE(seen.contains("raw vmdk"));
    EXPECT_TRUE(seen.contains("qcow2 vmdk"));
    const Reduced all = result(format_edits, from, "format of all vmdk images", "raw");
    EXPECT_EQ(words(all), "raw raw");
    EXPECT_EQ(all.c.outputs[0].format, "raw");
    EXPECT_THAT(things(format_edits, all), testing::IsEmpty());
}

TEST(Reducers, LeaveARawImageNothingThatOnlyOthersHave) {
    const Reduced from = chain();
    const ImageRecipe raw = result(format_edits, from, "format of image src", "raw").c.images.at(1);
    EXPECT_EQ(raw.format, "raw");
    EXPECT_TRUE(raw.options.empty());
    EXPECT_TRUE(raw.snapshots.empty());
    EXPECT_TRUE(raw.bitmaps.empty());
    EXPECT_EQ(raw.backing, std::nullopt);
    EXPECT_EQ(raw.content.at(1).kind, WriteKind::write);
    EXPECT_EQ(raw.content.at(2).kind, WriteKind::zero);
}

}  // namespace
}  // namespace difffuzz
