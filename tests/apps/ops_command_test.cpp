#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "apps/difffuzz_process.hpp"
#include "ops/operation.hpp"

namespace difffuzz::test {
namespace {

using testing::HasSubstr;

TEST(OpsCommand, TellsWhatAnOperationCanDraw) {
    const ScratchDirectory scratch;
    const Ended text = difffuzz(scratch, {"ops", "resize"});
    EXPECT_EQ(text.code, 0);
    EXPECT_THAT(text.out, HasSubstr("--preallocation  word off metadata falloc full"));
    EXPECT_THAT(text.out, HasSubstr("+ shrink-without-flag"));
    EXPECT_THAT(text.out, HasSubstr("steps of io write"));
    EXPECT_THAT(text.out, HasSubstr("options that most commands take: --object --image-opts\n"));
    EXPECT_THAT(text.out, HasSubstr("  lazy_refcounts: qcow2\n"));
    EXPECT_THAT(text.out, HasSubstr("pairs of these that cases are steered to: "));
    const Ended convert = difffuzz(scratch, {"ops", "convert"});
    EXPECT_THAT(convert.out, HasSubstr("--target-image-opts: names protocols"));
    for (const Operation* operation : operations()) {
        const Ended json = difffuzz(scratch, {"ops", std::string(operation->name), "--json"});
        EXPECT_EQ(json.code, 0) << json.err;
        const auto parsed = nlohmann::json::parse(json.out);
        EXPECT_EQ(parsed.at("name"), operation->name);
        // An operation that is made of those of others has no options but theirs.
        EXPECT_FALSE(parsed.at("options").empty() &&
                     parsed.value("steps", nlohmann::json()).empty());
        EXPECT_FALSE(parsed.at("layers").empty());
        EXPECT_FALSE(parsed.at("formats").empty());
        EXPECT_GT(parsed.at("pairs"), 0);
    }
}

TEST(OpsCommand, SuggestsTheNearestName) {
    const ScratchDirectory scratch;
    const Ended ended = difffuzz(scratch, {"ops", "resiz"});
    EXPECT_EQ(ended.code, 2);
    EXPECT_THAT(ended.err, HasSubstr("did you mean 'resize'?"));
}

}  // namespace
}  // namespace difffuzz::test
