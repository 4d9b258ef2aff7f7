#include "ops/bench.hpp"

#include <algorithm>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "pickers/rules.hpp"

namespace difffuzz {
namespace {

using testing::ElementsAre;
using testing::IsEmpty;

// 1 MiB, three requests of 1024 bytes at 4096, written with 0xab.
Case bench_case(std::string format, std::uint64_t step, bool write) {
    Case c;
    c.operation = "bench";
    c.images.push_back({"src", format, 1 << 20, {}, {}, {}});
    Step step_of{Actor::tool, "bench", "bench", ValidIntent{}, {}};
    step_of.arguments = {{"-f", WordValue{std::move(format)}},
                         {"-c", NumberValue{3}},
                         {"-d", NumberValue{1}},
                         {"-s", plain_size(1024)},
                         {"-S", plain_size(step)},
                         {"--pattern", NumberValue{0xab}},
                         {"-o", plain_size(4096)}};
    if (write) {
        step_of.arguments.push_back({"-w", std::nullopt});
    }
    step_of.arguments.push_back({"", ImageValue{"src"}});
    c.steps.push_back(std::move(step_of));
    return c;
}

std::vector<ContentWrite> expected_writes(const Case& c) {
    const auto requests = bench_operation().inspections(c, 0);
    EXPECT_FALSE(requests.empty());
    EXPECT_EQ(requests.at(0).kind, InspectionKind::content);
    EXPECT_EQ(requests.at(0).expected.value().origin(), "src");
    return requests.at(0).expected.value().writes();
}

ContentWrite run(std::uint64_t offset, std::uint64_t length) {
    return {WriteKind::write, offset, length, ByteFill{0xab}};
}

TEST(BenchOperation, ExpectsThePatternOverEachRequest) {
    EXPECT_THAT(expected_writes(bench_case("raw", 0, true)), ElementsAre(run(4096, 3072)));
    EXPECT_THAT(expected_writes(bench_case("raw", 1024, true)), ElementsAre(run(4096, 3072)));
    EXPECT_THAT(expected_writes(bench_case("raw", 512, true)), ElementsAre(run(4096, 2048)));
    EXPECT_THAT(expected_writes(bench_case("raw", 1025, true)),
                ElementsAre(run(4096, 1024), run(5121, 1024), run(6146, 1024)));
}

TEST(BenchOperation, LooksAtStructureWhereThereIsOne) {
    const auto kinds = [](const Case& c) {
        std::vector<InspectionKind> all;
        for (const auto& request : bench_operation().inspections(c, 0)) {
            all.push_back(request.kind);
        }
        return all;
    };
    EXPECT_THAT(kinds(bench_case("raw", 0, true)), ElementsAre(InspectionKind::content));
    EXPECT_THAT(kinds(bench_case("qcow2", 0, true)),
                ElementsAre(InspectionKind::content, InspectionKind::check));
    EXPECT_THAT(kinds(bench_case("qcow2", 0, false)), IsEmpty());
}

TEST(BenchOperation, ChangesWhatAValidWriteNames) {
    const Operation& bench = bench_operation();
    Case write = bench_case("qcow2", 0, true);
    EXPECT_THAT(bench.may_change(write, 0), ElementsAre("src"));
    EXPECT_THAT(bench.may_change(bench_case("qcow2", 0, false), 0), IsEmpty());
    // What is refused leaves the image as it was.
    add_flag(write.steps[0], "-U");
    write.steps[0].intent = RefusedIntent{"shared-write"};
    EXPECT_THAT(bench.may_change(write, 0), IsEmpty());
    EXPECT_THAT(bench.inspections(write, 0), IsEmpty());
    EXPECT_FALSE(bench.bytes_stable(write, 0));
}

TEST(BenchOperation, ARefusedWriteMayMarkBitmapsAndNothingElse) {
    Case c = bench_case("qcow2", 0, true);
    set_option(c.steps[0], "-c", NumberValue{1});
    set_option(c.steps[0], "-o", plain_size(1 << 20));
    c.steps[0].intent = RefusedIntent{"start-past-end"};
    EXPECT_THAT(bench_operation().may_change(c, 0), IsEmpty());
    c.images[0].bitmaps = {{"b", 65536, true, {}}};
    EXPECT_THAT(bench_operation().may_change(c, 0), ElementsAre("src"));
    const auto requests = bench_operation().inspections(c, 0);
    ASSERT_FALSE(requests.empty());
    EXPECT_THAT(requests[0].expected_if_refused.value().writes(), IsEmpty());
    c.steps[0].intent = RefusedIntent{"unknown-option"};
    EXPECT_THAT(bench_operation().may_change(c, 0), IsEmpty());
    EXPECT_THAT(bench_operation().inspections(c, 0), IsEmpty());
}

TEST(BenchOperation, SnapshotsStayAsTheyAre) {
    Case c = bench_case("qcow2", 0, true);
    c.images[0].snapshots = {{"first", 0}, {"second", 0}};
    const auto requests = bench_operation().inspections(c, 0);
    ASSERT_EQ(requests.size(), 4U);
    EXPECT_EQ(requests[2].snapshot, "1");
    EXPECT_EQ(requests[3].snapshot, "2");
}

TEST(BenchOperation, BytesAreStableWhereTheOrderOfAllocationIs) {
    const Operation& bench = bench_operation();
    Case qcow2 = bench_case("qcow2", 0, true);
    Case raw = bench_case("raw", 0, true);
    EXPECT_TRUE(bench.bytes_stable(qcow2, 0));
    EXPECT_TRUE(bench.bytes_stable(raw, 0));
    set_option(qcow2.steps[0], "-d", NumberValue{2});
    set_option(raw.steps[0], "-d", NumberValue{2});
    EXPECT_FALSE(bench.bytes_stable(qcow2, 0));
    EXPECT_TRUE(bench.bytes_stable(raw, 0));
    EXPECT_FALSE(bench.bytes_stable(bench_case("raw", 0, false), 0));
}

TEST(BenchOperation, CallsContentAndBytesWrite) {
    for (const LayerUse& use : bench_operation().layers) {
        const bool renamed = use.id == LayerId::content || use.id == LayerId::bytes;
        EXPECT_EQ(use.name, renamed ? "write" : "");
    }
    EXPECT_THAT(bench_operation().text_normalisers, ElementsAre(&elapsed_time_text()));
}

TEST(BenchOperation, CostGrowsWithTheRequests) {
    const Case few = bench_case("qcow2", 0, true);
    Case many = few;
    set_option(many.steps[0], "-c", NumberValue{200});
    const Cost low = bench_operation().cost(few);
    const Cost high = bench_operation().cost(many);
    EXPECT_EQ(high.requests - low.requests, 197U);
    // And with the clusters around them: two for each, at most the image.
    EXPECT_EQ(high.bytes_written - low.bytes_written, 197U * 1024 + (1U << 20) - 3U * 2 * 65536);
    EXPECT_GT(high.metadata_clusters, low.metadata_clusters);
}

}  // namespace
}  // namespace difffuzz
