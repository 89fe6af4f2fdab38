#include "tests/property/random_steps.hpp"

namespace tiersim {
namespace {

class RandomSteps : public ::testing::TestWithParam<int> {};

// Ten parts of 1000 draws, so that they run side by side.
TEST_P(RandomSteps, KeepEveryInvariantForLong) {
  testing::expect_invariants(static_cast<std::uint64_t>(100 + GetParam()), 1000);
}

INSTANTIATE_TEST_SUITE_P(Parts, RandomSteps, ::testing::Range(0, 10));

}  // namespace
}  // namespace tiersim
