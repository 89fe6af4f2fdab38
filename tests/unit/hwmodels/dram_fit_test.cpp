#include "hwmodels/memory/dram_fit.hpp"

#include <gtest/gtest.h>

#include "hwmodels/packet/dram/dram_probe.hpp"

namespace tiersim::dram_fit_test {
namespace {

using namespace literals;

constexpr std::int64_t kAtoms = 6'000;

// HBM3 by default: one pseudo channel pair of 32 B atoms.
DramConfig hbm3() {
  DramConfig c;
  c.packet_level.emplace();
  return c;
}

const DramFit& hbm3_fit() {
  static const DramFit fit = fit_dram(hbm3(), kAtoms);
  return fit;
}

TEST(DramFit, HasEveryRunAndReadShareOnce) {
  const DramFit& fit = hbm3_fit();
  ASSERT_EQ(fit.curves.size(), 25U);
  for (std::size_t i = 0; i < fit.curves.size(); ++i)
    for (std::size_t j = 0; j < i; ++j)
      EXPECT_FALSE(fit.curves[i].run == fit.curves[j].run &&
                   fit.curves[i].read_share == fit.curves[j].read_share);
  EXPECT_EQ(fit.curves.front().run, 32_B);
  EXPECT_EQ(fit.curves.back().run, 4_KiB);
}

TEST(DramFit, LatencyNeverFallsAndNothingIsAboveThePeak) {
  for (const DramLatencyCurve& curve : hbm3_fit().curves) {
    ASSERT_EQ(curve.added.size(), hbm3_fit().loads.size());
    EXPECT_GT(curve.reaches, 0);
    EXPECT_LE(curve.reaches, 1);
    EXPECT_GE(curve.added.front(), Duration{});
    for (std::size_t i = 1; i < curve.added.size(); ++i)
      EXPECT_GE(curve.added[i], curve.added[i - 1]);
  }
}

// tFAW of 15 ns lets four rows of 32 B go: 8.5 GB/s of 25.6, a row each 3.75 ns. Rows that meet in
// a bank take up to a quarter more.
TEST(DramFit, SingleAtomsAtRandomAreLimitedByTheFourActivateWindow) {
  const DramFit& fit = hbm3_fit();
  EXPECT_GE(to_seconds(fit.row_time), 3.75e-9);
  EXPECT_LE(to_seconds(fit.row_time), 1.25 * 3.75e-9);
  EXPECT_GT(fit.read_efficiency, 0.75);
  EXPECT_LT(fit.write_efficiency, fit.read_efficiency);
}

// At half of what the packets reach, the table has what a probe of the same load measures.
TEST(DramFit, ACurveIsWhatTheProbesMeasure) {
  const DramFit& fit = hbm3_fit();
  const auto curve = std::ranges::find_if(
      fit.curves, [](const DramLatencyCurve& c) { return c.run == 256_B && c.read_share == 1; });
  ASSERT_NE(curve, fit.curves.end());
  DramProbe probe{.run = 256_B, .arrivals = DramArrivals::poisson, .atoms = kAtoms};
  probe.offered = 1e-3;
  const Duration idle = run_dram_probe(*hbm3().packet_level, probe).atom.mean;
  probe.offered = 0.6 * curve->reaches;
  const Duration loaded = run_dram_probe(*hbm3().packet_level, probe).atom.mean;
  EXPECT_EQ(fit.loads[3], 0.6);
  EXPECT_EQ(curve->added[3], loaded - idle);
}

TEST(DramFit, FasterRowsNeverLowerWhatSingleAtomsReach) {
  DramConfig fast = hbm3();
  fast.packet_level->timings.t_faw.value /= 2;
  EXPECT_LT(fit_dram(fast, kAtoms).row_time, hbm3_fit().row_time);
}

}  // namespace
}  // namespace tiersim::dram_fit_test
