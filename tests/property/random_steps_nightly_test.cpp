#include "tests/property/random_steps.hpp"

namespace tiersim::random_steps_nightly_test {
namespace {

class RandomSteps : public ::testing::TestWithParam<int> {};

// Ten parts of 1000 draws, so that they run side by side.
TEST_P(RandomSteps, KeepEveryInvariantForLong) {
  testing::expect_invariants(100U + static_cast<std::uint64_t>(GetParam()), 1000);
}

TEST_P(RandomSteps, TakeNoLessTimeWhenTheirWorkIsHarderForLong) {
  testing::expect_monotone(200U + static_cast<std::uint64_t>(GetParam()), 300);
}

INSTANTIATE_TEST_SUITE_P(Parts, RandomSteps, ::testing::Range(0, 10));

}  // namespace
}  // namespace tiersim::random_steps_nightly_test
