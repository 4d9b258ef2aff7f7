#include "images/qcow2_states.hpp"

#include <gtest/gtest.h>

#include <array>

namespace difffuzz::qcow2 {
namespace {

constexpr std::uint32_t all = 0xffffffff;

// The state of cluster 0 after the writes, clusters being 32 KiB large.
ClusterState first_cluster(const std::vector<ContentWrite>& writes, StateRules rules = {},
                           std::vector<std::uint32_t> part_ends = {}) {
    rules.cluster_bits = 15;
    rules.disk_size = 1 << 20;
    const auto states = states_after(writes, part_ends, rules);
    const auto& ranges = states.back().ranges();
    return ranges.empty() || ranges.begin()->first != 0 ? ClusterState{}
                                                        : ranges.begin()->second.value;
}

constexpr StateRules extended{.subclusters = 32};
constexpr StateRules version_2{.zero_flag = false};
constexpr StateRules backed{.backing = true};

const ContentWrite data{WriteKind::write, 0, 1024, ByteFill{1}};
const ContentWrite whole_zero{WriteKind::zero, 0, 32768, {}};
const ContentWrite part_zero{WriteKind::zero, 100, 1024, {}};
const ContentWrite unmap{WriteKind::unmap, 0, 32768, {}};
const ContentWrite compressed{WriteKind::compressed, 0, 32768, ByteFill{1}};

TEST(Qcow2States, WritesTouchClusters) {
    EXPECT_EQ(first_cluster({data}), (ClusterState{Host::plain, 0, 1, 0}));
    EXPECT_EQ(first_cluster({compressed}), (ClusterState{Host::compressed, 0, 0, 0}));
    EXPECT_EQ(first_cluster({compressed, data}), (ClusterState{Host::plain, 0, 1, 0}));
    EXPECT_EQ(first_cluster({data, compressed}), (ClusterState{Host::compressed, 0, 0, 0}));
}

TEST(Qcow2States, ZerosKeepWhatIsAllocated) {
    EXPECT_EQ(first_cluster({whole_zero}), (ClusterState{Host::none, 0, 0, 1}));
    EXPECT_EQ(first_cluster({data, whole_zero}), (ClusterState{Host::plain, 0, 0, 1}));
    EXPECT_EQ(first_cluster({compressed, whole_zero}), (ClusterState{Host::none, 0, 0, 1}));
    EXPECT_EQ(first_cluster({part_zero}), (ClusterState{Host::plain, 0, 1, 0}));
    EXPECT_EQ(first_cluster({whole_zero, data}), (ClusterState{Host::plain, 0, 1, 0}));
}

TEST(Qcow2States, Version2HasNoZeroFlag) {
    EXPECT_EQ(first_cluster({whole_zero}, version_2), ClusterState{});
    EXPECT_EQ(first_cluster({data, whole_zero}, version_2), (ClusterState{Host::plain, 0, 1, 0}));
    StateRules on_top = version_2;
    on_top.backing = true;
    EXPECT_EQ(first_cluster({whole_zero}, on_top), (ClusterState{Host::plain, 0, 1, 0}));
    EXPECT_EQ(first_cluster({data, unmap}, version_2), ClusterState{});
}

TEST(Qcow2States, UnmapLeavesNothingAllocated) {
    EXPECT_EQ(first_cluster({data, unmap}), ClusterState{});
    EXPECT_EQ(first_cluster({data, unmap}, backed), (ClusterState{Host::none, 0, 0, 1}));
    // Bytes behind the end of the unmapped range are still the guest's.
    const ContentWrite short_unmap{WriteKind::unmap, 0, 32767, {}};
    EXPECT_EQ(first_cluster({data, short_unmap}), (ClusterState{Host::plain, 0, 1, 0}));
}

TEST(Qcow2States, SubclustersAreOfTheirOwn) {
    EXPECT_EQ(first_cluster({{WriteKind::write, 1024, 1025, ByteFill{1}}}, extended),
              (ClusterState{Host::plain, 0, 0b110, 0}));
    // Touches subclusters 0 and 1, covers neither; covers 1 and 2 only.
    EXPECT_EQ(first_cluster({part_zero}, extended), (ClusterState{Host::plain, 0, 0b11, 0}));
    EXPECT_EQ(first_cluster({{WriteKind::zero, 1024, 2048, {}}}, extended),
              (ClusterState{Host::none, 0, 0, 0b110}));
    EXPECT_EQ(first_cluster({data, {WriteKind::zero, 1000, 2072, {}}}, extended),
              (ClusterState{Host::plain, 0, 0b1, 0b110}));
    EXPECT_EQ(first_cluster({compressed, {WriteKind::zero, 1024, 1024, {}}}, extended),
              (ClusterState{Host::plain, 0, all, 0}));
    EXPECT_EQ(first_cluster({data, whole_zero}, extended), (ClusterState{Host::plain, 0, 0, all}));
}

TEST(Qcow2States, TheLastClusterEndsWithTheDisk) {
    StateRules rules = extended;
    rules.cluster_bits = 15;
    rules.disk_size = 32768 + 1536;
    const auto states = states_after({{WriteKind::zero, 32768, 1536, {}}}, {}, rules);
    EXPECT_EQ(states[0].ranges().begin()->second.value, (ClusterState{Host::none, 0, 0, all}));
}

TEST(Qcow2States, LaterPartsCopyWhatTheyWrite) {
    // Written by part 1, of which there are two.
    EXPECT_EQ(first_cluster({data, data}, {}, {1}), (ClusterState{Host::plain, 1, 1, 0}));
    EXPECT_EQ(first_cluster({data}, {}, {1, 1}), (ClusterState{Host::plain, 0, 1, 0}));
    // A zero flag leaves the host cluster to be shared.
    EXPECT_EQ(first_cluster({data, whole_zero}, {}, {1}), (ClusterState{Host::plain, 0, 0, 1}));
    EXPECT_EQ(first_cluster({data, {WriteKind::write, 2048, 1, ByteFill{2}}}, extended, {1}),
              (ClusterState{Host::plain, 1, 0b101, 0}));
    const std::array<std::uint32_t, 2> ends{0, 1};
    const auto states = states_after({data}, ends, {15, 1, 1 << 20, true, false});
    ASSERT_EQ(states.size(), 3U);
    EXPECT_TRUE(states[0].ranges().empty());
    EXPECT_EQ(states[1].ranges().begin()->second.value, (ClusterState{Host::plain, 1, 1, 0}));
}

}  // namespace
}  // namespace difffuzz::qcow2
