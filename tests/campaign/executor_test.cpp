#include <gtest/gtest.h>

#include "campaign/execution/executor.hpp"

namespace difffuzz {
namespace {

Case case_with(Value value) {
    Case c;
    c.steps.push_back({Actor::tool, "create", "create", ValidIntent{}, {{"-o", std::move(value)}}});
    return c;
}

TEST(ScaledLimits, GrowWithEverySizeThatIsAskedFor) {
    constexpr std::uint64_t floor = std::uint64_t{64} << 20;
    constexpr std::uint64_t size = std::uint64_t{512} << 20;
    const Limits base;
    EXPECT_EQ(scaled_limits(base, Case{}).file_bytes, floor);
    EXPECT_EQ(scaled_limits(base, case_with(plain_size(size))).file_bytes, floor + 4 * size);
    EXPECT_EQ(scaled_limits(base, case_with(OptionList{{{"size", plain_size(size)}}})).file_bytes,
              floor + 4 * size);
    EXPECT_EQ(scaled_limits(base, case_with(plain_size(std::uint64_t{1} << 62))).file_bytes, floor);
}

}  // namespace
}  // namespace difffuzz
