// The kill matrix on the exhibits, and stand-ins that do not do what they are for.
#include <fstream>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "apps/difffuzz_process.hpp"

namespace difffuzz::test {
namespace {

using testing::HasSubstr;
namespace fs = std::filesystem;

const std::vector<std::string> on_real_qemu{"selftest", "--exhibits", "--no-config", "--reference",
                                            "/usr/bin/qemu-img"};

// Of a self-test's JSON against its schema.
constexpr const char* validation =
    "import json, jsonschema, sys\n"
    "schema = json.load(open(sys.argv[1] + '/docs/selftest.schema.json'))\n"
    "jsonschema.Draft202012Validator.check_schema(schema)\n"
    "jsonschema.validate(json.load(open(sys.argv[2])), schema)\n";

Ended selftest(const ScratchDirectory& scratch, const std::vector<std::string>& more) {
    std::vector<std::string> words = on_real_qemu;
    words.insert(words.end(), more.begin(), more.end());
    return difffuzz(scratch, words);
}

TEST(Selftest, EveryFaultIsCaughtByItsLayerFirst) {
    const ScratchDirectory scratch;
    const Ended ended = selftest(scratch, {"--json"});
    EXPECT_EQ(ended.code, 0) << ended.out << ended.err;
    std::ofstream(scratch.path() / "result.json") << ended.out;
    const Outcome valid = run_tool(
        scratch.path(), {"/usr/bin/python3", "-c", validation, DIFFFUZZ_SOURCE_DIR, "result.json"});
    EXPECT_EQ(valid.ending, Ending(Exited{0})) << valid.err.head;
    const nlohmann::json result = nlohmann::json::parse(ended.out);
    EXPECT_EQ(result.at("verdict"), "all caught");
    EXPECT_EQ(result.at("gates").size(), 4U);
    EXPECT_GE(result.at("faults").size(), 60U);
    for (const nlohmann::json& fault : result.at("faults")) {
        EXPECT_EQ(fault.at("result"), "caught") << fault;
        EXPECT_EQ(fault.at("diverged").at(0), fault.at("layer")) << fault;
        // What others see may also show only in a later step.
        if (fault.at("alone")) {
            EXPECT_EQ(fault.at("diverged").size(), 1U) << fault;
        }
    }
}

TEST(Selftest, FaultsThatArePlantedAtOnceEndAsABucketEach) {
    const ScratchDirectory scratch;
    const auto buckets = [&](std::vector<std::string> more) {
        more.insert(more.begin(), {"selftest", "--buckets", "--no-config", "--reference",
                                   "/usr/bin/qemu-img", "--iterations", "48"});
        return difffuzz(scratch, more);
    };
    const Ended two = buckets({"--fault", "info-header,check-json-end"});
    EXPECT_EQ(two.code, 0) << two.out << two.err;
    EXPECT_THAT(two.out, testing::ContainsRegex("info-header,check-json-end +48 +2 +1 +0 "));
    // A fault that another row has, too, shares its bucket.
    const Ended twice = buckets({"--fault", "check-code", "--fault", "check-code"});
    EXPECT_EQ(twice.code, 1) << twice.out;
    EXPECT_THAT(twice.out, HasSubstr("shared by check-code check-code: check_code_divergence-"));
    EXPECT_EQ(buckets({"--fault", "no-such"}).code, 2);
    EXPECT_EQ(buckets({"--exhibits"}).code, 2);
    EXPECT_EQ(selftest(scratch, {"--fault", "check-code"}).code, 2);
}

TEST(Selftest, WithoutItsLayerAFaultSurvivesExactlyWhereNoOtherSeesIt) {
    const ScratchDirectory scratch;
    const Ended ended = selftest(scratch, {"--json", "--without-own"});
    EXPECT_EQ(ended.code, 1) << ended.err;
    const nlohmann::json result = nlohmann::json::parse(ended.out);
    EXPECT_GE(result.at("faults").size(), 60U);
    for (const nlohmann::json& fault : result.at("faults")) {
        const bool alone = fault.at("alone");
        EXPECT_EQ(fault.at("result"), alone ? "missed" : "caught late") << fault;
    }
}

// A copy of difffuzz with a stand-in of the test's own making.
class OtherStandIn : public testing::Test {
protected:
    OtherStandIn() {
        fs::create_directories(scratch.path() / "bin");
        fs::create_directories(canary.parent_path());
        fs::copy_file(fs::path(DIFFFUZZ_BINARY_DIR) / "difffuzz", scratch.path() / "bin/difffuzz");
    }

    void stand_in(const std::string& script) {
        std::ofstream(canary) << "#!/bin/sh\n"
                              << script << "\nexec \"$DIFFFUZZ_STAND_IN_FOR\" \"$@\"\n";
        fs::permissions(canary, fs::perms::owner_all | fs::perms::group_exec |
                                    fs::perms::others_exec | fs::perms::group_read |
                                    fs::perms::others_read);
    }

    Ended run(std::vector<std::string> words) {
        words.insert(words.begin(), (scratch.path() / "bin/difffuzz").string());
        const Outcome outcome = run_tool(scratch.path(), words);
        const auto* exited = std::get_if<Exited>(&outcome.ending);
        return {exited != nullptr ? exited->code : -1, outcome.out.head, outcome.err.head};
    }

    Ended run_selftest() {
        std::vector<std::string> words = on_real_qemu;
        words.emplace_back("info-header");
        return run(words);
    }

    Ended run_campaign() {
        return run({"run", "--no-config", "--seed", "1", "--iterations", "1", "--ops", "info",
                    "--subject", "/usr/bin/qemu-img", "--reference", "/usr/bin/qemu-img", "--out",
                    "out"});
    }

    ScratchDirectory scratch;
    fs::path canary = scratch.path() / "libexec/difffuzz/difffuzz-canary";
};

TEST_F(OtherStandIn, ThatPlantsNothingIsSeen) {
    stand_in("");
    const Ended ended = run_selftest();
    EXPECT_EQ(ended.code, 1) << ended.err;
    EXPECT_THAT(ended.out, HasSubstr("not: info-header (never triggered)"));
    const Ended campaign = run_campaign();
    EXPECT_EQ(campaign.code, 4) << campaign.err;
    EXPECT_THAT(campaign.out, HasSubstr("no verdict"));
    EXPECT_THAT(campaign.out, HasSubstr("the positive control failed: no fault could be planted"));
}

TEST_F(OtherStandIn, ThatOnlySaysThatItPlantsIsSeen) {
    stand_in("test -z \"$DIFFFUZZ_STAND_IN_FAULT\" || : > \"$TMPDIR/planted\"");
    const Ended ended = run_selftest();
    EXPECT_EQ(ended.code, 1) << ended.err;
    EXPECT_THAT(ended.out, HasSubstr("not: info-header (missed)"));
    const Ended campaign = run_campaign();
    EXPECT_EQ(campaign.code, 4) << campaign.err;
    EXPECT_THAT(campaign.out, HasSubstr("the positive control failed: the planted fault '"));
    EXPECT_THAT(campaign.out, HasSubstr("ended as agreed"));
}

TEST_F(OtherStandIn, ThatPlantsAnotherFaultIsSeen) {
    stand_in("test -z \"$DIFFFUZZ_STAND_IN_FAULT\" || { : > \"$TMPDIR/planted\"; exit 1; }");
    const Ended ended = run_selftest();
    EXPECT_EQ(ended.code, 1) << ended.err;
    EXPECT_THAT(ended.out, HasSubstr("not: info-header (caught late)"));
    const Ended campaign = run_campaign();
    EXPECT_EQ(campaign.code, 4) << campaign.err;
    EXPECT_THAT(campaign.out, HasSubstr("not as a divergence of"));
}

TEST_F(OtherStandIn, ThatIsFaultyWithoutAFaultEndsIt) {
    stand_in("echo more");
    const Ended ended = run_selftest();
    EXPECT_EQ(ended.code, 4) << ended.err;
    EXPECT_THAT(ended.out, HasSubstr("the exhibit of 'info-header', without a fault, ended as "
                                     "info_header_divergence"));
}

// A subject is told nothing of faults, and a mark of its own is worth nothing.
TEST(Selftest, IsNothingThatASubjectCanSeeOrMimic) {
    const ScratchDirectory scratch;
    const fs::path subject = scratch.path() / "subject";
    std::ofstream(subject) << "#!/bin/sh\n"
                              ": > \"$TMPDIR/planted\"\n"
                              "env | grep -q STAND_IN && exit 9\n"
                              "exec /usr/bin/qemu-img \"$@\"\n";
    fs::permissions(subject, fs::perms::owner_all | fs::perms::group_read | fs::perms::group_exec |
                                 fs::perms::others_read | fs::perms::others_exec);
    const Ended ended = difffuzz(scratch, {"run", "--no-config", "--seed", "1", "--iterations",
                                           "12", "--ops", "info", "--subject", subject.string(),
                                           "--reference", "/usr/bin/qemu-img", "--out", "out"});
    EXPECT_EQ(ended.code, 0) << ended.out << ended.err;
    EXPECT_THAT(ended.out, HasSubstr("verdict: clean"));
    EXPECT_THAT(ended.out, HasSubstr("positive control: planted fault '"));
}

TEST_F(OtherStandIn, ThatIsNotThereIsAnEnvironmentError) {
    const Ended ended = run_campaign();
    EXPECT_EQ(ended.code, 3);
    EXPECT_THAT(ended.err, HasSubstr("build or install both together"));
    EXPECT_FALSE(fs::exists(scratch.path() / "out"));
}

}  // namespace
}  // namespace difffuzz::test
