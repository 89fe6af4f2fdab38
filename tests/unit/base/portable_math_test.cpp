#include "sim/base/portable_math.hpp"

#include <cmath>
#include <limits>

#include <gtest/gtest.h>

#include "sim/base/rng.hpp"

namespace tiersim::portable_math_test {
namespace {

// The C library is within 1 ulp (1.1e-16 relative); the promise of the header is added to that.
TEST(PortableMath, LogAgreesWithTheCLibrary) {
  Rng rng(1, "log");
  for (int i = 0; i < 200'000; ++i) {
    const double x = std::ldexp(1.0 + rng.uniform(), static_cast<int>(rng.below(2000)) - 1000);
    const double near_one = 1.0 + (rng.uniform() - 0.5) * 0.1;
    for (const double v : {x, near_one})
      ASSERT_NEAR(portable_log(v), std::log(v), 5e-16 * std::abs(std::log(v))) << v;
  }
  EXPECT_EQ(portable_log(1.0), 0.0);
}

TEST(PortableMath, ExpAgreesWithTheCLibrary) {
  Rng rng(2, "exp");
  for (int i = 0; i < 200'000; ++i) {
    const double x = (rng.uniform() - 0.5) * (i % 2 == 0 ? 1400.0 : 2.0);
    ASSERT_NEAR(portable_exp(x), std::exp(x), 5e-16 * std::exp(x)) << x;
  }
  EXPECT_EQ(portable_exp(0.0), 1.0);
}

TEST(PortableMath, PowAgreesWithTheCLibrary) {
  Rng rng(3, "pow");
  for (int i = 0; i < 100'000; ++i) {
    const double x = std::ldexp(1.0 + rng.uniform(), static_cast<int>(rng.below(15)) - 7);
    const double y = (rng.uniform() - 0.5) * 128;
    ASSERT_NEAR(portable_pow(x, y), std::pow(x, y), 1e-13 * std::pow(x, y)) << x << ' ' << y;
  }
}

}  // namespace
}  // namespace tiersim::portable_math_test
