// What the second run of a case sees otherwise.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "campaign/execution/perturbation.hpp"

namespace difffuzz {
namespace {

using testing::AllOf;
using testing::Contains;
using testing::Not;
using testing::StartsWith;

TEST(Perturbation, ReplacesWhatIsThereAndAddsWhatIsNot) {
    Command command;
    command.environment = {"LC_ALL=C", "TZ=UTC", "PATH=/usr/bin:/bin", "TZDIR=/x"};
    perturb(command);
    EXPECT_THAT(
        command.environment,
        AllOf(Contains("LC_ALL=C.UTF-8"), Not(Contains("LC_ALL=C")), Not(Contains("TZ=UTC")),
              Contains(StartsWith("TZ=")).Times(1), Contains("PATH=/usr/bin:/bin"),
              Contains("TZDIR=/x"), Contains(StartsWith("PYTHONHASHSEED=")),
              Contains(StartsWith("MALLOC_PERTURB_="))));
    EXPECT_NE(command.file_mask, Command{}.file_mask);
}

TEST(Perturbation, WaitsUntilTheClockShowsAnotherSecond) {
    const std::time_t second = std::time(nullptr);
    wait_for_later_second(second);
    EXPECT_NE(std::time(nullptr), second);
    wait_for_later_second(second);  // not again
}

}  // namespace
}  // namespace difffuzz
