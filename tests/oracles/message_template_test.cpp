#include "oracles/message_template.hpp"

#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

#include "oracles/shown_text.hpp"

namespace difffuzz {
namespace {

TEST(MessageTemplate, NumbersWithTheirUnitsAreAbstracted) {
    EXPECT_EQ(message_template("at offset 512: 0x1f00 of 64k, 196 KiB, 1.5 GiB and 3 clusters"),
              "at offset <n>: <n> of <n>, <n>, <n> and <n> clusters");
    EXPECT_EQ(message_template("disk size: 0.010 seconds."), "disk size: <n> seconds.");
    EXPECT_EQ(message_template("address deadbeef01"), "address <n>");
}

TEST(MessageTemplate, DigitsInsideWordsStay) {
    EXPECT_EQ(message_template("qcow2 image of vhdx, twoGbMaxExtentSparse"),
              "qcow2 image of vhdx, twoGbMaxExtentSparse");
}

TEST(MessageTemplate, QuotedNamesPathsNodesAndIdsAreAbstracted) {
    EXPECT_EQ(message_template("Could not open 'a b.qcow2': No such file"),
              "Could not open '<name>': No such file");
    EXPECT_EQ(message_template("Unknown \"thing\" can't be used"),
              "Unknown \"<name>\" can't be used");
    EXPECT_EQ(message_template("/side/3/w/a.raw: bad ../block/io.c:12: I/O error"),
              "<path>: bad <path>:<n>: I/O error");
    EXPECT_EQ(message_template("Node #block123 is busy"), "Node <node> is busy");
    EXPECT_EQ(message_template("uuid a3b1c2d4-0f3e-4a5b-8c7d-0123456789ab set"), "uuid <id> set");
}

TEST(MessageTemplate, AnAssertionKeepsItsExpression) {
    EXPECT_EQ(message_template("bdrv_x: Assertion `bs->n == 0' failed on 'disk'."),
              "bdrv_x: Assertion `bs->n == <n>' failed on '<name>'.");
}

TEST(MessageTemplate, FileNamesOfTheCaseAreAbstractedAsWords) {
    Case c;
    c.images.push_back({"src", "qcow2", 0, {}, std::nullopt, {}});
    c.outputs.push_back({"out", "raw"});
    const auto names = case_file_names(c);
    EXPECT_EQ(message_template("src.qcow2: bad, not mysrc.qcow2; out.raw.", names),
              "<file>: bad, not mysrc.qcow2; <file>.");
}

TEST(MessageTemplate, ControlBytesAndSpaceAreMadeHarmless) {
    EXPECT_EQ(message_template(" a\t\nb\x1b[0mc\xff\xfe "), "a b<bytes>[<n><bytes>");
    EXPECT_EQ(message_template("größe … \xe2\x80\xae"), "größe … <bytes>");
}

TEST(MessageTemplate, LongTextIsCutAtAWord) {
    std::string text;
    for (int i = 0; i < 100; ++i) {
        text += "word ";
    }
    const std::string result = message_template(text);
    EXPECT_LE(result.size(), max_template_bytes);
    EXPECT_TRUE(result.ends_with("…"));
    EXPECT_EQ(message_template(std::string(300, 'x')), "<word>");
}

bool valid_utf8(const std::string& text) {
    for (std::size_t i = 0; i < text.size();) {
        const std::size_t length = printable_length(text, i);
        if (length == 0) {
            return false;
        }
        i += length;
    }
    return true;
}

// Fragments that meet the abstractions' borders far more often than random bytes do.
rc::Gen<std::string> nasty_text() {
    const auto piece = rc::gen::oneOf(
        rc::gen::element<std::string>("'", "\"", "`", "/", "./", "../", " ", "12", "0x1f", "64k",
                                      " KiB", "#block7", "<", ">", "<n>", "'<name>'", "deadbeef1",
                                      "a", "é", "…", "\x01", "\xff", "\\x80", ".", "-", "_", ":",
                                      "src.qcow2", "a3b1c2d4-0f3e-4a5b-8c7d-0123456789ab",
                                      "a_rather_long_word_of_no_meaning_at_all_", "\n"),
        rc::gen::arbitrary<std::string>());
    return rc::gen::map(rc::gen::container<std::vector<std::string>>(piece),
                        [](const std::vector<std::string>& pieces) {
                            std::string text;
                            for (const std::string& one : pieces) {
                                text += one;
                            }
                            return text;
                        });
}

RC_GTEST_PROP(MessageTemplateProperty, IsItsOwnTemplateBoundedAndPrintable, ()) {
    const std::string text = *nasty_text();
    const std::vector<std::string> names{"src.qcow2"};
    const std::string once = message_template(text, names);
    RC_ASSERT(once.size() <= max_template_bytes);
    RC_ASSERT(valid_utf8(once));
    RC_ASSERT(message_template(once, names) == once);
}

RC_GTEST_PROP(ShownTextProperty, IsBoundedAndPrintable, ()) {
    const std::string text = *nasty_text();
    const auto limit = *rc::gen::inRange<std::size_t>(8, 300);
    const std::string shown = shown_text(text, limit);
    RC_ASSERT(shown.size() <= limit);
    RC_ASSERT(valid_utf8(shown));
}

TEST(ShownText, EscapesAndCuts) {
    EXPECT_EQ(shown_text("a\n\x01\xff\\b", 100), "a\\n\\x01\\xFF\\\\b");
    EXPECT_EQ(shown_text("abcdefghij", 8), "abcde…");
    EXPECT_EQ(shown_text("abcdefgh", 8), "abcdefgh");
    EXPECT_EQ(shown_text("\xed\xa0\x80", 100), "\\xED\\xA0\\x80");
    // A control character of C1 in two bytes, and the first character behind these.
    EXPECT_EQ(shown_text("\xc2\x9f", 100), "\\xC2\\x9F");
    EXPECT_EQ(shown_text("\xc2\xa0", 100), "\xc2\xa0");
    EXPECT_EQ(hex("\x01\xfe"), "01fe");
}

TEST(ToolPrefix, IsStrippedOnceAndOnlyForTheTool) {
    EXPECT_EQ(strip_tool_prefix("qemu-img: qemu-img: x", "qemu-img"), "qemu-img: x");
    EXPECT_EQ(strip_tool_prefix("/tool/subject/qemu-img: x", "qemu-img"), "x");
    EXPECT_EQ(strip_tool_prefix("qemu-img: x", "/usr/bin/qemu-img"), "x");
    EXPECT_EQ(strip_tool_prefix("Error: x", "qemu-img"), "Error: x");
    EXPECT_EQ(strip_tool_prefix("my-qemu-img: x", "qemu-img"), "my-qemu-img: x");
}

TEST(FirstLine, SkipsBlankOnes) {
    EXPECT_EQ(first_line("\n  \nfoo bar\r\nbaz"), "foo bar");
    EXPECT_EQ(first_line("\n\n"), "");
}

}  // namespace
}  // namespace difffuzz
