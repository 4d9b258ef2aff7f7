// Where evidence comes from, and that it is what it was: of a whole campaign.
#include <fstream>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "apps/difffuzz_process.hpp"

namespace difffuzz::test {
namespace {

using testing::HasSubstr;
namespace fs = std::filesystem;

class Provenance : public testing::Test {
protected:
    // A repository with a commit and a change that is not committed.
    Provenance() {
        fs::create_directory(source());
        write(source() / "tool.c", "int a;\n");
        for (const std::vector<std::string>& words :
             {std::vector<std::string>{"git", "init", "--quiet"},
              {"git", "add", "tool.c"},
              {"git", "-c", "user.name=a", "-c", "user.email=a@b", "commit", "--quiet", "-m",
               "a"}}) {
            EXPECT_EQ(run_tool(source(), words).ending, Ending{Exited{0}});
        }
        write(source() / "tool.c", "int b;\n");
        write(source() / "new.c", "");
    }

    static void write(const fs::path& path, const std::string& text) {
        std::ofstream(path) << text;
    }
    fs::path source() const { return scratch_.path() / "source"; }
    fs::path evidence() const { return scratch_.path() / "out"; }
    Ended campaign(std::vector<std::string> more) const {
        std::vector<std::string> words{"run",
                                       "--seed",
                                       "7",
                                       "--ops",
                                       "info",
                                       "--iterations",
                                       "4",
                                       "--subject",
                                       "/usr/bin/qemu-img",
                                       "--out",
                                       "out",
                                       "--reference",
                                       "/usr/bin/qemu-img",
                                       "--no-config"};
        words.insert(words.end(), more.begin(), more.end());
        return difffuzz(scratch_, words);
    }
    Ended verify(const std::string& what) const {
        return difffuzz(scratch_, {"evidence", "verify", what});
    }

    ScratchDirectory scratch_;
};

TEST_F(Provenance, EvidenceTellsWhereItComesFromAndIsSeenToHaveChanged) {
    const Ended ended = campaign({"--subject-source", "source"});
    ASSERT_EQ(ended.code, 0) << ended.out << ended.err;
    const auto told = nlohmann::json::parse(read_file(evidence() / "campaign.json"));
    EXPECT_EQ(told.at("subject_source").at("commit").get<std::string>().size(), 40U);
    EXPECT_EQ(told.at("subject_source").at("dirty"), true);
    EXPECT_EQ(told.at("subject_source").at("untracked_files"), 1);
    const std::string patch = read_file(evidence() / "subject-source.patch");
    EXPECT_THAT(patch, HasSubstr("-int a;\n+int b;\n"));
    ASSERT_EQ(told.at("runs").size(), 1U);
    const auto& run = told.at("runs").at(0);
    EXPECT_THAT(run.at("command"), testing::Contains("--subject-source"));
    EXPECT_EQ(run.at("difffuzz").at("sha256").get<std::string>().size(), 64U);
    EXPECT_TRUE(run.at("granted_seconds").is_null());
    EXPECT_GT(run.at("used_seconds").get<double>(), 0);
    for (const char* field : {"release", "version", "file_system", "processors"}) {
        EXPECT_TRUE(run.at("host").contains(field)) << field;
    }
    // The patch applies to the commit that it is named with.
    EXPECT_EQ(run_tool(source(), {"git", "apply", "--check", "--reverse",
                                  evidence() / "subject-source.patch"})
                  .ending,
              Ending{Exited{0}});

    EXPECT_EQ(verify("out").code, 0);
    const Outcome copy = run_tool(scratch_.path(), {"cp", "-r", "out", "copy"});
    ASSERT_EQ(copy.ending, Ending{Exited{0}});
    EXPECT_EQ(verify("copy").code, 0);
    ASSERT_EQ(difffuzz(scratch_, {"evidence", "pack", "out", "--out", "a.tar.zst"}).code, 0);
    ASSERT_EQ(difffuzz(scratch_, {"evidence", "pack", "copy", "--out", "b.tar.zst"}).code, 0);
    EXPECT_EQ(read_file(scratch_.path() / "a.tar.zst"), read_file(scratch_.path() / "b.tar.zst"));
    EXPECT_EQ(verify("a.tar.zst").code, 0);
    EXPECT_EQ(difffuzz(scratch_, {"evidence", "pack", "out", "--out", "a.tar.zst"}).code, 2)
        << "it is there already";

    std::string flipped = read_file(evidence() / "summary.txt");
    flipped[flipped.size() / 2] = static_cast<char>(flipped[flipped.size() / 2] ^ 1);
    write(evidence() / "summary.txt", flipped);
    const Ended changed = verify("out");
    EXPECT_EQ(changed.code, 1);
    EXPECT_THAT(changed.out, HasSubstr("'summary.txt' has changed"));
    EXPECT_EQ(difffuzz(scratch_, {"evidence", "pack", "out", "--out", "c.tar.zst"}).code, 1);
    EXPECT_FALSE(fs::exists(scratch_.path() / "c.tar.zst"));

    fs::create_symlink("summary.txt", scratch_.path() / "copy/link");
    EXPECT_THAT(verify("copy").out, HasSubstr("'link' is no regular file"));
    fs::remove(scratch_.path() / "copy/link");
    fs::remove(scratch_.path() / "copy/plan.json");
    EXPECT_THAT(verify("copy").out, HasSubstr("'plan.json' is missing"));
    std::string manifest = read_file(scratch_.path() / "copy/manifest.json");
    manifest.replace(manifest.find("\"removed\": \"\""), 13, "\"removed\": \"x\"");
    write(scratch_.path() / "copy/manifest.json", manifest);
    const Ended other = verify("copy");
    EXPECT_EQ(other.code, 1);
    EXPECT_THAT(other.out, HasSubstr("'manifest.json' or 'manifest.sha256' has changed"));

    // What did not end is incomplete, whatever its files are.
    std::string state = read_file(evidence() / "campaign.json");
    state.replace(state.find("\"complete\""), 10, "\"incomplete\"");
    write(evidence() / "campaign.json", state);
    const Ended incomplete = verify("out");
    EXPECT_EQ(incomplete.code, 4);
    EXPECT_THAT(incomplete.out, HasSubstr("incomplete"));
}

TEST_F(Provenance, ASourceThatIsNoRepositoryIsRefused) {
    fs::create_directory(scratch_.path() / "plain");
    for (const char* directory : {"plain", "nowhere"}) {
        const Ended ended = campaign({"--subject-source", directory});
        EXPECT_EQ(ended.code, 2);
        EXPECT_THAT(ended.err, HasSubstr("--subject-source '" + std::string(directory) + "'"));
        EXPECT_FALSE(fs::exists(evidence()));
    }
}

}  // namespace
}  // namespace difffuzz::test
