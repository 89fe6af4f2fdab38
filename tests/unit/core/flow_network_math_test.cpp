#include "sim/core/flow_network_math.hpp"

#include <cstdint>

#include <gtest/gtest.h>

#include "sim/base/rng.hpp"

namespace tiersim::flow::flow_network_math_test {
namespace {

constexpr UInt128 word(std::uint64_t high, std::uint64_t low) {
  return UInt128{high} << 64U | low;
}

TEST(FlowNetworkMath, MultipliesToTheFullWidth) {
  const Wide square = multiply(~UInt128{0}, ~UInt128{0});
  EXPECT_TRUE(square.high == ~UInt128{0} - 1);
  EXPECT_TRUE(square.low == 1);
}

// (q * c + r) / c is q with remainder r < c, whatever the sizes: checked by multiplying back.
TEST(FlowNetworkMath, DivisionUndoesMultiplication) {
  Rng rng(3, "division");
  for (int i = 0; i < 100'000; ++i) {
    const auto shift = [&] { return static_cast<unsigned>(rng.below(128)); };
    const UInt128 q = word(rng.next(), rng.next()) >> shift();
    const UInt128 c = (word(rng.next(), rng.next()) >> shift()) | 1U;
    const UInt128 r = rng.below(2) == 0 ? 0 : word(rng.next(), rng.next()) % c;
    Wide n = multiply(q, c);
    n.low += r;
    n.high += n.low < r ? 1U : 0U;
    const Division d = divide(n, c);
    ASSERT_TRUE(d.quotient == q) << i;
    ASSERT_EQ(d.exact, r == 0) << i;
  }
}

TEST(FlowNetworkMath, ADividerRoundsUpLikeADivision) {
  Rng rng(4, "divider");
  Divider divider;
  int used = 0;
  for (int i = 0; i < 100'000; ++i) {
    const UInt128 d = (word(rng.next(), rng.next()) >> (2 + rng.below(126))) | 1U;
    divider.set(d);
    ASSERT_TRUE(divider.divisor() == d);
    for (int k = 0; k < 8; ++k) {
      UInt128 n = word(rng.next(), rng.next()) >> (1 + rng.below(127));
      if (k >= 4) n = n / d * d + static_cast<UInt128>(k) - 5;  // next to a multiple
      if (!divider.fits(n)) continue;
      ++used;
      ASSERT_TRUE(divider.divide_up(n) == divide_up(n, d)) << i << " " << k;
    }
    // The times of flows: a rate above 1 B/s, a wait below 2^60 ps.
    if (d >> 32U != 0 && d >> 66U == 0) {
      ASSERT_TRUE(divider.fits(d << 60U)) << i;
    }
  }
  EXPECT_GT(used, 100'000);
}

TEST(FlowNetworkMath, AShareOfWholeLoadsIsPlainDivision) {
  EXPECT_TRUE(level_of(1000, 8 * kLoadOne).quotient == 125);
  EXPECT_TRUE(level_of(1000, 8 * kLoadOne).exact);
  EXPECT_TRUE(level_of(1000, 3 * kLoadOne).quotient == 333);
  EXPECT_FALSE(level_of(1000, 3 * kLoadOne).exact);
}

TEST(FlowNetworkMath, FractionalLoadsRoundTheShareDownAndWhatItTakesUp) {
  const UInt128 five_quarters = kLoadOne + kLoadOne / 4;
  EXPECT_TRUE(level_of(1000, five_quarters).quotient == 800);
  EXPECT_TRUE(level_of(1000, five_quarters).exact);
  EXPECT_TRUE(level_of(1001, five_quarters).quotient == 800);
  EXPECT_TRUE(taken_at(800, five_quarters).quotient == 1000);
  EXPECT_TRUE(taken_at(801, five_quarters).quotient == 1002);  // 1001.25
  EXPECT_FALSE(taken_at(801, five_quarters).exact);
}

TEST(FlowNetworkMath, TheQuantumIsDivisibleByUpTo24) {
  for (std::uint64_t n = 1; n <= 24; ++n) EXPECT_EQ(kQuantum % n, 0U) << n;
}

}  // namespace
}  // namespace tiersim::flow::flow_network_math_test
