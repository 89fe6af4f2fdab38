// Probes of DRAM are simulated once for each configuration and workload.
#include "sim/validate/dram_probes.hpp"

#include <gtest/gtest.h>

namespace tiersim::dram_probes_test {
namespace {

DramProbe short_probe() {
  return {.atoms = 2'000};
}

TEST(DramProbes, EqualQuestionsHaveOneAnswer) {
  DramProbes probes;
  const DramPacketConfig config;
  const DramProbeResult& first = probes.result(config, short_probe());
  EXPECT_EQ(&probes.result(config, short_probe()), &first);
  EXPECT_EQ(first.achieved, run_dram_probe(config, short_probe()).achieved);
}

TEST(DramProbes, AnyDifferenceIsAnotherQuestion) {
  DramProbes probes;
  const DramPacketConfig config;
  const DramProbeResult& first = probes.result(config, short_probe());
  DramPacketConfig slow = config;
  slow.timings.t_faw.value *= 4;
  EXPECT_NE(&probes.result(slow, short_probe()), &first);
  EXPECT_LT(probes.result(slow, short_probe()).achieved, first.achieved);
  for (const auto& change :
       {+[](DramProbe& p) { p.run = Bytes::from_base(64); },
        +[](DramProbe& p) { p.read_share = 0.5; }, +[](DramProbe& p) { p.seed = 2; },
        +[](DramProbe& p) { p.atoms = 2'100; }}) {
    DramProbe other = short_probe();
    change(other);
    EXPECT_NE(&probes.result(config, other), &first);
  }
}

}  // namespace
}  // namespace tiersim::dram_probes_test
