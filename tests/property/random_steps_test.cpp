#include "tests/property/random_steps.hpp"
#include "tests/support/test_length.hpp"

namespace tiersim::random_steps_test {
namespace {

TEST(RandomSteps, KeepEveryInvariant) {
  testing::expect_invariants(1, testing::draws_of(150, 10'000));
}

TEST(RandomSteps, TakeNoLessTimeWhenTheirWorkIsHarder) {
  testing::expect_monotone(2, testing::draws_of(50, 3000), false);
}

TEST(RandomSteps, OfTimedKernelsTakeHardlyLessTimeWhenTheirWorkIsHarder) {
  testing::expect_monotone(3, testing::draws_of(10, 600), true);
}

}  // namespace
}  // namespace tiersim::random_steps_test
