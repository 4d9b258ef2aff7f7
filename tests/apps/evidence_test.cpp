// Evidence and records as somebody else may leave them: one sentence that names the file.
#include <filesystem>
#include <fstream>
#include <map>

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/stat.h>
#include <unistd.h>

#include "apps/difffuzz_process.hpp"

namespace difffuzz::test {
namespace {

using testing::AllOf;
using testing::AnyOf;
using testing::HasSubstr;
using testing::Not;
using testing::StartsWith;
namespace fs = std::filesystem;
using nlohmann::json;

void write(const fs::path& path, const std::string& text) { std::ofstream(path) << text; }

json read_json(const fs::path& path) { return json::parse(read_file(path)); }

// Evidence of a campaign with one kind of divergence, made once.
const ScratchDirectory& made() {
    static const ScratchDirectory scratch;
    static const bool once = [] {
        fs::copy_file(fs::path(DIFFFUZZ_BINARY_DIR) / "bad_tool", scratch.path() / "bad_tool-dead");
        return difffuzz(scratch,
                        {"--seed", "5", "--iterations", "2", "--ops", "info", "--subject",
                         "./bad_tool-dead", "--reference", "/usr/bin/qemu-img", "--out", "out"})
                   .code == 1;
    }();
    EXPECT_TRUE(once);
    return scratch;
}

fs::path first_record(const fs::path& evidence) {
    for (const auto& entry : fs::recursive_directory_iterator(evidence / "records")) {
        if (entry.path().filename() == "record.json") {
            return entry.path();
        }
    }
    return {};
}

// A copy of the evidence to damage.
class Evidence : public testing::Test {
protected:
    Evidence() { fs::copy(made().path(), scratch_.path(), fs::copy_options::recursive); }

    fs::path at(const std::string& name) const { return scratch_.path() / "out" / name; }
    fs::path record() const { return first_record(scratch_.path() / "out"); }

    Ended resume(const std::vector<std::string>& more = {}) const {
        std::vector<std::string> words{"--resume",         "--out",           "out",
                                       "--subject",        "./bad_tool-dead", "--reference",
                                       "/usr/bin/qemu-img"};
        words.insert(words.end(), more.begin(), more.end());
        return difffuzz(scratch_, words);
    }
    Ended repro() const {
        return difffuzz(scratch_, {"repro", record(), "--subject", "./bad_tool-dead", "--reference",
                                   "/usr/bin/qemu-img"});
    }
    // By everything that reads it, with the file named.
    void expect_sentence(const Ended& ended, const std::string& words) const {
        EXPECT_THAT(ended.code, AnyOf(2, 3)) << ended.out << ended.err;
        EXPECT_THAT(ended.err, AllOf(HasSubstr(words), Not(HasSubstr("a fault of difffuzz"))));
        EXPECT_EQ(lines(ended.err), 1U) << ended.err;
    }

    ScratchDirectory scratch_;
};

TEST_F(Evidence, DamagedFilesAreNamed) {
    const json campaign = read_json(at("campaign.json"));
    for (const auto& [pointer, value] :
         {std::pair{"/terms", json(3)}, std::pair{"/terms/seed", json("x")},
          std::pair{"/schema", json(1)}, std::pair{"/subject", json(nullptr)},
          std::pair{"/schema", json("difffuzz.campaign/9")}}) {
        json damaged = campaign;
        damaged[json::json_pointer(pointer)] = value;
        write(at("campaign.json"), damaged.dump());
        expect_sentence(resume(), "campaign.json");
        expect_sentence(difffuzz(scratch_, {"report", "out"}), pointer);
    }
    write(at("campaign.json"), "[1,");
    expect_sentence(difffuzz(scratch_, {"report", "out"}), "campaign.json");
    write(at("campaign.json"), campaign.dump());

    const json summary = read_json(at("summary.json"));
    for (const auto& [pointer, value] :
         {std::pair{"/books", json("x")}, std::pair{"/buckets/0/kept", json::array()},
          std::pair{"/subject", json(1)}, std::pair{"/verdict/line", json(1)}}) {
        json damaged = summary;
        damaged[json::json_pointer(pointer)] = value;
        write(at("summary.json"), damaged.dump());
        expect_sentence(difffuzz(scratch_, {"report", "out"}), "summary.json");
    }
    write(at("summary.json"), "{}");
    expect_sentence(difffuzz(scratch_, {"report", "out", "--json"}), "summary.json");

    write(at("plan.json"), "{\"schema\": 1}");
    expect_sentence(resume(), "plan.json");
    write(record(), "{\"schema\":\"difffuzz.record/1\",\"iteration\":\"x\"}");
    expect_sentence(difffuzz(scratch_, {"report", "out", "--canonical"}), "record.json");
    fs::remove_all(at("records"));
    expect_sentence(difffuzz(scratch_, {"report", "out", "--canonical"}), "records");
}

TEST_F(Evidence, OfAnotherFingerprintVersionIsPutIntoTodaysBuckets) {
    const auto rebucketed = [&] {
        const Ended ended = difffuzz(scratch_, {"report", "out", "--rebucket", "--json"});
        EXPECT_EQ(ended.code, 0) << ended.err;
        return json::parse(ended.out).at("buckets");
    };
    const json today = rebucketed();
    EXPECT_EQ(today.at(0).at("before").at(0), today.at(0).at("fingerprint"));

    const fs::path path = record();
    json old = read_json(path);
    old["fingerprint_version"] = 99;
    old["fingerprint"] = "0123456789abcdef";
    write(path, old.dump());
    expect_sentence(difffuzz(scratch_, {"report", "out", "--markdown", "-"}),
                    "/fingerprint_version");
    const json again = rebucketed();
    ASSERT_EQ(again.size(), today.size());
    for (std::size_t i = 0; i < today.size(); ++i) {
        EXPECT_EQ(again.at(i).at("fingerprint"), today.at(i).at("fingerprint"));
        EXPECT_EQ(again.at(i).at("records"), today.at(i).at("records"));
    }
    EXPECT_THAT(difffuzz(scratch_, {"report", "out", "--rebucket"}).out,
                HasSubstr(", was 0123456789abcdef"));
    EXPECT_EQ(read_json(path), old);

    old["symptom"]["layer"] = 3;
    write(path, old.dump());
    expect_sentence(difffuzz(scratch_, {"report", "out", "--rebucket"}), "record.json");
    EXPECT_EQ(difffuzz(scratch_, {"report", "out", "--rebucket", "--canonical"}).code, 2);
}

TEST_F(Evidence, DamagedJournalsAreNamed) {
    for (const char* line : {"[", "3", "{\"committed\":3}", "{\"started\":-1,\"alone\":true}"}) {
        write(at("journal.ndjson"), std::string(line) + "\n");
        expect_sentence(difffuzz(scratch_, {"report", "out", "--canonical"}), "line 1 of 'out");
    }
}

TEST_F(Evidence, ACaseThatWasInFlightRunsOnceMore) {
    const std::string before = difffuzz(scratch_, {"report", "out", "--canonical"}).out;
    // Killed while case 0 ran beside others, and after that nothing was written.
    write(at("journal.ndjson"), "{\"alone\":false,\"started\":0}\n");
    EXPECT_EQ(resume().code, 1);
    const std::string after = read_file(at("journal.ndjson"));
    const std::string started = "\"started\":0}";
    std::size_t times = 0;
    for (std::size_t at = after.find(started); at != std::string::npos;
         at = after.find(started, at + 1)) {
        ++times;
    }
    EXPECT_EQ(times, 2u) << after;
    EXPECT_EQ(difffuzz(scratch_, {"report", "out", "--canonical"}).out, before);
}

TEST_F(Evidence, ACommittedCaseIsNotTakenForAKilledOne) {
    const std::string before = difffuzz(scratch_, {"report", "out", "--canonical"}).out;
    const std::string line = "{\"alone\":true,\"started\":1}\n";
    write(at("journal.ndjson"), read_file(at("journal.ndjson")) + line);
    EXPECT_EQ(resume().code, 1);
    EXPECT_EQ(difffuzz(scratch_, {"report", "out", "--canonical"}).out, before);
}

TEST_F(Evidence, WordsOfAJournalThatWouldLeadElsewhereAreRefused) {
    std::string outside = read_file(at("journal.ndjson"));
    const std::string type = "\"type\":\"info_crash_divergence\"";
    outside.replace(outside.find(type), type.size(), "\"type\":\"../../info\"");
    write(at("journal.ndjson"), outside);
    expect_sentence(difffuzz(scratch_, {"report", "out", "--canonical"}), "/committed/type");
}

TEST_F(Evidence, PipesAndLinksAreNotFollowed) {
    for (const char* name : {"journal.ndjson", "campaign.json", "summary.json", "lock"}) {
        fs::rename(at(name), scratch_.path() / "aside");
        const auto all = [&] {
            const std::string file = name;
            if (file == "journal.ndjson") {
                return difffuzz(scratch_, {"report", "out", "--canonical"});
            }
            return file == "lock" ? resume() : difffuzz(scratch_, {"report", "out"});
        };
        ASSERT_EQ(::mkfifo(at(name).c_str(), 0600), 0);
        expect_sentence(all(), std::string(name) + "': it is not a regular file");
        fs::remove(at(name));
        fs::create_symlink("../aside", at(name));
        expect_sentence(all(), std::string(name) + "': it is a symbolic link");
        fs::remove(at(name));
        fs::rename(scratch_.path() / "aside", at(name));
    }
}

TEST_F(Evidence, AResultOfTriageThatCannotBeUsedIsNamed) {
    const std::string journal = read_file(at("journal.ndjson"));
    ASSERT_NE(journal.find("{\"triaged\""), std::string::npos);
    for (const char* line : {R"({"triaged":{"iteration":1}})", R"({"triaged":7})"}) {
        write(at("journal.ndjson"), journal + line + "\n");
        EXPECT_EQ(resume().code, 3);
        EXPECT_THAT(resume().err, HasSubstr("a result of triage"));
        expect_sentence(difffuzz(scratch_, {"report", "out", "--canonical"}), "a result of triage");
    }
    // Its words become part of a path.
    std::string outside = journal;
    const std::string type = "\"type\":\"info_crash_divergence\"";
    outside.replace(outside.rfind(type), type.size(), "\"type\":\"../../info\"");
    write(at("journal.ndjson"), outside);
    EXPECT_THAT(resume().err, HasSubstr("a result of triage"));
}

TEST_F(Evidence, ARefusedResumeNamesFlagAndValuesAndLeavesNothing) {
    expect_sentence(difffuzz(scratch_, {"--resume", "--out", "nowhere", "--subject", "/bin/true"}),
                    "holds no campaign");
    EXPECT_FALSE(fs::exists(scratch_.path() / "nowhere"));
    expect_sentence(resume({"--seed", "6"}), "--seed was 5 when");
    expect_sentence(resume({"--seed", "6"}), "and is 6 now");
    expect_sentence(resume({"--iterations", "9"}), "--iterations was 2 when");
    expect_sentence(resume({"--max-new", "9"}), "--max-new was not given when");
    expect_sentence(resume({"--shard", "1/2"}), "--shard was not given when");
    expect_sentence(resume({"--ops", "info=3,check"}), "--ops was info=");
    expect_sentence(resume({"--damaged", "3"}), "--damaged was 15 when");
    // Another tool is the first thing to say, whatever else differs.
    std::ofstream(scratch_.path() / "bad_tool-dead", std::ios::app) << "x";
    expect_sentence(resume({"--seed", "6"}), "--subject was 'qemu-img version ");
}

TEST_F(Evidence, ADirectoryOfAFailedStartIsTakenAgain) {
    for (const char* folder : {"staging", "records", "hangs"}) {
        fs::create_directories(scratch_.path() / "again" / folder);
    }
    write(scratch_.path() / "again" / "lock", "");
    const std::vector<std::string> start{
        "--subject", "./bad_tool-dead", "--iterations", "1", "--ops", "info", "--out", "again"};
    write(scratch_.path() / "again" / "hangs" / "precious", "");
    EXPECT_EQ(difffuzz(scratch_, start).code, 2);
    fs::remove(scratch_.path() / "again" / "hangs" / "precious");
    const Ended ended = difffuzz(scratch_, start);
    EXPECT_EQ(ended.code, 1) << ended.err;
    EXPECT_THAT(ended.out, AllOf(HasSubstr(", 1 case\n"), Not(HasSubstr("1 cases"))));
}

TEST_F(Evidence, WhatDoesNotFollowFromTheSymptomIsRefused) {
    const json record_json = read_json(record());
    EXPECT_EQ(repro().code, 0);
    for (const auto& [pointer, value] : {std::pair{"/type", json("info_exit_divergence")},
                                         std::pair{"/fingerprint", json("0123456789abcdef")},
                                         std::pair{"/culprit_step", json(7)}}) {
        json damaged = record_json;
        damaged[json::json_pointer(pointer)] = value;
        write(record(), damaged.dump());
        const Ended ended = repro();
        EXPECT_EQ(ended.code, 2);
        expect_sentence(ended, pointer);
    }
    json other = record_json;
    other["schema"] = "difffuzz.record/2";
    write(record(), other.dump());
    expect_sentence(repro(), "from another version of difffuzz");
}

TEST_F(Evidence, AnotherSymptomIsShownBesideTheExpectedOne) {
    json record_json = read_json(record());
    // The same case on a tool that refuses instead.
    fs::copy_file(fs::path(DIFFFUZZ_BINARY_DIR) / "bad_tool", scratch_.path() / "bad_tool-noinfo");
    const Ended ended = difffuzz(scratch_, {"repro", record(), "--subject", "./bad_tool-noinfo",
                                            "--reference", "/usr/bin/qemu-img"});
    EXPECT_EQ(ended.code, 5) << ended.out << ended.err;
    EXPECT_THAT(ended.out, AllOf(HasSubstr("another symptom: info_exit_divergence instead of "
                                           "info_crash_divergence"),
                                 HasSubstr("* subject_class: expected 'crashed', seen 'refused'"),
                                 HasSubstr("what differs: "), HasSubstr("    operation: info\n")));
}

TEST_F(Evidence, AReportLacksNoBucketOfItsVerdict) {
    const auto report = [&] { return difffuzz(scratch_, {"report", "out", "--markdown", "-"}); };
    const std::string last = " of new divergences, the last one at case ";
    EXPECT_THAT(report().out,
                AllOf(StartsWith("## 1 bucket of new divergences"), HasSubstr(" 1 bucket" + last)));
    // What the verdict does not count is not counted further down.
    json summary = read_json(at("summary.json"));
    ASSERT_EQ(summary["buckets"].size(), 1U);
    const json bucket_json = summary["buckets"][0];
    for (const std::string fingerprint : {"0000000000000001", "0000000000000002"}) {
        summary["buckets"].push_back(bucket_json);
        summary["buckets"].back()["fingerprint"] = fingerprint;
    }
    write(at("summary.json"), summary.dump());
    EXPECT_THAT(report().out, HasSubstr(" 3 buckets" + last));
    summary["buckets"][0]["status"] = "known(K1)";
    summary["buckets"][1]["severity"] = "reference";
    write(at("summary.json"), summary.dump());
    EXPECT_THAT(report().out, HasSubstr(" 1 bucket" + last));
    const fs::path bucket = record().parent_path().parent_path();
    fs::rename(bucket, at("elsewhere"));
    fs::create_directory_symlink("../elsewhere", bucket);
    const Ended missing = report();
    EXPECT_EQ(missing.code, 2);
    EXPECT_EQ(missing.out, "");
    expect_sentence(missing, "a record is missing: 'out/records/");
}

TEST_F(Evidence, StrangersTextCannotSteerTheTerminal) {
    json summary = read_json(at("summary.json"));
    summary["subject"]["version"] = "\x1b[31mred";
    summary["buckets"][0]["symptom"]["field"] = "\x1b]0;title\x07";
    write(at("summary.json"), summary.dump());
    const Ended report = difffuzz(scratch_, {"report", "out"});
    EXPECT_EQ(report.code, 0);
    EXPECT_THAT(report.out, AllOf(HasSubstr("\\x1B[31mred"), HasSubstr("\\x1B]0;title\\x07"),
                                  Not(HasSubstr("\x1b"))));
    json record_json = read_json(record());
    record_json["images"]["\x1b[2J"] = "0";
    write(record(), record_json.dump());
    const Ended drifted = repro();
    EXPECT_EQ(drifted.code, 6) << drifted.out << drifted.err;
    EXPECT_THAT(drifted.out, AllOf(HasSubstr("'\\x1B[2J'"), Not(HasSubstr("\x1b"))));
    const Ended words = difffuzz(scratch_, {"repro", "\x1b[2J\n", "--subject", "/bin/true"});
    EXPECT_THAT(words.err, AllOf(HasSubstr("'\\x1B[2J\\n'"), Not(HasSubstr("\x1b"))));
    EXPECT_EQ(lines(words.err), 1U);
}

// The script contains nothing, so the stubs that misbehave never run under it: what stands in for
// them does one harmless thing.
std::string stand_in(const ScratchDirectory& scratch, const std::string& name,
                     const std::string& commands) {
    const fs::path path = scratch.path() / name;
    write(path, "#!/bin/sh\n" + commands + "\n");
    fs::permissions(path, fs::perms::owner_all);
    return path;
}

Outcome reproduce(const ScratchDirectory& scratch, const fs::path& record,
                  const std::vector<std::string>& environment) {
    std::vector<std::string> words{"env"};
    words.insert(words.end(), environment.begin(), environment.end());
    words.insert(words.end(), {"bash", record.parent_path() / "reproduce.sh"});
    return run_tool(scratch.path(), words);
}

TEST_F(Evidence, ReproduceScriptWarnsLimitsAndNamesTheSignal) {
    EXPECT_THAT(read_file(record().parent_path() / "reproduce.sh"),
                AllOf(HasSubstr("uncontained"), HasSubstr("as root")));
    const auto with = [&](const std::string& subject, const std::string& limit) {
        return reproduce(scratch_, record(), {"SUBJECT=" + subject, "TIMEOUT=" + limit});
    };
    const std::string dying = stand_in(scratch_, "dying", "kill -SEGV $$");
    const Outcome dead = with(dying, "60");
    EXPECT_EQ(dead.ending, Ending{Exited{0}}) << dead.out.head << dead.err.head;
    EXPECT_THAT(dead.out.head, HasSubstr("-> killed by SIGSEGV"));
    EXPECT_THAT(dead.out.head, HasSubstr("reference: qemu-img info"));
    const Outcome asleep = with(stand_in(scratch_, "sleeping", "exec sleep 20"), "0.2");
    EXPECT_EQ(asleep.ending, Ending{Exited{2}}) << asleep.out.head;
    EXPECT_THAT(asleep.err.head, HasSubstr("did not end within TIMEOUT=0.2 seconds"));
    EXPECT_EQ(with(dying, "soon").ending, Ending{Exited{2}});
}

// Files of the same name on both sides: their types and sizes count.  So do processes.
TEST(ReproduceScript, ComparesTypesAndSizesOfFilesAndProcessesLeft) {
    const std::map<std::string, std::string> leaving{{"leftover", "echo x >left"},
                                                     {"leftmore", "echo xy >left"},
                                                     {"leftdir", "mkdir left"},
                                                     {"daemon", "sleep 321 &"},
                                                     {"good", "true"}};
    for (const auto& [mode, other] : {std::pair<std::string, std::string>{"leftdir", "leftover"},
                                      {"leftmore", "leftover"},
                                      {"daemon", "good"}}) {
        const ScratchDirectory scratch;
        for (const std::string& tool : {mode, other}) {
            fs::copy_file(fs::path(DIFFFUZZ_BINARY_DIR) / "bad_tool",
                          scratch.path() / ("bad_tool-" + tool));
        }
        ASSERT_EQ(difffuzz(scratch, {"--seed", "5", "--iterations", "40", "--ops", "info",
                                     "--max-new", "1", "--subject", "./bad_tool-" + mode,
                                     "--reference", "./bad_tool-" + other, "--out", "out"})
                      .code,
                  1);
        const fs::path record = first_record(scratch.path() / "out");
        ASSERT_EQ(read_json(record).at("type"), "info_files_divergence");
        const auto tool = [&](const std::string& name) {
            return stand_in(scratch, name, leaving.at(name) + "\nexec /usr/bin/qemu-img \"$@\"");
        };
        const std::string reference = "REFERENCE=" + tool(other);
        const Outcome there = reproduce(scratch, record, {"SUBJECT=" + tool(mode), reference});
        EXPECT_EQ(there.ending, Ending{Exited{0}}) << mode << there.out.head << there.err.head;
        EXPECT_EQ(there.processes_left, 0U) << mode;
        const Outcome gone = reproduce(scratch, record, {"SUBJECT=" + tool(other), reference});
        EXPECT_EQ(gone.ending, Ending{Exited{1}}) << mode << gone.out.head << gone.err.head;
    }
}

}  // namespace
}  // namespace difffuzz::test
