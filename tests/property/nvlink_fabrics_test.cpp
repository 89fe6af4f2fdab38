// Random NVLink fabrics at packet level: the properties of every one of them, and a check that each
// property finds a fault planted in the model.
#include <gtest/gtest.h>

#include "tests/property/nvlink_fabrics.hpp"

namespace tiersim::testing::nvlink_fabrics_test {
namespace {

NvlinkProbeResult real(const NvlinkCase& c) {
  return run(c);
}

TEST(RandomNvlinkFabrics, GiveBackPacketsAndCredits) {
  expect_always(51, draws_of(150, 20'000), nvlink_conserves(real));
}
TEST(RandomNvlinkFabrics, TakeTwiceAsLongOnAClockOfHalfTheRate) {
  expect_always(52, draws_of(150, 10'000), nvlink_scales_with_the_clock(real));
}
TEST(RandomNvlinkFabrics, AreNeverSlowerWithMoreOfAnythingOrLessOverhead) {
  expect_always(53, draws_of(80, 5000), nvlink_better_is_never_slower(real));
}
TEST(RandomNvlinkFabrics, CarryTwiceTheBytesOnTwiceTheLinks) {
  expect_always(54, draws_of(60, 3000), nvlink_twice_the_links_carry_twice_the_bytes(real));
}
TEST(RandomNvlinkFabrics, LoseNoThroughputToOneMoreSender) {
  expect_always(55, draws_of(20, 1000), nvlink_one_sender_more_keeps_throughput(real));
}
TEST(RandomNvlinkFabrics, ChangeLittleWithHalfTheChunk) {
  expect_always(56, draws_of(10, 500), nvlink_half_chunks_change_little(real));
}

NvlinkProbeResult keeps_a_credit(const NvlinkCase& c) {
  NvlinkProbeResult r = run(c);
  if (c.shape.credits > 0) --r.counters.credits_promised;
  return r;
}
NvlinkProbeResult memory_has_a_floor(const NvlinkCase& c) {
  NvlinkCase other = c;
  other.shape.memory = std::max(c.shape.memory, Duration(100'000));
  return run(other);
}
NvlinkProbeResult fast_links_are_slow(const NvlinkCase& c) {
  NvlinkCase other = c;
  if (c.shape.link_rate > Bandwidth::from_base(10'000'000'000))
    other.shape.link_rate = Bandwidth::from_base(1'000'000'000);
  return run(other);
}
NvlinkProbeResult many_links_wait(const NvlinkCase& c) {
  NvlinkCase other = c;
  if (c.shape.links > 5) other.shape.cut_through += Duration(1000);
  return run(other);
}
NvlinkProbeResult four_gpus_thrash(const NvlinkCase& c) {
  NvlinkCase other = c;
  if (c.shape.gpus > 4) other.shape.link_rate = Bandwidth::from_base(100'000'000);
  return run(other);
}
NvlinkProbeResult more_accesses_cost_more(const NvlinkCase& c) {
  NvlinkCase other = c;
  if (c.load.accesses > 200) other.shape.header = c.shape.header * 2;
  return run(other);
}

struct Fault {
  const char* name;
  Property (*property)(const NvlinkModel&);
  NvlinkProbeResult (*model)(const NvlinkCase&);
};

class PlantedNvlinkFault : public ::testing::TestWithParam<Fault> {};

TEST_P(PlantedNvlinkFault, IsFoundAndMadeSmall) {
  const auto found = find_counterexample(57, 60, GetParam().property(GetParam().model));
  ASSERT_TRUE(found);
  EXPECT_LE(found->size(), 5U) << found->text();  // of about 25 choices
}

INSTANTIATE_TEST_SUITE_P(
    RandomNvlinkFabrics, PlantedNvlinkFault,
    ::testing::Values(
        Fault{"Conservation", nvlink_conserves, keeps_a_credit},
        Fault{"Clock", nvlink_scales_with_the_clock, memory_has_a_floor},
        Fault{"Better", nvlink_better_is_never_slower, fast_links_are_slow},
        Fault{"TwiceTheLinks", nvlink_twice_the_links_carry_twice_the_bytes, many_links_wait},
        Fault{"OneSenderMore", nvlink_one_sender_more_keeps_throughput, four_gpus_thrash},
        Fault{"HalfChunks", nvlink_half_chunks_change_little, more_accesses_cost_more}),
    [](const auto& fault) { return std::string(fault.param.name); });

}  // namespace
}  // namespace tiersim::testing::nvlink_fabrics_test
