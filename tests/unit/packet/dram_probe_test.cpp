// The rates and latencies of a DRAM against formulas of its timings. Numbers of HBM3-6400 in clocks
// of .625 ns: tRP 26, tRCD 32, tCL 20, burst 2, tFAW 24, tRTP 9, tRFC 560, tREFI 6240.
#include "hwmodels/packet/dram/dram_probe.hpp"

#include <gtest/gtest.h>

#include "tests/unit/packet/dram_support.hpp"

namespace tiersim::dram_probe_test {
namespace {

using namespace dram_test;
using namespace literals;

// Share of the time between two refreshes without closing, refreshing and opening the banks.
double awake(const DramClocks& c) {
  return 1.0 - static_cast<double>(c.rtp + c.rp + c.rfc + c.rcd) / static_cast<double>(c.refi);
}

TEST(DramProbe, AStreamIsLimitedByRefresh) {
  const DramPacketConfig config = hbm3();
  const DramProbe stream{
      .pattern = DramPattern::sequential, .outstanding_atoms = 512, .atoms = 400'000};
  EXPECT_NEAR(awake(DramClocks(config.timings)), 0.8995, 5e-5);
  // Up to six of the 3120 bursts between two refreshes are lost or gained at the ends.
  EXPECT_NEAR(run_dram_probe(config, stream).achieved, awake(DramClocks(config.timings)), 0.002);
}

// Four rows a tFAW; a row of the random runs gives as many atoms as the run has.
TEST(DramProbe, ShortRandomRunsAreLimitedByActivates) {
  const DramPacketConfig config = hbm3();
  const DramClocks c(config.timings);
  for (const std::int64_t atoms_of_row : {1, 2}) {
    const DramProbe probe{.run = Bytes::from_base(32 * atoms_of_row), .atoms = 400'000};
    const DramProbeResult r = run_dram_probe(config, probe);
    const double limit =
        awake(c) * static_cast<double>(4 * atoms_of_row * c.burst) / static_cast<double>(c.faw);
    // Up to five slots of the 940 between two refreshes stay empty while banks are busy.
    EXPECT_NEAR(r.achieved / limit, 1.0, 0.006) << atoms_of_row;
    if (atoms_of_row > 1) continue;
    // Random reads: a row takes 15 ns / 4 / .8995 = 4.17 ns of a pseudo channel.
    const double row_ns = to_seconds(r.elapsed) * 1e9 * 2 / static_cast<double>(probe.atoms);
    EXPECT_NEAR(row_ns, 4.17, 0.03);
  }
}

TEST(DramProbe, AnIdleBankWithAnotherRowTakesFiftyNanoseconds) {
  DramPacketConfig config = hbm3();
  config.scheduler.refresh = DramRefresh::none;
  const DramProbe probe{.run = Bytes::from_base(32),
                        .arrivals = DramArrivals::poisson,
                        .offered = 0.001,
                        .atoms = 20'000};
  // An arrival waits for the next clock: the median of 20,000 waits of up to 625 ps is 312.5 ps
  // with a standard error of 2.2 ps.
  const auto median_ps = [&] {
    return static_cast<double>(run_dram_probe(config, probe).atom.p50.count());
  };
  EXPECT_NEAR(median_ps(), 50'000 + 312.5, 7);
  config.scheduler.page_policy = DramPagePolicy::closed;
  // Closed rows spare tRP: 54 clocks.
  EXPECT_NEAR(median_ps(), 33'750 + 312.5, 7);
}

TEST(DramProbe, OneRankOfDdr5IsLimitedByItsActivatesAndTwoByTheBus) {
  const DramProbe probe{.run = Bytes::from_base(64), .outstanding_atoms = 512, .atoms = 200'000};
  const DramClocks c(ddr5(1).timings);
  const double one = run_dram_probe(ddr5(1), probe).achieved;
  EXPECT_NEAR(one / (awake(c) * 4 * 8 / 48), 1.0, 0.01);
  const double two = run_dram_probe(ddr5(2), probe).achieved;
  EXPECT_GT(two, 0.9);
  EXPECT_LT(two, 1.0);
}

// Writes alone take the share that they are let through with, up to what refresh leaves; 400,000
// atoms end up to one refresh interval (0.04 %) early or late.
TEST(DramProbe, ALimitOnWritesHoldsWritesAlone) {
  DramProbe probe{.pattern = DramPattern::sequential,
                  .streams = 8,
                  .run = 4_KiB,
                  .read_share = 0,
                  .outstanding_atoms = 2048,
                  .atoms = 400'000};
  const double without = run_dram_probe(hbm3(), probe).achieved;
  EXPECT_GT(without, 0.8);
  for (const double limit : {0.25, 0.5, 0.8}) {
    probe.write_limit = limit;
    EXPECT_NEAR(run_dram_probe(hbm3(), probe).achieved / limit, 1.0, 0.002) << limit;
  }
  probe.write_limit = 1;
  EXPECT_NEAR(run_dram_probe(hbm3(), probe).achieved, without, 0.005);
}

// Reads behind a write wait with it: half of each take twice the limit.
TEST(DramProbe, ALimitOnWritesLetsReadsPass) {
  DramProbe probe{.pattern = DramPattern::sequential,
                  .streams = 8,
                  .run = 4_KiB,
                  .outstanding_atoms = 2048,
                  .atoms = 400'000};
  const DramProbeResult without = run_dram_probe(hbm3(), probe);
  probe.write_limit = 0.25;
  EXPECT_EQ(run_dram_probe(hbm3(), probe).elapsed, without.elapsed);
  probe.read_share = 0.5;
  // 3125 runs toss a coin each: three standard errors are 2.7 %.
  EXPECT_NEAR(run_dram_probe(hbm3(), probe).achieved, 0.5, 0.5 * 0.027);
}

TEST(DramProbe, GivesWhatIsOfferedBelowSaturation) {
  for (const double offered : {0.1, 0.3, 0.5}) {
    const DramProbe probe{.run = Bytes::from_base(64),
                          .arrivals = DramArrivals::poisson,
                          .offered = offered,
                          .atoms = 60'000};
    // 30,000 exponential gaps: three standard errors are 1.7 %.
    EXPECT_NEAR(run_dram_probe(hbm3(), probe).achieved / offered, 1.0, 0.017);
  }
}

TEST(DramProbe, LatencyGrowsWithLoad) {
  Duration last{};
  for (const double offered : {0.1, 0.3, 0.5, 0.7}) {
    const DramProbe probe{.arrivals = DramArrivals::poisson, .offered = offered, .atoms = 60'000};
    const Duration mean = run_dram_probe(hbm3(), probe).atom.mean;
    EXPECT_GT(mean, last);
    last = mean;
  }
}

TEST(DramProbe, SixteenTimesTheChannelsAndLoadGiveTheSameShare) {
  DramPacketConfig stack = hbm3();
  stack.address_map.pieces[1].bits = 5;  // 32 pseudo channels
  const DramProbe one{
      .pattern = DramPattern::sequential, .outstanding_atoms = 256, .atoms = 40'000};
  DramProbe sixteen = one;
  sixteen.outstanding_atoms *= 16;
  sixteen.atoms *= 16;
  EXPECT_NEAR(run_dram_probe(stack, sixteen).achieved / run_dram_probe(hbm3(), one).achieved, 1.0,
              0.01);
}

TEST(DramProbe, LessRefreshNeverLowersTheBandwidth) {
  for (const auto pattern : {DramPattern::sequential, DramPattern::random}) {
    const DramProbe probe{.pattern = pattern, .outstanding_atoms = 512, .atoms = 100'000};
    DramPacketConfig config = hbm3();
    const double all = run_dram_probe(config, probe).achieved;
    config.scheduler.refresh = DramRefresh::per_bank;
    const double single = run_dram_probe(config, probe).achieved;
    config.scheduler.refresh = DramRefresh::none;
    const double none = run_dram_probe(config, probe).achieved;
    EXPECT_LT(all, single);
    EXPECT_LT(single, none);
  }
}

TEST(DramProbe, LargerWindowsAndWriteBuffersHelp) {
  DramPacketConfig config = hbm3();
  const DramProbe reads{.run = Bytes::from_base(128), .outstanding_atoms = 512, .atoms = 60'000};
  DramProbe mixed = reads;
  mixed.read_share = 0.667;
  const double wide = run_dram_probe(config, reads).achieved;
  const double deep = run_dram_probe(config, mixed).achieved;
  config.scheduler.window = 8;
  EXPECT_LT(run_dram_probe(config, reads).achieved, wide);
  config = hbm3();
  config.scheduler.write_buffer = 16;
  config.scheduler.write_high = 12;
  config.scheduler.write_low = 4;
  EXPECT_LT(run_dram_probe(config, mixed).achieved, deep);
}

TEST(DramProbe, OneSeedGivesOneResult) {
  const DramProbe probe{.read_share = 0.7, .arrivals = DramArrivals::poisson, .atoms = 20'000};
  const DramProbeResult a = run_dram_probe(hbm3(), probe);
  const DramProbeResult b = run_dram_probe(hbm3(), probe);
  EXPECT_EQ(a.elapsed, b.elapsed);
  EXPECT_EQ(a.atom.p99, b.atom.p99);
  DramProbe other = probe;
  other.seed = 2;
  EXPECT_NE(run_dram_probe(hbm3(), other).elapsed, a.elapsed);
}

}  // namespace
}  // namespace tiersim::dram_probe_test
