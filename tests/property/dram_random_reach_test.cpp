// The random traffic reaches every gate of a DRAM: with any one of them removed from the scheduler,
// some draw breaks its rule.
#include <algorithm>

#include <gtest/gtest.h>

#include "tests/property/dram_random_traffic.hpp"

namespace tiersim::dram_random_reach_test {
namespace {

using namespace dram_test;

struct Gate {
  std::string_view rule;
  std::int64_t DramClocks::*clocks;
};

class DramRandomReach : public ::testing::TestWithParam<Gate> {};

TEST_P(DramRandomReach, SomeDrawNeedsTheGate) {
  constexpr int kDraws = 100;
  Rng rng(17, "dram.random_traffic");
  for (int draw = 0; draw < kDraws; ++draw) {
    const DramPacketConfig config = random_config(rng);
    const DramProbe probe = random_probe(rng, 4000);
    DramClocks without(config.timings);
    without.*(GetParam().clocks) = 0;
    const DramReport report = checked_run(config, without, probe);
    if (std::ranges::any_of(report.first,
                            [](const DramViolation& v) { return v.rule == GetParam().rule; }))
      return;
  }
  FAIL() << GetParam().rule << " bound in none of " << kDraws << " draws";
}

INSTANTIATE_TEST_SUITE_P(
    Gates, DramRandomReach,
    ::testing::Values(Gate{"tRCD", &DramClocks::rcd}, Gate{"tRP", &DramClocks::rp},
                      Gate{"tRAS", &DramClocks::ras}, Gate{"tRC", &DramClocks::rc},
                      Gate{"tRTP", &DramClocks::rtp}, Gate{"tWR", &DramClocks::wr},
                      Gate{"tCCD_S", &DramClocks::ccd_s}, Gate{"tCCD_L", &DramClocks::ccd_l},
                      Gate{"tCCD_L_WR", &DramClocks::ccd_l_wr}, Gate{"tRRD_S", &DramClocks::rrd_s},
                      Gate{"tRRD_L", &DramClocks::rrd_l}, Gate{"tFAW", &DramClocks::faw},
                      Gate{"tWTR_S", &DramClocks::wtr_s}, Gate{"tWTR_L", &DramClocks::wtr_l},
                      Gate{"tRTW", &DramClocks::gap}, Gate{"tCS", &DramClocks::cs},
                      Gate{"tRFC", &DramClocks::rfc}, Gate{"tRFC_pb", &DramClocks::rfc_pb},
                      Gate{"tRREFD", &DramClocks::rrefd}),
    [](const ::testing::TestParamInfo<Gate>& gate) { return std::string(gate.param.rule); });

}  // namespace
}  // namespace tiersim::dram_random_reach_test
