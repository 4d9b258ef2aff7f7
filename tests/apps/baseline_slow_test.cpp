// An older subject beside the one under test; one case on many builds; git bisect.
#include <algorithm>
#include <fstream>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "apps/difffuzz_process.hpp"

namespace difffuzz::test {
namespace {

using nlohmann::json;
using testing::HasSubstr;
using testing::Not;
namespace fs = std::filesystem;

// Stands in for qemu-img, with a line of shell before it hands the command on.
fs::path stand_in(const fs::path& path, const std::string& line) {
    std::ofstream(path) << "#!/bin/sh\n" << line << "\nexec /usr/bin/qemu-img \"$@\"\n";
    fs::permissions(path, fs::perms::owner_all | fs::perms::group_read | fs::perms::group_exec |
                              fs::perms::others_read | fs::perms::others_exec);
    return path;
}

// info --backing-chain is refused; info without it says something more.
const std::string refuses_chain =
    "case \" $* \" in *' --backing-chain '*) echo 'qemu-img: no chains' >&2; exit 1;; esac";
const std::string says_more = "case $1 in info) echo more;; esac";

std::vector<std::string> campaign(const fs::path& subject, const std::string& out,
                                  std::vector<std::string> more = {}) {
    std::vector<std::string> words{"--seed",      "5",           "--iterations",
                                   "16",          "--ops",       "info",
                                   "--damaged",   "0",           "--subject",
                                   subject,       "--reference", "/usr/bin/qemu-img",
                                   "--no-config", "--out",       out};
    words.insert(words.end(), more.begin(), more.end());
    return words;
}

std::vector<std::string> statuses(const ScratchDirectory& scratch, const std::string& evidence) {
    std::vector<std::string> result;
    const json summary = summary_of(scratch, evidence);
    for (const json& bucket : summary.at("buckets")) {
        result.push_back(bucket.at("status"));
    }
    return result;
}

fs::path first_record(const fs::path& evidence, const std::string& status) {
    std::vector<fs::path> paths;
    for (const auto& entry : fs::recursive_directory_iterator(evidence / "records")) {
        if (entry.path().filename() == "record.json" &&
            json::parse(read_file(entry.path())).at("status") == status) {
            paths.push_back(entry.path());
        }
    }
    std::ranges::sort(paths);
    return paths.empty() ? fs::path() : paths.front();
}

TEST(Baseline, OnlyWhatItDoesNotShowIsARegression) {
    const ScratchDirectory scratch;
    const fs::path both = stand_in(scratch.path() / "both", refuses_chain + "\n" + says_more);
    const fs::path chain = stand_in(scratch.path() / "chain", refuses_chain);

    const Ended changed =
        difffuzz(scratch, campaign(both, "changed", {"--baseline", chain, "--jobs", "2"}));
    ASSERT_EQ(changed.code, 1) << changed.out << changed.err;
    EXPECT_THAT(statuses(scratch, "changed"), testing::Contains("regression"));
    EXPECT_THAT(statuses(scratch, "changed"), testing::Contains("pre-existing"));
    EXPECT_THAT(changed.out, HasSubstr("of regressions; "));
    EXPECT_THAT(changed.out, HasSubstr("of pre-existing divergences"));
    for (const char* status : {"regression", "pre-existing"}) {
        const fs::path path = first_record(scratch.path() / "changed", status);
        ASSERT_FALSE(path.empty()) << status;
        const json record = json::parse(read_file(path));
        EXPECT_EQ(record.at("type"), std::string(status) == "regression" ? "info_header_divergence"
                                                                         : "info_exit_divergence");
        const json& runs = record.at("baseline").at("runs");
        EXPECT_EQ(runs.at(0).at("of"), "recipe");
        EXPECT_EQ(runs.size(), std::string(status) == "regression" ? 2U : 1U);
    }
    const std::string canonical = difffuzz(scratch, {"report", "changed", "--canonical"}).out;

    // The same by one worker.
    ASSERT_EQ(difffuzz(scratch, campaign(both, "one", {"--baseline", chain, "--jobs", "1"})).code,
              1);
    EXPECT_EQ(difffuzz(scratch, {"report", "one", "--canonical"}).out, canonical);

    // Resumed, it must be the same baseline.
    const std::vector<std::string> resume{"--resume",          "--out",      "one",
                                          "--subject",         both,         "--reference",
                                          "/usr/bin/qemu-img", "--no-config"};
    const Ended without = difffuzz(scratch, resume);
    EXPECT_EQ(without.code, 2);
    EXPECT_THAT(without.err, HasSubstr("--baseline"));
    std::vector<std::string> again = resume;
    again.insert(again.end(), {"--baseline", chain});
    EXPECT_EQ(difffuzz(scratch, again).code, 1);
    EXPECT_EQ(difffuzz(scratch, {"report", "one", "--canonical"}).out, canonical);

    // What was there before is no reason to turn red, and what is gone is listed.
    const Ended same =
        difffuzz(scratch, campaign(chain, "same", {"--baseline", both, "--fixed-meanwhile", "16"}));
    EXPECT_EQ(same.code, 0) << same.out << same.err;
    EXPECT_THAT(same.out, HasSubstr("verdict: no regression; "));
    const json fixed = summary_of(scratch, "same").at("baseline");
    EXPECT_EQ(fixed.at("cases"), 16);
    ASSERT_FALSE(fixed.at("fixed").empty());
    for (const json& bucket : fixed.at("fixed")) {
        EXPECT_THAT(bucket.at("type").get<std::string>(), Not(HasSubstr("exit")));
    }
    EXPECT_EQ(run_tool(scratch.path(),
                       {"/usr/bin/python3",
                        std::string(DIFFFUZZ_SOURCE_DIR) + "/tests/scripts/validate_evidence.py",
                        std::string(DIFFFUZZ_SOURCE_DIR) + "/docs", "changed", "same"})
                  .ending,
              Ending(Exited{0}));
}

TEST(Baseline, ThatIsTheSubjectIsSaidAndWhatMakesNoSenseRefused) {
    const ScratchDirectory scratch;
    const fs::path chain = stand_in(scratch.path() / "chain", refuses_chain);
    const Ended itself = difffuzz(scratch, campaign(chain, "itself", {"--baseline", chain}));
    EXPECT_EQ(itself.code, 0) << itself.err;
    EXPECT_THAT(itself.out, HasSubstr("; the baseline is the subject itself"));

    const Ended untriaged =
        difffuzz(scratch, campaign(chain, "none", {"--baseline", chain, "--no-triage"}));
    EXPECT_EQ(untriaged.code, 2);
    EXPECT_THAT(untriaged.err, HasSubstr("no regression"));
    const Ended alone = difffuzz(scratch, campaign(chain, "none", {"--fixed-meanwhile", "3"}));
    EXPECT_EQ(alone.code, 2);
    EXPECT_THAT(alone.err, HasSubstr("--fixed-meanwhile needs --baseline"));
    const Ended missing = difffuzz(scratch, campaign(chain, "none", {"--baseline", "./nothing"}));
    EXPECT_EQ(missing.code, 3);
    EXPECT_THAT(missing.err, HasSubstr("the baseline './nothing' does not exist"));
    EXPECT_FALSE(fs::exists(scratch.path() / "none"));
}

TEST(SeenBefore, ChangesTheSummaryAlone) {
    const ScratchDirectory scratch;
    const fs::path chain = stand_in(scratch.path() / "chain", refuses_chain);
    const auto run = [&](const std::string& out, std::vector<std::string> more) {
        const Ended ended = difffuzz(scratch, campaign(chain, out, std::move(more)));
        EXPECT_EQ(ended.code, 1) << ended.out << ended.err;
        return difffuzz(scratch, {"report", out, "--canonical"}).out;
    };
    const std::string without = run("one", {});
    EXPECT_EQ(run("two", {"--seen", "one", "--seen", "seen.db"}), without);
    const json two = summary_of(scratch, "two").at("seen");
    EXPECT_EQ(two.at("campaigns"), 1);
    EXPECT_FALSE(two.at("buckets").at("before").empty());
    EXPECT_TRUE(two.at("buckets").at("new").empty());
    EXPECT_EQ(two.at("pairs").at("added"), 0);
    run("three", {"--seen", "seen.db"});
    const json three = summary_of(scratch, "three").at("seen");
    EXPECT_EQ(three.at("campaigns"), 1);
    EXPECT_EQ(three.at("pairs"), two.at("pairs"));
    EXPECT_EQ(three.at("buckets").at("before").size(), two.at("buckets").at("before").size());
    EXPECT_THAT(read_file(scratch.path() / "three" / "summary.txt"), HasSubstr("gone since"));
    EXPECT_EQ(run_tool(scratch.path(),
                       {"/usr/bin/python3",
                        std::string(DIFFFUZZ_SOURCE_DIR) + "/tests/scripts/validate_evidence.py",
                        std::string(DIFFFUZZ_SOURCE_DIR) + "/docs", "two"})
                  .ending,
              Ending(Exited{0}));
    // Found out before anything runs.
    EXPECT_EQ(difffuzz(scratch, campaign(chain, "four", {"--seen", "no/seen.db"})).code, 3);
    EXPECT_FALSE(fs::exists(scratch.path() / "four"));
}

// A record of the refused chain, made once.
const fs::path& chain_record() {
    static const ScratchDirectory scratch;
    static const fs::path record = [] {
        const fs::path chain = stand_in(scratch.path() / "chain", refuses_chain);
        difffuzz(scratch, campaign(chain, "out", {"--max-new", "1"}));
        return first_record(scratch.path() / "out", "new");
    }();
    return record;
}

TEST(ReproAcross, SaysWhoDoesWhatAndWhereItChanges) {
    const ScratchDirectory scratch;
    ASSERT_FALSE(chain_record().empty());
    const std::string good = stand_in(scratch.path() / "good", "true");
    const std::string chain = stand_in(scratch.path() / "chain", refuses_chain);
    const std::string dead = stand_in(scratch.path() / "dead", "kill -SEGV $$");
    const std::vector<std::string> words{
        "repro",       chain_record(), "--reference", "/usr/bin/qemu-img",
        "--no-config", "--json",       "--across",    good,
        good,          chain,          dead};
    const Ended ended = difffuzz(scratch, words);
    EXPECT_EQ(ended.code, 0) << ended.out << ended.err;
    const json table = json::parse(ended.out);
    const json& programs = table.at("programs");
    ASSERT_EQ(programs.size(), 4U);
    EXPECT_EQ(table.at("first_change"), 2);
    EXPECT_EQ(programs[0].at("found"), "agrees");
    EXPECT_THAT(programs[0].at("version").get<std::string>(), HasSubstr("qemu-img"));
    EXPECT_EQ(programs[2].at("found"), "same");
    EXPECT_EQ(programs[2].at("outcome"), "refused");
    EXPECT_EQ(programs[3].at("found"), "another");
    EXPECT_EQ(programs[3].at("outcome"), "crashed");
    std::ofstream(scratch.path() / "table.json") << ended.out;
    EXPECT_EQ(
        run_tool(scratch.path(), {"/usr/bin/python3", "-c",
                                  "import json,jsonschema,sys;"
                                  "jsonschema.validate(json.load(open('table.json')),"
                                  "json.load(open(sys.argv[1])))",
                                  std::string(DIFFFUZZ_SOURCE_DIR) + "/docs/across.schema.json"})
            .ending,
        Ending(Exited{0}));

    std::vector<std::string> plain = words;
    std::erase(plain, "--json");
    const std::string shown = difffuzz(scratch, plain).out;
    EXPECT_THAT(shown, HasSubstr("> " + chain));
    EXPECT_THAT(shown, HasSubstr("the first that differs from the one before: " + chain));

    std::vector<std::string> bisect = words;
    bisect.insert(bisect.begin() + 1, "--bisect");
    EXPECT_EQ(difffuzz(scratch, bisect).code, 2);
    EXPECT_EQ(difffuzz(scratch, {"repro", chain_record(), "--across", "./nothing"}).code, 3);
}

// A repository of stand-ins: `count` commits, of which the one at `first_bad` brings the fault.
class Repository {
public:
    Repository(const fs::path& directory, int count, int first_bad) : directory_(directory) {
        fs::create_directories(directory_);
        git({"init", "--quiet", "--initial-branch=main"});
        for (int i = 0; i < count; ++i) {
            // One that cannot be told anything about: it does not start.
            const bool broken = i == first_bad - 1;
            stand_in(directory_ / "tool",
                     (i >= first_bad ? refuses_chain : "true") + "\n# build " + std::to_string(i));
            if (broken) {
                std::ofstream(directory_ / "tool") << "#!/nowhere/sh\n";
            }
            git({"add", "tool"});
            git({"commit", "--quiet", "-m", "build " + std::to_string(i)});
            commits_.push_back(git({"rev-parse", "HEAD"}).substr(0, 40));
        }
    }

    std::string git(std::vector<std::string> words) const {
        std::vector<std::string> argv{"/usr/bin/git",          "-C", directory_.string(), "-c",
                                      "user.name=t",           "-c", "user.email=t@t",    "-c",
                                      "advice.detachedHead=0", "-c", "core.fileMode=1"};
        argv.insert(argv.end(), words.begin(), words.end());
        const Outcome outcome = run_tool(directory_, argv);
        ended_ = outcome.ending;
        return outcome.out.head + outcome.err.head;
    }
    const std::string& commit(int i) const { return commits_.at(static_cast<std::size_t>(i)); }
    const Ending& ended() const { return ended_; }

private:
    fs::path directory_;
    std::vector<std::string> commits_;
    mutable Ending ended_ = Exited{0};
};

std::string bisected(const Repository& repository, int count, const std::string& record) {
    repository.git({"bisect", "start", repository.commit(count - 1), repository.commit(0)});
    return repository.git({"bisect", "run", std::string(DIFFFUZZ_BINARY_DIR) + "/difffuzz", "repro",
                           "--bisect", record, "--subject", "./tool", "--reference",
                           "/usr/bin/qemu-img", "--no-config"});
}

TEST(Bisect, FindsTheCommitThatBroughtTheFault) {
    const ScratchDirectory scratch;
    ASSERT_FALSE(chain_record().empty());
    constexpr int count = 8;
    constexpr int first_bad = 5;
    const Repository repository(scratch.path() / "repository", count, first_bad);
    const std::string said = bisected(repository, count, chain_record());
    // The build before it does not start: it may be that one, too, and git says so.
    const std::size_t verdict = said.find("could be any of");
    ASSERT_NE(verdict, std::string::npos) << said;
    EXPECT_THAT(said.substr(verdict), HasSubstr(repository.commit(first_bad)));
    EXPECT_THAT(said.substr(verdict), HasSubstr(repository.commit(first_bad - 1)));
    EXPECT_THAT(said.substr(verdict), Not(HasSubstr(repository.commit(first_bad - 2))));

    // Without a build that cannot be told anything about.
    const Repository other(scratch.path() / "other", count, 1);
    EXPECT_THAT(bisected(other, count, chain_record()),
                HasSubstr(other.commit(1) + " is the first bad commit"));
}

TEST(Bisect, StopsAtOnceForARecordThatCannotBeRead) {
    const ScratchDirectory scratch;
    const Repository repository(scratch.path() / "repository", 4, 3);
    std::ofstream(scratch.path() / "record.json") << "{";
    const std::string said = bisected(repository, 4, (scratch.path() / "record.json").string());
    EXPECT_NE(repository.ended(), Ending(Exited{0}));
    EXPECT_THAT(said, HasSubstr("129"));
    EXPECT_THAT(said, Not(HasSubstr("is the first bad commit")));
    // Nor does another build bring the reference back.
    EXPECT_EQ(difffuzz(scratch, {"repro", "--bisect", chain_record(), "--subject",
                                 "/usr/bin/qemu-img", "--reference", "./nothing"})
                  .code,
              129);
}

}  // namespace
}  // namespace difffuzz::test
