// Evidence against its manifest, and as one file: without any campaign.
#include "campaign/evidence/bundle.hpp"

#include <fstream>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "apps/difffuzz_process.hpp"
#include "core/cases/json_fields.hpp"
#include "core/errors.hpp"

namespace difffuzz::test {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;
namespace fs = std::filesystem;

// Evidence as far as bundles look at it.
class Bundles : public testing::Test {
protected:
    Bundles() {
        put("campaign.json", "{\"state\": \"complete\"}");
        put("journal.ndjson", std::string(3000, 'j'));
        put("records/a-1/0/record.json", R"({"severity": "detail"})");
        put("records/a-1/0/raw/subject-step0.stdout", std::string(5000, 'd'));
        put("records/a-1/0/raw/subject-step0.json", R"({"stdout_bytes": 9000, "stderr_bytes": 0})");
        put("records/b-2/7/record.json", R"({"severity": "crash"})");
        put("records/b-2/7/reproduce.sh", "exit 0");
        put("records/b-2/7/original/raw/subject-step0.stdout", std::string(5000, 'c'));
        put("lock", "");
    }

    void put(const std::string& name, const std::string& content) const {
        fs::create_directories((fs::path(evidence()) / name).parent_path());
        std::ofstream(fs::path(evidence()) / name) << content;
    }
    std::string evidence() const { return (scratch_.path() / "evidence").string(); }
    std::string pack(const Manifest& chosen, Compression compression) const {
        const std::string path = (scratch_.path() / "bundle").string();
        std::ofstream(path) << pack_bundle(evidence(), chosen, compression);
        return path;
    }
    std::vector<std::string> left_out(std::uint64_t room) const {
        std::vector<std::string> paths;
        for (const ManifestFile& file :
             choose_for_bundle(evidence(), make_manifest(evidence()), room)) {
            if (file.left_out()) {
                paths.push_back(file.path);
            }
        }
        return paths;
    }

    ScratchDirectory scratch_;
};

TEST_F(Bundles, TheManifestTellsWhatOfAStreamIsNotKept) {
    const Manifest manifest = make_manifest(evidence());
    EXPECT_EQ(manifest.size(), 8U) << "the lock is no evidence";
    const auto stream =
        std::ranges::find(manifest, "records/a-1/0/raw/subject-step0.stdout", &ManifestFile::path);
    ASSERT_NE(stream, manifest.end());
    EXPECT_EQ(stream->bytes, 5000U);
    EXPECT_EQ(stream->original_bytes, 9000U);
    EXPECT_THAT(stream->removed, HasSubstr("4000 bytes"));
    EXPECT_EQ(parse_manifest(to_json(manifest).dump()), manifest);
}

TEST_F(Bundles, ChangedMissingAndAddedFilesAreNamed) {
    const Manifest before = make_manifest(evidence());
    put("records/b-2/7/reproduce.sh", "exit 1");
    put("more", "");
    fs::remove(fs::path(evidence()) / "journal.ndjson");
    EXPECT_THAT(manifest_differences(before, make_manifest(evidence())),
                ElementsAre(HasSubstr("'journal.ndjson' is missing"),
                            HasSubstr("'records/b-2/7/reproduce.sh' has changed"),
                            HasSubstr("'more' was added")));
}

TEST_F(Bundles, BytesAreTheSameWheneverAndWhereverTheyArePacked) {
    const Manifest all = make_manifest(evidence());
    for (const Compression compression : {Compression::zstd, Compression::gzip}) {
        const std::string once = pack_bundle(evidence(), all, compression);
        for (const auto& entry : fs::recursive_directory_iterator(evidence())) {
            fs::last_write_time(entry, fs::file_time_type::clock::now() + std::chrono::hours(1));
        }
        fs::rename(evidence(), scratch_.path() / "elsewhere");
        EXPECT_EQ(once, pack_bundle((scratch_.path() / "elsewhere").string(), all, compression));
        fs::rename(scratch_.path() / "elsewhere", evidence());
        const BundleContents contents = read_bundle(pack(all, compression));
        EXPECT_EQ(contents.damage, "");
        EXPECT_EQ(parse_manifest(contents.texts.manifest), all);
        EXPECT_TRUE(manifest_differences(all, contents.found).empty());
    }
}

TEST_F(Bundles, WhatIsRequiredStaysAndStreamsGoByTheirSeverity) {
    EXPECT_THAT(left_out(max_bundle_bytes), ElementsAre());
    const std::string detail = "records/a-1/0/raw/subject-step0.stdout";
    const std::string crash = "records/b-2/7/original/raw/subject-step0.stdout";
    // As there is less and less room, what costs least to lose goes first.
    std::size_t detail_alone = 0;
    std::size_t both = 0;
    std::string refusal;
    for (std::uint64_t room = 64 << 10; refusal.empty(); room -= 256) {
        try {
            const std::vector<std::string> now = left_out(room);
            const bool lost_detail = std::ranges::count(now, detail) > 0;
            const bool lost_crash = std::ranges::count(now, crash) > 0;
            EXPECT_TRUE(lost_detail || !lost_crash) << room;
            detail_alone += lost_detail && !lost_crash ? 1U : 0U;
            both += lost_detail && lost_crash ? 1U : 0U;
        } catch (const BundleError& error) {
            refusal = error.what();
        }
    }
    EXPECT_GT(detail_alone, 0U);
    EXPECT_GT(both, 0U);
    EXPECT_THAT(refusal, HasSubstr("no room for"));
}

TEST_F(Bundles, WhatWasLeftOutIsToldAndMayNotComeBack) {
    Manifest chosen = make_manifest(evidence());
    chosen[2].sha256.clear();
    chosen[2].bytes = 0;
    chosen[2].removed = "all of it";
    const BundleContents contents = read_bundle(pack(chosen, Compression::zstd));
    EXPECT_TRUE(
        manifest_differences(parse_manifest(contents.texts.manifest), contents.found).empty());
    EXPECT_THAT(manifest_differences(chosen, make_manifest(evidence())),
                ElementsAre(HasSubstr("is there, though it was left out")));
}

TEST_F(Bundles, AFlippedByteIsSeenUnlessItCarriesNothing) {
    const Manifest all = make_manifest(evidence());
    const std::string path = pack(all, Compression::zstd);
    const std::string whole = read_file(path);
    std::size_t seen = 0;
    std::size_t flips = 0;
    for (std::size_t at = 0; at < whole.size(); at += 3, ++flips) {
        std::string flipped = whole;
        flipped[at] = static_cast<char>(flipped[at] ^ 0x10);
        std::ofstream(path, std::ios::trunc) << flipped;
        try {
            const BundleContents contents = read_bundle(path);
            if (!contents.damage.empty() ||
                contents.texts.digest != manifest_digest(contents.texts.manifest) ||
                !manifest_differences(parse_manifest(contents.texts.manifest), contents.found)
                     .empty()) {
                ++seen;
                continue;
            }
            EXPECT_EQ(parse_manifest(contents.texts.manifest), all) << at;
            EXPECT_TRUE(manifest_differences(all, contents.found).empty()) << at;
        } catch (const UsageError& error) {
            ++seen;
            EXPECT_THAT(error.what(), HasSubstr("nor a bundle of difffuzz"));
        }
    }
    EXPECT_GT(seen * 2, flips);
}

TEST_F(Bundles, PathsOfAManifestStayInside) {
    for (const char* path : {"../x", "/x", "a/../x", "", "a/", "./x"}) {
        const nlohmann::json manifest{{"schema", manifest_schema},
                                      {"files",
                                       {{{"path", path},
                                         {"original_bytes", 0},
                                         {"bytes", 0},
                                         {"sha256", ""},
                                         {"removed", ""}}}}};
        EXPECT_THROW(manifest_from_json(manifest), RecipeError) << path;
    }
}

TEST_F(Bundles, TheCommandSaysWhatIsWrong) {
    const auto ended = [&](std::vector<std::string> words) {
        words.insert(words.begin(), "evidence");
        return difffuzz(scratch_, words);
    };
    const Ended no_campaign = ended({"verify", "evidence"});
    EXPECT_EQ(no_campaign.code, 2) << no_campaign.out;
    EXPECT_EQ(ended({"verify", "nowhere"}).code, 2);
    EXPECT_EQ(ended({"pack", "evidence", "--out", "x.zip"}).code, 2);
    EXPECT_EQ(ended({"pack", "evidence"}).code, 2);
    EXPECT_EQ(ended({"check", "evidence"}).code, 2);
    pack(make_manifest(evidence()), Compression::gzip);
    const Ended fine = ended({"verify", "bundle"});
    EXPECT_EQ(fine.code, 0) << fine.out << fine.err;
    put("campaign.json", "{\"state\": \"incomplete\"}");
    pack(make_manifest(evidence()), Compression::gzip);
    const Ended incomplete = ended({"verify", "bundle"});
    EXPECT_EQ(incomplete.code, 4);
    EXPECT_THAT(incomplete.out, HasSubstr("incomplete"));
}

}  // namespace
}  // namespace difffuzz::test
