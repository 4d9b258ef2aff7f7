// Known divergences on two real versions: audited, steered around, recognised.
#include <cstdlib>
#include <fstream>
#include <set>
#include <sstream>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "apps/difffuzz_process.hpp"

namespace difffuzz::test {
namespace {

using testing::AllOf;
using testing::HasSubstr;
using testing::Not;
namespace fs = std::filesystem;

constexpr const char* built_in =
    DIFFFUZZ_SOURCE_DIR "/known_divergences/measure-parallels-bitmaps.toml";

std::vector<std::string> on_versions(std::vector<std::string> words) {
    const char* second = std::getenv("DIFFFUZZ_TEST_SECOND_QEMU");
    if (second == nullptr) {
        throw std::runtime_error("set DIFFFUZZ_TEST_SECOND_QEMU (scripts/test does)");
    }
    words.insert(words.end(), {"--subject", "/usr/bin/qemu-img", "--reference", second});
    return words;
}

// A copy of an entry under another id, with one text replaced by another.
void write_entry(const ScratchDirectory& scratch, const std::string& id, const std::string& from,
                 const std::string& to) {
    std::string text = read_file(built_in);
    const auto replace = [&](const std::string& old, const std::string& by) {
        const std::size_t at = text.find(old);
        ASSERT_NE(at, std::string::npos) << old;
        text.replace(at, old.size(), by);
    };
    replace("measure-parallels-bitmaps", id);
    if (!from.empty()) {
        replace(from, to);
    }
    fs::create_directories(scratch.path() / "known");
    std::ofstream(scratch.path() / "known" / (id + ".toml")) << text;
}

Ended audit(const ScratchDirectory& scratch, const std::string& id) {
    return difffuzz(scratch,
                    on_versions({"known", "audit", id, "-n", "4", "--known-dir", "known"}));
}

TEST(KnownAudit, SaysHowAnEntryDoesNotHold) {
    const ScratchDirectory scratch;
    write_entry(scratch, "right", "", "");
    write_entry(scratch, "wrong-effect", "field = \"-bitmaps\"", "field = \"-extents\"");
    write_entry(scratch, "wrong-predicate", "= 'parallels'", "= 'vdi'");
    write_entry(scratch, "too-wide", "(SELECT format FROM image WHERE id = :image) = 'parallels'",
                "1");
    write_entry(scratch, "other-tool", "tool = \"qemu-img\"", "tool = \"another\"");
    struct Expected {
        const char* id;
        int code;
        const char* words;
    };
    for (const Expected& expected : std::vector<Expected>{
             {"right", 0, "its exhibit shows it; 4 of 4 cases inside show it"},
             {"wrong-effect", 1, "the entry has another field; seen as field: '-bitmaps'"},
             {"wrong-predicate", 1, "its predicate does not hold for its exhibit"},
             {"too-wide", 1, "of the cases inside agree, more than its 0, such as 'measure "},
             {"other-tool", 4, "not applicable here"}}) {
        const Ended ended = audit(scratch, expected.id);
        EXPECT_EQ(ended.code, expected.code) << expected.id << ended.out << ended.err;
        EXPECT_THAT(ended.out,
                    AllOf(HasSubstr(expected.words), HasSubstr(expected.id),
                          testing::StartsWith("incomplete: the audit of 1 entry begins\n")));
    }
}

TEST(KnownAudit, AnEntryOfWhichTheToolsAgreeIsGoneAndAnOldOneHasExpired) {
    const ScratchDirectory scratch;
    // About this version against itself: its exhibit cannot show anything.
    write_entry(scratch, "gone", "versions = \">=10.0\"", "versions = \">=7.2\"");
    write_entry(scratch, "old", "date = 2026-11-30\nreview_by = 2027-11-30",
                "date = 2020-01-01\nreview_by = 2020-02-01");
    for (const auto& [id, verdict] : {std::pair{"gone", "gone "}, std::pair{"old", "expired "}}) {
        const Ended ended =
            difffuzz(scratch, {"known", "audit", id, "--known-dir", "known", "--subject",
                               "/usr/bin/qemu-img", "--reference", "/usr/bin/qemu-img"});
        EXPECT_EQ(ended.code, 1) << ended.out << ended.err;
        EXPECT_THAT(ended.out, HasSubstr(verdict));
    }
}

TEST(KnownDirectory, ABadEntryIsRefusedWithFileAndLine) {
    const ScratchDirectory scratch;
    write_entry(scratch, "bad", "= 'parallels'", "= random()");
    for (const std::vector<std::string>& command :
         {std::vector<std::string>{"known", "list", "--known-dir", "known"},
          on_versions({"--known-dir", "known", "--iterations", "1"})}) {
        const Ended ended = difffuzz(scratch, command);
        EXPECT_EQ(ended.code, 2) << ended.out << ended.err;
        EXPECT_THAT(ended.err, AllOf(HasSubstr("'known/bad.toml', line "),
                                     HasSubstr("what predicates may not use")));
    }
    EXPECT_EQ(difffuzz(scratch, {"known", "lst"}).code, 2);
    EXPECT_EQ(difffuzz(scratch, {"run", "--known", "never", "--subject", "/bin/true"}).code, 2);
}

// Cases of the operations that differ most, in each mode.
TEST(KnownModes, SteerEnterAndOffDifferInWhatTheyFind) {
    const ScratchDirectory scratch;
    const auto run = [&](const std::string& mode) {
        return difffuzz(
            scratch, on_versions({"--known", mode, "--iterations", "60", "--seed", "3", "--ops",
                                  "map,measure", "--damaged", "0", "--no-triage", "--out", mode}));
    };
    const Ended off = run("off");
    EXPECT_EQ(off.code, 1) << off.out << off.err;
    EXPECT_THAT(off.out, HasSubstr("known divergences not considered"));
    const Ended enter = run("enter");
    EXPECT_EQ(enter.code, 0) << enter.out << enter.err;
    EXPECT_THAT(enter.out, HasSubstr("known divergences not steered around"));
    const Ended steer = run("steer");
    EXPECT_EQ(steer.code, 0) << steer.out << steer.err;
    EXPECT_THAT(steer.out,
                AllOf(HasSubstr("known divergences took "), HasSubstr("known: map-compressed: "),
                      Not(HasSubstr("new divergences, worst first"))));
    const nlohmann::json summary = summary_of(scratch, "steer");
    for (const nlohmann::json& bucket : summary.at("buckets")) {
        EXPECT_THAT(bucket.at("status").get<std::string>(), testing::StartsWith("known("));
    }
    // What is drawn by the plan is what was run.
    const Ended drawn =
        difffuzz(scratch, {"draw", "--plan", "steer/plan.json", "--seed", "3", "-n", "60"});
    EXPECT_EQ(drawn.code, 0) << drawn.err;
    std::set<std::string> recipes;
    std::istringstream cases(drawn.out);
    for (std::string line; std::getline(cases, line);) {
        recipes.insert(nlohmann::json::parse(line).dump());
    }
    std::size_t records = 0;
    for (const auto& entry : fs::recursive_directory_iterator(scratch.path() / "steer/records")) {
        if (entry.path().filename() == "record.json") {
            ++records;
            const auto record = nlohmann::json::parse(read_file(entry.path()));
            EXPECT_TRUE(recipes.contains(record.at("recipe").dump()));
            EXPECT_THAT(record.at("status").get<std::string>(), testing::StartsWith("known("));
        }
    }
    EXPECT_GT(records, 0U);
    const Ended other = difffuzz(scratch, {"run", "--resume", "--known", "off", "--out", "steer",
                                           "--subject", "/usr/bin/qemu-img"});
    EXPECT_EQ(other.code, 2) << other.err;
    const std::string source = DIFFFUZZ_SOURCE_DIR;
    const Outcome schemas =
        run_tool(scratch.path(), {source + "/tests/scripts/validate_evidence.py", source + "/docs",
                                  "off", "enter", "steer"});
    EXPECT_EQ(schemas.ending, Ending{Exited{0}}) << schemas.out.head << schemas.err.head;
}

}  // namespace
}  // namespace difffuzz::test
