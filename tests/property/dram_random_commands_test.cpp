// Random traffic never makes the scheduler break a rule of the DRAM. The checker would detect it:
// it does so with any one gate removed from the scheduler.
#include <gtest/gtest.h>

#include "tests/property/dram_random_traffic.hpp"

namespace tiersim::dram_random_commands_test {
namespace {

using namespace dram_test;

constexpr std::int64_t kCommands = 1'000'000;
constexpr std::uint64_t kSeed = 9;

TEST(DramRandomTraffic, KeepsEveryTimingRule) {
  Rng rng(kSeed, "dram.random_traffic");
  std::int64_t commands = 0;
  for (int round = 0; commands < kCommands; ++round) {
    const DramPacketConfig config = random_config(rng);
    const DramProbe probe = random_probe(rng, 20'000);
    const DramReport report = checked_run(config, DramClocks(config.timings), probe);
    commands += report.commands;
    ASSERT_EQ(report.violations, 0) << "seed " << kSeed << ", round " << round << '\n'
                                    << listed(report);
  }
}

TEST(DramRandomTraffic, GivesEveryAtomBackAndKeepsLittlesLaw) {
  Rng rng(kSeed, "dram.conservation");
  for (int round = 0; round < 30; ++round) {
    const DramPacketConfig config = random_config(rng);
    const DramProbe probe = random_probe(rng, 5000);
    const DramProbeResult r = run_dram_probe(config, probe);
    const std::int64_t runs =
        round_up(probe.run, config.atom.value).in_base() / config.atom.value.in_base();
    const std::int64_t asked = (probe.atoms + runs - 1) / runs * runs;
    EXPECT_EQ(r.counts.pushed, asked);
    EXPECT_EQ(r.counts.served(), asked);
    // N T = sum of stays: both sides are sums of whole clocks, so only the last digits differ.
    const double clock = static_cast<double>(config.timings.t_ck.value.count());
    const double area = r.mean_in_system * static_cast<double>(r.elapsed.count()) / clock;
    const double stays = r.mean_stay * static_cast<double>(r.counts.served());
    EXPECT_NEAR(area / stays, 1.0, 1e-9) << "seed " << kSeed << ", round " << round;
    // Rows that were open before a decision and refreshed are opened again: there are never more
    // rows than atoms, and every atom is a hit or opened its row.
    EXPECT_EQ(r.counts.hits + r.counts.activates, r.counts.served());
  }
}

struct Mutation {
  std::string_view rule;
  std::int64_t DramClocks::*gate;
  DramRefresh refresh = DramRefresh::all_bank;
};

class DramMutation : public ::testing::TestWithParam<Mutation> {};

// The gate is removed, or set to a clock where a time of zero has no meaning.
TEST_P(DramMutation, IsSeenByTheChecker) {
  const Mutation& mutation = GetParam();
  DramPacketConfig config = ddr5(2);
  config.scheduler.refresh = mutation.refresh;
  DramTimings& t = config.timings;
  t.t_ccd_s = clocks(10, t.t_ck.value.count());  // more than the burst, so that it binds
  // A PRE is as late as the next ACT allows, so either tRC or tRAS + tRP binds.
  t.t_rc = clocks(mutation.rule == "tRAS" ? 77 : 130, t.t_ck.value.count());
  if (mutation.rule == "tROW") t.t_row = clocks(14, t.t_ck.value.count());
  DramClocks mutant(t);
  mutant.*(mutation.gate) = 0;
  bool seen = false;
  for (const double read_share : {1.0, 0.5}) {
    for (const std::int64_t run : {64, 512}) {
      const DramProbe probe{
          .run = Bytes::from_base(run), .read_share = read_share, .atoms = 20'000};
      for (const DramViolation& v : checked_run(config, mutant, probe).first)
        seen |= v.rule == mutation.rule;
      EXPECT_EQ(checked_run(config, DramClocks(t), probe).violations, 0);
    }
  }
  EXPECT_TRUE(seen) << mutation.rule;
}

INSTANTIATE_TEST_SUITE_P(
    Gates, DramMutation,
    ::testing::Values(Mutation{"tRCD", &DramClocks::rcd}, Mutation{"tRP", &DramClocks::rp},
                      Mutation{"tRAS", &DramClocks::ras}, Mutation{"tRC", &DramClocks::rc},
                      Mutation{"tRTP", &DramClocks::rtp}, Mutation{"tWR", &DramClocks::wr},
                      Mutation{"tCCD_S", &DramClocks::ccd_s},
                      Mutation{"tCCD_L", &DramClocks::ccd_l},
                      Mutation{"tCCD_L_WR", &DramClocks::ccd_l_wr},
                      Mutation{"tRRD_S", &DramClocks::rrd_s},
                      Mutation{"tRRD_L", &DramClocks::rrd_l}, Mutation{"tFAW", &DramClocks::faw},
                      Mutation{"tROW", &DramClocks::row}, Mutation{"tWTR_S", &DramClocks::wtr_s},
                      Mutation{"tWTR_L", &DramClocks::wtr_l}, Mutation{"tRTW", &DramClocks::gap},
                      Mutation{"tCS", &DramClocks::cs}, Mutation{"tRFC", &DramClocks::rfc},
                      Mutation{"tRFC_pb", &DramClocks::rfc_pb, DramRefresh::per_bank},
                      Mutation{"tRREFD", &DramClocks::rrefd, DramRefresh::per_bank}),
    [](const ::testing::TestParamInfo<Mutation>& gate) { return std::string(gate.param.rule); });

TEST(DramMutation, LeavingOutRefreshIsSeenByTheChecker) {
  DramPacketConfig config = hbm3();
  config.scheduler.refresh = DramRefresh::none;
  std::vector<DramTrace> traces;
  run_dram_probe(config, DramClocks(config.timings), {.atoms = 100'000}, traces);
  for (const DramRefresh refresh : {DramRefresh::all_bank, DramRefresh::per_bank}) {
    const DramChecker checker(config.timings, shape_of(config), refresh);
    EXPECT_GT(checker.check(traces[0]).violations, 0);
  }
}

}  // namespace
}  // namespace tiersim::dram_random_commands_test
