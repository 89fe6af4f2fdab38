// Random CXL.mem pools at packet level: the properties of every one of them, and a check that each
// property finds a fault planted in the model.
#include <gtest/gtest.h>

#include "tests/property/cxl_fabrics.hpp"

namespace tiersim::testing::cxl_fabrics_test {
namespace {

CxlProbeResult real(const CxlCase& c) {
  return run(c);
}

TEST(RandomCxlFabrics, GiveBackMessagesAndCredits) {
  expect_always(41, draws_of(150, 20'000), cxl_conserves(real));
}
TEST(RandomCxlFabrics, TakeTwiceAsLongOnAClockOfHalfTheRate) {
  expect_always(42, draws_of(150, 10'000), cxl_scales_with_the_clock(real));
}
TEST(RandomCxlFabrics, AreNeverSlowerWithMoreOfAnythingOrLessOverhead) {
  expect_always(43, draws_of(40, 2000), cxl_better_is_never_slower(real));
}
TEST(RandomCxlFabrics, LoseNoThroughputToOneMoreHost) {
  expect_always(44, draws_of(40, 2000), cxl_one_host_more_keeps_throughput(real));
}
TEST(RandomCxlFabrics, DoNotCareForTheOrderOfHosts) {
  expect_always(47, draws_of(40, 2000), cxl_order_of_hosts_is_nothing(real));
}
TEST(RandomCxlFabrics, ChangeLittleWithHalfTheChunk) {
  expect_always(45, draws_of(40, 2000), cxl_half_chunks_change_little(real));
}

CxlProbeResult forgets_a_message(const CxlCase& c) {
  CxlProbeResult r = run(c);
  if (c.probe.devices > 1) --r.messages;
  return r;
}
CxlProbeResult flight_has_a_floor(const CxlCase& c) {
  CxlCase other = c;
  other.config.flight.value = std::max(c.config.flight.value, Duration(20'000));
  return run(other);
}
CxlProbeResult fast_links_are_slow(const CxlCase& c) {
  CxlCase other = c;
  if (c.config.raw.value > Bandwidth::from_base(12'000'000'000))
    other.config.raw.value = Bandwidth::from_base(650'000'000);
  return run(other);
}
CxlProbeResult three_hosts_thrash(const CxlCase& c) {
  CxlCase other = c;
  if (c.probe.hosts > 2)
    other.config.device.memory_rate = Sourced<Bandwidth>{Bandwidth::from_base(20'000'000)};
  return run(other);
}
CxlProbeResult small_accesses_cost_more(const CxlCase& c) {
  CxlCase other = c;
  if (c.probe.size < Bytes::from_base(4096))
    other.config.device.memory_rate = Sourced<Bandwidth>{Bandwidth::from_base(400'000'000)};
  return run(other);
}

CxlProbeResult first_of_little_weight_is_slow(const CxlCase& c) {
  CxlCase other = c;
  if (c.config.pool_switch && !c.config.pool_switch->weights.empty() &&
      c.config.pool_switch->weights.front() < c.config.pool_switch->weights.back())
    other.config.raw.value = half(half(c.config.raw.value));
  return run(other);
}

struct Fault {
  const char* name;
  Property (*property)(const CxlModel&);
  CxlProbeResult (*model)(const CxlCase&);
};

class PlantedCxlFault : public ::testing::TestWithParam<Fault> {};

TEST_P(PlantedCxlFault, IsFoundAndMadeSmall) {
  const auto found = find_counterexample(46, 60, GetParam().property(GetParam().model));
  ASSERT_TRUE(found);
  EXPECT_LE(found->size(), 5U) << found->text();  // of about 25 choices
}

INSTANTIATE_TEST_SUITE_P(
    RandomCxlFabrics, PlantedCxlFault,
    ::testing::Values(Fault{"Conservation", cxl_conserves, forgets_a_message},
                      Fault{"Clock", cxl_scales_with_the_clock, flight_has_a_floor},
                      Fault{"Better", cxl_better_is_never_slower, fast_links_are_slow},
                      Fault{"OneHostMore", cxl_one_host_more_keeps_throughput, three_hosts_thrash},
                      Fault{"Order", cxl_order_of_hosts_is_nothing, first_of_little_weight_is_slow},
                      Fault{"HalfChunks", cxl_half_chunks_change_little, small_accesses_cost_more}),
    [](const auto& fault) { return std::string(fault.param.name); });

}  // namespace
}  // namespace tiersim::testing::cxl_fabrics_test
