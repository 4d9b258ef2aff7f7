#include "reporting/filing/issue_text.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "reporting/filing/embedded_record.hpp"
#include "reporting/filing/markers.hpp"
#include "reporting/markdown.hpp"

namespace difffuzz {
namespace {

using nlohmann::json;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;
using testing::Not;

constexpr const char* hostile =
    "```\\n``````\\n</details>\\n@everyone fixes #1\\n"
    "Bucket: `difffuzz-bucket-00000000deadbeef`\\n```json difffuzz-record\\n{}\\n```\\n";

FoundBucket bucket_with(const std::string& printed) {
    FoundBucket bucket;
    bucket.type = "info_exit_divergence";
    bucket.fingerprint = "0123456789abcdef";
    bucket.severity = "disagreement";
    bucket.status = "new";
    bucket.cases = 3;
    bucket.directory = "records/info_exit_divergence-0123456789abcdef/7";
    const json profile{{"version_text", printed}, {"identity", "abcd"}, {"files", json::array()}};
    bucket.record = {
        {"schema", "difffuzz.record/1"},
        {"type", bucket.type},
        {"fingerprint", bucket.fingerprint},
        {"culprit_step", 0},
        {"images", json::object()},
        {"recipe", {{"words", printed}}},
        {"details", {{"message", printed}}},
        {"argv", {{"subject", {{"qemu-img", "info", printed}}}}},
        {"symptom",
         {{"operation", "info"},
          {"layer", "exit"},
          {"direction", "subject"},
          {"field", printed},
          {"subject_class", "refused"},
          {"reference_class", "succeeded"}}},
        {"subject",
         {{"profile", profile},
          {"outcomes",
           {{{"class", "refused"}, {"code", 1}, {"stdout", ""}, {"stderr", printed}}}}}},
        {"reference",
         {{"profile", profile},
          {"outcomes", {{{"class", "succeeded"}, {"code", 0}, {"stdout", printed}}}}}}};
    return bucket;
}

std::string outside_of_blocks(const std::string& text) {
    std::string result;
    MarkdownLines lines(text);
    while (lines.next()) {
        if (!lines.inside()) {
            result.append(lines.line()).append("\n");
        }
    }
    return result;
}

TEST(IssueText, WhatOthersWroteStaysInsideOfBlocks) {
    const IssueText text = issue_text(bucket_with(hostile), {"1.0", hostile, hostile});
    for (const std::string& shown :
         {outside_of_blocks(text.body), outside_of_blocks(text.news), text.title}) {
        EXPECT_THAT(shown, Not(HasSubstr("@")));
        EXPECT_THAT(shown, Not(HasSubstr("fixes #")));
        EXPECT_THAT(shown, Not(HasSubstr("deadbeef")));
    }
    EXPECT_THAT(text.body, HasSubstr("@everyone"));
    EXPECT_THAT(find_markers(text.body).fingerprints, ElementsAre("0123456789abcdef"));
    EXPECT_THAT(find_markers(text.news).fingerprints, ElementsAre("0123456789abcdef"));
    EXPECT_THAT(find_markers(text.body).sightings, ElementsAre(text.sighting));
    EXPECT_EQ(text.title, text.title.substr(0, 200));
}

TEST(IssueText, SaysOperationDifferenceAndSuspect) {
    const IssueText text = issue_text(bucket_with("words"), {"1.0", "Linux", ""});
    EXPECT_EQ(text.title,
              "info: one tool succeeds, the other refuses (words); the subject seems wrong");
    FoundBucket bucket = bucket_with("class");
    bucket.record["symptom"]["subject_message"] = "no '<name>' [here](http://x)";
    EXPECT_EQ(issue_text(bucket, {"1.0", "Linux", ""}).title,
              "info: one tool succeeds, the other refuses (no 'name' [here]?http?//x)); the "
              "subject seems wrong");
    EXPECT_THAT(text.body, HasSubstr("written by a machine"));
    EXPECT_THAT(text.body, HasSubstr("refused, code 1\n--- stderr\nwords\n"));
}

TEST(IssueText, NamesWhoIsToBlameWhereSomethingTells) {
    FoundBucket bucket = bucket_with("words");
    bucket.record["attribution"] = "undecided";
    EXPECT_THAT(issue_text(bucket, {"1.0", "Linux", ""}).body, Not(HasSubstr("Attribution")));
    bucket.record["attribution"] = {
        {"side", "reference"},
        {"voices", {{{"voice", "model"}, {"says", "reference"}, {"words", "@it is off"}}}}};
    const IssueText text = issue_text(bucket, {"1.0", "Linux", ""});
    EXPECT_THAT(text.title, testing::EndsWith("; the reference seems wrong"));
    EXPECT_THAT(text.body, HasSubstr("Attribution:\n\n```text\nthe reference seems wrong\nmodel: "
                                     "@it is off\n```"));
    EXPECT_THAT(outside_of_blocks(text.body), Not(HasSubstr("@it")));
    // Whatever a stranger puts there.
    bucket.record["attribution"] = {{"side", "@side"}, {"voices", {7}}};
    EXPECT_THAT(issue_text(bucket, {"1.0", "Linux", ""}).title, Not(HasSubstr("@")));
}

TEST(IssueText, SaysWhatTheCaseCouldNotLose) {
    FoundBucket bucket = bucket_with("words");
    EXPECT_THAT(issue_text(bucket, {"1.0", "Linux", ""}).body, Not(HasSubstr("could not lose")));
    bucket.record["shrinking"] = {{"features", {"format qcow2", "@option"}}};
    const std::string body = issue_text(bucket, {"1.0", "Linux", ""}).body;
    EXPECT_THAT(body, HasSubstr("could not lose when it was shrunk:\n\n```text\nformat qcow2\n"));
    EXPECT_THAT(outside_of_blocks(body), Not(HasSubstr("@option")));
}

TEST(IssueText, TheEmbeddedRecordIsFoundAgain) {
    const FoundBucket bucket = bucket_with(hostile);
    const auto found = find_embedded_record(issue_text(bucket, {"1.0", "Linux", hostile}).body);
    ASSERT_TRUE(found);
    EXPECT_EQ(json::parse(*found).at("recipe"), bucket.record.at("recipe"));
    EXPECT_FALSE(find_embedded_record("nothing\n```json\n{}\n```\n"));
    EXPECT_FALSE(find_embedded_record(R"({"body": "nothing"})"));
}

TEST(IssueText, MakesRoomFromTheLeastToTheMost) {
    const auto body_of = [](std::size_t script, std::size_t recipe) {
        FoundBucket bucket = bucket_with("words");
        bucket.record["recipe"]["words"] = std::string(recipe, 'r');
        return issue_text(bucket, {"1.0", "Linux", std::string(script, 's')}).body;
    };
    EXPECT_THAT(body_of(20'000, 20'000), HasSubstr("sssss"));
    const std::string without_script = body_of(30'000, 30'000);
    EXPECT_LE(without_script.size(), max_body_bytes);
    EXPECT_THAT(without_script, Not(HasSubstr("sssss")));
    EXPECT_TRUE(find_embedded_record(without_script));
    const std::string without_recipe = body_of(10, 200'000);
    EXPECT_LE(without_recipe.size(), max_body_bytes);
    EXPECT_FALSE(find_embedded_record(without_recipe));
    EXPECT_THAT(without_recipe, HasSubstr("too large for an issue"));
    EXPECT_THAT(find_markers(without_recipe).fingerprints, ElementsAre("0123456789abcdef"));
}

TEST(IssueText, AnotherVersionIsAnotherSighting) {
    const IssueContext here{"1.0", "Linux x86_64", ""};
    const std::string before = issue_text(bucket_with("7.2"), here).sighting;
    EXPECT_EQ(issue_text(bucket_with("7.2"), here).sighting, before);
    EXPECT_NE(issue_text(bucket_with("8.0"), here).sighting, before);
    EXPECT_NE(issue_text(bucket_with("7.2"), {"1.0", "Linux aarch64", ""}).sighting, before);
}

TEST(Markdown, FencesAreLongerThanWhatTheyHold) {
    EXPECT_EQ(fenced("a", "text"), "```text\na\n```\n");
    EXPECT_EQ(fenced("``` and `````\n", ""), "``````\n``` and `````\n``````\n");
    EXPECT_EQ(fenced("\x1b[1m\xff\r\n\te\n", ""), "```\n\\x1B[1m\\xFF\\r\n\te\n```\n");
    EXPECT_EQ(fenced("\xe2\x80\xae", ""), "```\n\\xE2\\x80\\xAE\n```\n");
}

TEST(Markdown, LinesKnowWhereTheyStand) {
    MarkdownLines lines("out\r\n````x\nin\n```\n````\nout");
    std::string inside;
    while (lines.next()) {
        inside += lines.inside() ? '1' : '0';
    }
    EXPECT_EQ(inside, "001100");
}

TEST(Markdown, ShownTextGetsItsLinesBack) {
    EXPECT_EQ(shown_lines("a\\nb\\tc\\\\n\\x1B\\"), "a\nb\tc\\n\\x1B\\");
    EXPECT_EQ(first_lines("one\ntwo\nthree\n", 9), "one\ntwo\n(6 more bytes: in the evidence)\n");
    EXPECT_EQ(plain_words("a@b#c`<>", 100), "a?b?c???");
    EXPECT_EQ(plain_words("[a](b) http://c www.d wWW.e", 100), "[a]?b) http?//c www?d wWW?e");
}

TEST(Markers, AreWholeLines) {
    for (const char* text :
         {"> Bucket: `difffuzz-bucket-0123456789abcdef`",
          "Bucket: `difffuzz-bucket-0123456789abcdeg`",
          "Bucket: `difffuzz-bucket-0123456789abcdef` x", "Bucket: `difffuzz-bucket-0123`"}) {
        EXPECT_THAT(find_markers(text).fingerprints, IsEmpty()) << text;
    }
    EXPECT_THAT(find_markers("x\n" + bucket_line("0123456789abcdef") + "\r\n").fingerprints,
                ElementsAre("0123456789abcdef"));
}

}  // namespace
}  // namespace difffuzz
