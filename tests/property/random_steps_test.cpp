#include "tests/property/random_steps.hpp"

namespace tiersim {
namespace {

TEST(RandomSteps, KeepEveryInvariant) {
  testing::expect_invariants(1, 300);
}

}  // namespace
}  // namespace tiersim
