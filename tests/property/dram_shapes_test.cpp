// Random DRAMs at packet level: the properties of every one of them, and a check that each property
// finds a fault planted in the model.
#include <gtest/gtest.h>

#include "tests/property/dram_shapes.hpp"

namespace tiersim::testing::dram_shapes_test {
namespace {

DramProbeResult real(const DramCase& c) {
  return run(c);
}

TEST(RandomDrams, GiveBackAtomsAndKeepLittlesLaw) {
  expect_always(61, draws_of(200, 20'000), dram_conserves(real));
}
TEST(RandomDrams, TakeTwiceAsLongOnAClockOfHalfTheRate) {
  expect_always(62, draws_of(100, 10'000), dram_scales_with_the_clock(real));
}
TEST(RandomDrams, AreHardlySlowerWithLessOverhead) {
  expect_always(63, draws_of(20, 1000), dram_better_is_never_slower(real));
}
TEST(RandomDrams, CarryTwiceTheLoadOnTwiceTheChannels) {
  expect_always(64, draws_of(6, 200), dram_twice_the_channels_take_twice_the_load(real));
}

DramProbeResult forgets_a_hit(const DramCase& c) {
  DramProbeResult r = run(c);
  if (r.counts.hits > 1000) --r.counts.hits;
  return r;
}
DramProbeResult ages_by_a_clock_of_its_own(const DramCase& c) {
  DramCase other = c;
  other.config.timings.t_faw.value +=
      c.config.timings.t_ck.value.count() > 700 ? Duration(5000) : Duration(0);
  return run(other);
}
DramProbeResult no_gap_hurts(const DramCase& c) {
  DramCase other = c;
  if (c.config.timings.t_gap.value == Duration{}) other.config.timings.t_rfc.value *= 3;
  if (c.config.timings.t_gap.value == Duration{}) other.config.timings.t_faw.value *= 4;
  return run(other);
}
DramProbeResult many_channels_share_a_bus(const DramCase& c) {
  DramCase other = c;
  if (dram_test::shape_of(c.config).pseudo_channels > 2) other.config.timings.t_burst.value *= 3;
  return run(other);
}

struct Fault {
  const char* name;
  Property (*property)(const DramModel&);
  DramProbeResult (*model)(const DramCase&);
};

class PlantedDramFault : public ::testing::TestWithParam<Fault> {};

TEST_P(PlantedDramFault, IsFoundAndMadeSmall) {
  const auto found = find_counterexample(65, 60, GetParam().property(GetParam().model), 120);
  ASSERT_TRUE(found);
  EXPECT_LE(found->size(), 6U) << found->text();  // of about 20 choices
}

INSTANTIATE_TEST_SUITE_P(
    RandomDrams, PlantedDramFault,
    ::testing::Values(Fault{"Conservation", dram_conserves, forgets_a_hit},
                      Fault{"Clock", dram_scales_with_the_clock, ages_by_a_clock_of_its_own},
                      Fault{"Better", dram_better_is_never_slower, no_gap_hurts},
                      Fault{"TwiceTheChannels", dram_twice_the_channels_take_twice_the_load,
                            many_channels_share_a_bus}),
    [](const auto& fault) { return std::string(fault.param.name); });

}  // namespace
}  // namespace tiersim::testing::dram_shapes_test
