// Random PCI Express fabrics at packet level: the properties of every one of them, and a check that
// each property finds a fault planted in the model.
#include <gtest/gtest.h>

#include "tests/property/pcie_fabrics.hpp"

namespace tiersim::testing::pcie_fabrics_test {
namespace {

PcieProbeResult real(const PcieCase& c) {
  return run(c);
}

TEST(RandomPcieFabrics, GiveBackPacketsCreditsAndTags) {
  expect_always(31, draws_of(100, 20'000), pcie_conserves(real));
}
TEST(RandomPcieFabrics, TakeTwiceAsLongOnAClockOfHalfTheRate) {
  expect_always(32, draws_of(100, 10'000), pcie_scales_with_the_clock(real));
}
TEST(RandomPcieFabrics, AreNeverSlowerWithMoreOfAnythingOrLessOverhead) {
  expect_always(33, draws_of(40, 2000), pcie_better_is_never_slower(real));
}
TEST(RandomPcieFabrics, LoseNoThroughputToOneMoreDevice) {
  expect_always(34, draws_of(60, 5000), pcie_one_device_more_keeps_throughput(real));
}
TEST(RandomPcieFabrics, DoNotCareForTheOrderOfDevices) {
  expect_always(37, draws_of(40, 2000), pcie_order_of_devices_is_nothing(real));
}
TEST(RandomPcieFabrics, ChangeLittleWithHalfTheChunk) {
  expect_always(35, draws_of(20, 1000), pcie_half_chunks_change_little(real));
}

PcieProbeResult loses_a_credit(const PcieCase& c) {
  PcieProbeResult r = run(c);
  if (c.config.credits.posted_headers) ++r.credits_held;
  return r;
}
PcieProbeResult flight_has_a_floor(const PcieCase& c) {
  PcieCase other = c;
  other.config.flight.value = std::max(c.config.flight.value, Duration(20'000));
  return run(other);
}
PcieProbeResult fast_links_are_slow(const PcieCase& c) {
  PcieCase other = c;
  if (c.config.raw.value > Bandwidth::from_base(10'000'000'000))
    other.config.raw.value = Bandwidth::from_base(1'000'000'000);
  return run(other);
}
PcieProbeResult three_devices_thrash(const PcieCase& c) {
  PcieCase other = c;
  if (c.probe.devices > 2 && c.config.fabric_switch)
    other.config.fabric_switch->upstream_raw->value =
        Bandwidth::from_base(c.config.fabric_switch->upstream_raw->value.in_base() / 8);
  return run(other);
}
PcieProbeResult small_transfers_cost_more(const PcieCase& c) {
  PcieCase other = c;
  if (c.probe.size < Bytes::from_base(16'384))
    other.config.request_header.value = other.config.completion_header.value = Bytes::from_base(40);
  return run(other);
}

PcieProbeResult first_of_little_weight_is_slow(const PcieCase& c) {
  PcieCase other = c;
  if (c.config.fabric_switch && !c.config.fabric_switch->weights.empty() &&
      c.config.fabric_switch->weights.front() < c.config.fabric_switch->weights.back())
    other.config.raw.value = half(half(c.config.raw.value));
  return run(other);
}

struct Fault {
  const char* name;
  Property (*property)(const PcieModel&);
  PcieProbeResult (*model)(const PcieCase&);
};

class PlantedPcieFault : public ::testing::TestWithParam<Fault> {};

TEST_P(PlantedPcieFault, IsFoundAndMadeSmall) {
  const auto found = find_counterexample(36, 60, GetParam().property(GetParam().model));
  ASSERT_TRUE(found);
  EXPECT_LE(found->size(), 5U) << found->text();  // of about 30 choices
}

INSTANTIATE_TEST_SUITE_P(
    RandomPcieFabrics, PlantedPcieFault,
    ::testing::Values(
        Fault{"Conservation", pcie_conserves, loses_a_credit},
        Fault{"Clock", pcie_scales_with_the_clock, flight_has_a_floor},
        Fault{"Better", pcie_better_is_never_slower, fast_links_are_slow},
        Fault{"OneDeviceMore", pcie_one_device_more_keeps_throughput, three_devices_thrash},
        Fault{"Order", pcie_order_of_devices_is_nothing, first_of_little_weight_is_slow},
        Fault{"HalfChunks", pcie_half_chunks_change_little, small_transfers_cost_more}),
    [](const auto& fault) { return std::string(fault.param.name); });

}  // namespace
}  // namespace tiersim::testing::pcie_fabrics_test
