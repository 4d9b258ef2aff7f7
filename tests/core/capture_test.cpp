#include "core/tools/capture.hpp"

#include <gtest/gtest.h>
#include <random>

namespace difffuzz {
namespace {

std::string letters(std::size_t count) {
    std::string text(count, '\0');
    for (std::size_t i = 0; i < count; ++i) {
        text[i] = static_cast<char>('a' + i % 23);
    }
    return text;
}

TEST(Capture, KeepsAShortStreamWholeInHead) {
    Capture capture(10);
    capture.append("0123456789");
    const auto stream = std::move(capture).finish();
    EXPECT_EQ(stream, (Stream{"0123456789", "", 10}));
    EXPECT_FALSE(stream.cut());
}

TEST(Capture, CutsOneByteOutOfTheMiddle) {
    Capture capture(5);
    capture.append("abcdef");
    const auto stream = std::move(capture).finish();
    EXPECT_EQ(stream, (Stream{"abc", "ef", 6}));
    EXPECT_TRUE(stream.cut());
}

TEST(Capture, OfNothing) {
    EXPECT_EQ(Capture(8).finish(), (Stream{"", "", 0}));
    Capture none(0);
    none.append("abc");
    EXPECT_EQ(std::move(none).finish(), (Stream{"", "", 3}));
}

TEST(Capture, DoesNotDependOnThePieces) {
    std::mt19937 random(7);
    for (int round = 0; round < 5000; ++round) {
        const std::size_t limit = random() % 40;
        const auto text = letters(random() % 200);
        Capture capture(limit);
        for (std::size_t at = 0; at < text.size();) {
            const auto piece = std::min<std::size_t>(random() % 60, text.size() - at);
            capture.append(std::string_view(text).substr(at, piece));
            at += piece;
        }
        ASSERT_EQ(capture.observed_bytes(), text.size());
        const auto stream = std::move(capture).finish();
        if (text.size() <= limit) {
            ASSERT_EQ(stream, (Stream{text, "", text.size()}));
        } else {
            ASSERT_EQ(stream, (Stream{text.substr(0, limit - limit / 2),
                                      text.substr(text.size() - limit / 2), text.size()}))
                << "limit " << limit;
        }
    }
}

}  // namespace
}  // namespace difffuzz
