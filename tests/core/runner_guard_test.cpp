#include <gtest/gtest.h>
#include <stdexcept>

#include "core/tools/runner.hpp"

namespace difffuzz {
namespace {

// It would end every process that the user has.
TEST(Runner, IsRefusedOutsideAPidNamespaceOfItsOwn) {
    EXPECT_THROW(Runner(RunnerOptions{}), std::logic_error);
}

}  // namespace
}  // namespace difffuzz
