// What --shard takes, from the command line and from schedulers.
#include "campaign/shard_words.hpp"

#include <map>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "core/errors.hpp"

namespace difffuzz::test {
namespace {

using Variables = std::map<std::string, std::string>;

Shard parsed(const std::string& text, const Variables& variables) {
    return parse_shard(text, [&](const std::string& name) -> std::optional<std::string> {
        const auto found = variables.find(name);
        return found == variables.end() ? std::nullopt : std::optional(found->second);
    });
}

std::string refused(const std::string& text, const Variables& variables) {
    try {
        parsed(text, variables);
    } catch (const UsageError& error) {
        return error.what();
    }
    return "not refused";
}

Variables slurm(const std::string& id, const std::string& least, const std::string& most,
                const std::string& step, const std::string& count) {
    return {{"SLURM_ARRAY_TASK_ID", id},
            {"SLURM_ARRAY_TASK_MIN", least},
            {"SLURM_ARRAY_TASK_MAX", most},
            {"SLURM_ARRAY_TASK_STEP", step},
            {"SLURM_ARRAY_TASK_COUNT", count}};
}

TEST(ShardWords, CountFromOneAndTheWholeIsTheDefault) {
    EXPECT_EQ(parsed("", {}), (Shard{0, 1}));
    EXPECT_EQ(parsed("2/4", slurm("0", "0", "3", "1", "4")), (Shard{1, 4}));
    EXPECT_THAT(refused("0/4", {}), testing::HasSubstr("I from 1 to N"));
    EXPECT_THAT(refused("1/2000000", {}), testing::HasSubstr("at most 1048576"));
}

TEST(ShardWords, AutoReadsEachScheduler) {
    EXPECT_EQ(parsed("auto", slurm("0", "0", "3", "1", "4")), (Shard{0, 4}));
    EXPECT_EQ(parsed("auto", slurm("7", "1", "10", "3", "4")), (Shard{2, 4}));
    EXPECT_EQ(parsed("auto", {{"CI_NODE_INDEX", "3"}, {"CI_NODE_TOTAL", "3"}}), (Shard{2, 3}));
    EXPECT_EQ(parsed("auto", {{"JOB_COMPLETION_INDEX", "0"}, {"DIFFFUZZ_SHARD_COUNT", "7"}}),
              (Shard{0, 7}));
    Variables agreeing = slurm("2", "1", "3", "1", "3");
    agreeing["CI_NODE_INDEX"] = "2";
    agreeing["CI_NODE_TOTAL"] = "3";
    EXPECT_EQ(parsed("auto", agreeing), (Shard{1, 3}));
    // GitLab sets the total in every job.
    EXPECT_THAT(refused("auto", {{"CI_NODE_TOTAL", "1"}}),
                testing::HasSubstr("no scheduler numbers this job"));
}

TEST(ShardWords, WhatMakesNoShardIsOneSentence) {
    const std::vector<std::pair<Variables, std::string>> cases{
        {{}, "SLURM_ARRAY_TASK_ID, CI_NODE_INDEX, JOB_COMPLETION_INDEX are not set"},
        {slurm("x", "0", "3", "1", "4"), "SLURM_ARRAY_TASK_ID is 'x', not a whole number"},
        {slurm("2", "1", "7", "1", "3"), "is no plain range (task 2 of 1-7:1, 3 tasks)"},
        {slurm("2", "1", "7", "0", "3"), "is no plain range"},
        {slurm("9", "1", "7", "1", "7"), "is no plain range"},
        {{{"SLURM_ARRAY_TASK_ID", "1"}}, "SLURM_ARRAY_TASK_MIN is not set"},
        {{{"CI_NODE_INDEX", "0"}, {"CI_NODE_TOTAL", "3"}}, "counts from 1"},
        {{{"CI_NODE_INDEX", "4"}, {"CI_NODE_TOTAL", "3"}}, "make no shard"},
        {{{"CI_NODE_INDEX", "4"}}, "CI_NODE_TOTAL is not set"},
        {{{"JOB_COMPLETION_INDEX", "1"}}, "DIFFFUZZ_SHARD_COUNT is not set"},
        {{{"JOB_COMPLETION_INDEX", "1"}, {"DIFFFUZZ_SHARD_COUNT", "0"}}, "make no shard"},
        {{{"JOB_COMPLETION_INDEX", "0"},
          {"DIFFFUZZ_SHARD_COUNT", "3"},
          {"CI_NODE_INDEX", "2"},
          {"CI_NODE_TOTAL", "3"}},
         "GitLab says 2/3 and Kubernetes says 1/3; give --shard I/N"},
    };
    for (const auto& [variables, sentence] : cases) {
        EXPECT_THAT(refused("auto", variables), testing::HasSubstr(sentence));
    }
}

}  // namespace
}  // namespace difffuzz::test
