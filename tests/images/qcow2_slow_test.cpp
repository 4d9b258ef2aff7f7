#include <gtest/gtest.h>

#include "tests/images/qcow2_properties.hpp"

namespace difffuzz {
namespace {

TEST(Qcow2Slow, BuildsTheSameTwiceAndReadsBackEqual) {
    test::check_many("qcow2 without tools, many", 1500, test::check_qcow2_without_tools);
}

TEST(Qcow2Slow, IsCleanAndReadsBackEqualByQemuImg) {
    test::check_many("qcow2 by qemu-img, many", 300, test::check_qcow2_by_qemu);
}

}  // namespace
}  // namespace difffuzz
