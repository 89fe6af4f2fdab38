#include <gtest/gtest.h>

#include "hwmodels/packet/cxl/cxl_probe.hpp"
#include "hwmodels/packet/dram_memory.hpp"
#include "tests/unit/packet/dram_support.hpp"

namespace tiersim::cxl_dram_test {
namespace {

using namespace std::chrono_literals;
using namespace literals;

/// A link so fast that only the memory limits.
CxlPacketConfig fast_link() {
  CxlPacketConfig c;
  c.raw.value = 1'000'000_GBps;
  c.credits = {{.value = 4096}, {.value = 4096}, {.value = 4096}};
  c.host.outstanding.value = 4096;
  c.device.outstanding.value = 4096;
  return c;
}
DramPacketConfig without_refresh(int ranks) {
  DramPacketConfig c = dram_test::ddr5(ranks);
  c.scheduler.refresh = DramRefresh::none;
  return c;
}

// An idle bank: tRCD + CL + burst, 34 + 34 + 8 clocks of 416 ps, after at most a clock.
TEST(DramMemory, AnsweredByAnIdleBank) {
  DramMemory memory(without_refresh(1));
  CxlProbe probe{.outstanding = 1, .accesses = 1, .warm_up = 0};
  const Duration with = run_cxl_probe(fast_link(), probe, {&memory}).read.mean;
  const Duration link = run_cxl_probe(fast_link(), probe).read.mean;
  EXPECT_GE(with - link, 76 * Duration(416));
  EXPECT_LT(with - link, 77 * Duration(416));
}

// The same accesses to the same scheduler, with and without a link in front: random lines of 64 B,
// as many in flight. The draws differ, and of 30 000 lines a window of 24 000 is measured.
TEST(DramMemory, GivesWhatTheDramAloneGives) {
  for (const int ranks : {1, 2}) {
    const DramPacketConfig config = without_refresh(ranks);
    DramProbe alone;
    alone.run = 64_B;
    alone.pattern = DramPattern::random;
    alone.outstanding_atoms = 128;
    alone.atoms = 30'000;
    const double expected = run_dram_probe(config, alone).bandwidth / 1_GBps;
    DramMemory memory(config);
    CxlProbe probe;
    probe.outstanding = 128;
    probe.accesses = 30'000;
    const double got = run_cxl_probe(fast_link(), probe, {&memory}).bandwidth / 1_GBps;
    EXPECT_NEAR(got / expected, 1, 0.03) << ranks;
  }
}

TEST(DramMemory, TwoModulesTakeTwiceTheLoad) {
  CxlProbe probe;
  probe.outstanding = 128;
  DramMemory one(without_refresh(1));
  const double single = run_cxl_probe(fast_link(), probe, {&one}).bandwidth / 1_GBps;
  DramMemory two(without_refresh(1), 2);
  probe.outstanding = 256;
  const double both = run_cxl_probe(fast_link(), probe, {&two}).bandwidth / 1_GBps;
  EXPECT_NEAR(both / single, 2, 0.06);
}

TEST(DramMemory, NothingIsLeftBehind) {
  CxlPacketConfig c = fast_link();
  c.raw.value = 32_GBps;
  DramMemory memory(dram_test::ddr5(2), 2);
  CxlProbe probe;
  probe.size = 512_B;
  probe.read_share = 0.5;
  probe.offered = 15_GBps;
  probe.accesses = 5000;
  const CxlProbeResult result = run_cxl_probe(c, probe, {&memory});
  EXPECT_EQ(result.messages, 2 * 8 * 5000);
  EXPECT_EQ(result.messages_left_behind, 0);
  EXPECT_EQ(memory.in_flight(), 0);
}

}  // namespace
}  // namespace tiersim::cxl_dram_test
