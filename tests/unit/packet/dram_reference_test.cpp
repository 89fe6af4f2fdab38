// The pseudo channels against cycle-level simulators that were run for this project: DRAMsim3 with
// the timings of the defaults (HBM3-6400, one channel, all-bank refresh) and Ramulator 2.1 with its
// DDR5_4800 (one channel, two ranks or one). Bands: 5 % of the saturated share of peak, 20 % of the
// mean read latency below .8 of saturation. What stays outside, and why, is in the model card.
#include <gtest/gtest.h>

#include <ostream>

#include "tests/unit/packet/dram_support.hpp"

namespace tiersim::dram_reference_test {
namespace {

using namespace dram_test;

enum class Part { hbm3, ddr5_two_ranks, ddr5_one_rank };

struct Reference {
  Part part;
  std::int64_t streams;  // none: random
  std::int64_t run;
  double read_share;
  double load;   // below 1: Poisson, share of peak; else atoms outstanding
  double value;  // share of peak, or ns
};

void PrintTo(const Reference& r, std::ostream* os) {
  *os << (r.part == Part::hbm3 ? "HBM3 " : "DDR5 ") << r.streams << " streams, " << r.run << " B, "
      << r.read_share << " reads, load " << r.load;
}

DramProbeResult result_of(const Reference& r) {
  DramProbe p;
  p.pattern = r.streams > 0 ? DramPattern::sequential : DramPattern::random;
  p.streams = std::max<std::int64_t>(1, r.streams);
  p.run = Bytes::from_base(r.run);
  p.read_share = r.read_share;
  p.arrivals = r.load < 1 ? DramArrivals::poisson : DramArrivals::closed;
  p.offered = r.load;
  p.outstanding_atoms = static_cast<std::int64_t>(r.load);
  p.atoms = 80'000;
  return run_dram_probe(r.part == Part::hbm3 ? hbm3() : ddr5(r.part == Part::ddr5_one_rank ? 1 : 2),
                        p);
}

class DramSaturation : public ::testing::TestWithParam<Reference> {};

TEST_P(DramSaturation, IsWithinFivePercent) {
  EXPECT_NEAR(result_of(GetParam()).achieved / GetParam().value, 1.0, 0.05);
}

INSTANTIATE_TEST_SUITE_P(Hbm3, DramSaturation,
                         ::testing::Values(Reference{Part::hbm3, 1, 256, 1, 256, .9011},
                                           Reference{Part::hbm3, 16, 256, 1, 256, .8964},
                                           Reference{Part::hbm3, 0, 32, 1, 256, .2975},
                                           Reference{Part::hbm3, 0, 64, 1, 256, .5905},
                                           Reference{Part::hbm3, 0, 128, 1, 256, .8768},
                                           Reference{Part::hbm3, 0, 256, 1, 256, .8733},
                                           Reference{Part::hbm3, 0, 1024, 1, 256, .8907},
                                           Reference{Part::hbm3, 0, 4096, 1, 512, .8863},
                                           Reference{Part::hbm3, 16, 256, .667, 256, .7804},
                                           Reference{Part::hbm3, 0, 64, .667, 256, .5479},
                                           Reference{Part::hbm3, 0, 256, .667, 256, .7466}));
INSTANTIATE_TEST_SUITE_P(Ddr5, DramSaturation,
                         ::testing::Values(Reference{Part::ddr5_two_ranks, 1, 256, 1, 512, .9171},
                                           Reference{Part::ddr5_two_ranks, 0, 64, 1, 512, .9173},
                                           Reference{Part::ddr5_two_ranks, 0, 256, 1, 512, .9151},
                                           Reference{Part::ddr5_two_ranks, 0, 64, .667, 512, .8818},
                                           Reference{Part::ddr5_one_rank, 0, 64, 1, 128, .6097},
                                           Reference{Part::ddr5_one_rank, 0, 256, 1, 128, .9001}));

class DramLoadedLatency : public ::testing::TestWithParam<Reference> {};

TEST_P(DramLoadedLatency, IsWithinTwentyPercent) {
  const double mean_ns = to_seconds(result_of(GetParam()).atom.mean) * 1e9;
  EXPECT_NEAR(mean_ns / GetParam().value, 1.0, 0.2);
}

INSTANTIATE_TEST_SUITE_P(Hbm3, DramLoadedLatency,
                         ::testing::Values(Reference{Part::hbm3, 1, 256, 1, .1, 50.8},
                                           Reference{Part::hbm3, 1, 256, 1, .5, 71.3},
                                           Reference{Part::hbm3, 1, 256, 1, .7, 108.4},
                                           Reference{Part::hbm3, 16, 256, 1, .3, 89.6},
                                           Reference{Part::hbm3, 16, 256, 1, .6, 124.0},
                                           Reference{Part::hbm3, 0, 32, 1, .1, 83.4},
                                           Reference{Part::hbm3, 0, 32, 1, .2, 112.4},
                                           Reference{Part::hbm3, 0, 64, 1, .4, 114.6},
                                           Reference{Part::hbm3, 0, 256, 1, .4, 103.2},
                                           Reference{Part::hbm3, 0, 256, 1, .6, 126.6},
                                           Reference{Part::hbm3, 0, 4096, 1, .5, 183.1},
                                           Reference{Part::hbm3, 0, 256, .667, .5, 125.6}));
INSTANTIATE_TEST_SUITE_P(Ddr5, DramLoadedLatency,
                         ::testing::Values(Reference{Part::ddr5_two_ranks, 1, 256, 1, .3, 47.9},
                                           Reference{Part::ddr5_two_ranks, 1, 256, 1, .6, 65.6},
                                           Reference{Part::ddr5_two_ranks, 0, 64, 1, .3, 68.2},
                                           Reference{Part::ddr5_two_ranks, 0, 64, 1, .6, 89.7},
                                           Reference{Part::ddr5_two_ranks, 0, 64, .667, .3, 67.4}));

}  // namespace
}  // namespace tiersim::dram_reference_test
