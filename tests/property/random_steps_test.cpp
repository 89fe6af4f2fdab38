#include "tests/property/random_steps.hpp"

namespace tiersim::random_steps_test {
namespace {

TEST(RandomSteps, KeepEveryInvariant) {
  testing::expect_invariants(1, 300);
}

TEST(RandomSteps, TakeNoLessTimeWhenTheirWorkIsHarder) {
  testing::expect_monotone(2, 100);
}

}  // namespace
}  // namespace tiersim::random_steps_test
