// Memories side by side: a tier of n units is what one memory of n times the size and rate is, with
// the latency of one, and a link that leaves its ports open has one for each unit.
#include <algorithm>

#include <gtest/gtest.h>

#include "hwmodels/memory/nvme.hpp"
#include "tests/unit/step/small_system.hpp"

namespace tiersim::units_test {
namespace {

using namespace std::chrono_literals;
using namespace literals;
using testing::dram;
using testing::fixed;
using testing::small_system;

// Its flits of 256 B need no coding, so that its rate is the raw one.
CxlConfig port() {
  CxlConfig c = testing::cxl_port();
  c.flit.value = 256_B;
  return c;
}

SystemConfig pool_of(std::int64_t units, const CxlConfig& link) {
  SystemConfig c = small_system();
  c.links["expanders"] = fixed<Link>(link);
  c.tiers["pool"].path = {"pcie", "expanders"};
  c.tiers["pool"].units = Sourced<std::int64_t>{.value = units};
  return c;
}

Bandwidth rate_of(const System& system, const std::string& channel) {
  const auto it = std::ranges::find(system.channels(), channel, &SystemChannel::name);
  EXPECT_NE(it, system.channels().end()) << channel;
  return it == system.channels().end() ? Bandwidth{} : it->capacity;
}

TEST(Units, MultiplyTheCapacityAndTheRateOfTheTierAndThePortsOfItsLink) {
  const System system(pool_of(8, port()));
  EXPECT_EQ(system.capacity(system.tier("pool")), 80 * 1_GiB);
  EXPECT_EQ(rate_of(system, "pool.bus"), 400_GBps);
  EXPECT_EQ(rate_of(system, "expanders.to_gpu"), 256_GBps);
  EXPECT_EQ(rate_of(system, "pcie.to_gpu"), 10_GBps);
}

TEST(Units, LeaveALinkAloneWhosePortsAreStated) {
  CxlConfig two = port();
  two.ports = Sourced<std::int64_t>{.value = 2};
  EXPECT_EQ(rate_of(System(pool_of(8, two)), "expanders.to_gpu"), 64_GBps);
}

TEST(Units, OfDrivesHaveTheirCommandsAndQueuesToo) {
  NvmeConfig drive;
  drive.capacity.value = 1_GiB;
  drive.read_bandwidth.value = drive.write_bandwidth.value = 4_GBps;
  drive.read_iops.value = drive.write_iops.value = 1'000'000;
  drive.block.value = 512_B;
  drive.read_latency.value = drive.write_latency.value = 100us;
  drive.queue_depth.value = 50;
  const ConfiguredDevice<MemoryTier, NvmeConfig> spec(drive);
  ASSERT_TRUE(spec.has_units());
  const auto one = spec.build_units(1);
  const auto four = spec.build_units(4);
  // 4000 commands of 1 KiB: 50 in flight give 500 thousand a second, four times that on four.
  const AccessCost alone = one->cost(Direction::read, 4000 * 1_KiB, 1_KiB);
  const AccessCost spread = four->cost(Direction::read, 4000 * 1_KiB, 1_KiB);
  EXPECT_EQ(alone.min_duration, 8ms);
  EXPECT_EQ(spread.min_duration, 2ms);
  EXPECT_EQ(alone.charges.front().busy, spread.charges.front().busy);
  EXPECT_EQ(four->channels().front().capacity, 16_GBps);
}

// More peak by faster channels opens no more rows; by more channels it does.
TEST(Units, ChannelsFollowThePeakWhereTheRateOfOneIsStated) {
  DramConfig c = dram(1_GiB, 100_GBps);
  c.pseudo_channels.reset();
  c.channel_peak = Sourced<Bandwidth>{.value = 25_GBps};
  EXPECT_EQ(c.channels(), 4);
  EXPECT_EQ(side_by_side(c, 3).channels(), 12);
  c.peak.value = 1_GBps;
  EXPECT_EQ(c.channels(), 1);
  c.row_time.value = 10ns;
  c.peak.value = 800_GBps;  // 32 rows of 256 B in 10 ns are 819 GB/s, four are 102
  const auto time_of = [](const DramConfig& config) {
    const auto memory = make_device(config);
    const Bytes busy = memory->cost(Direction::read, 1_MiB, 256_B).charges.front().busy;
    return busy / config.peak.value;
  };
  const Duration follows = time_of(c);
  c.channel_peak.reset();
  c.pseudo_channels = Sourced<std::int64_t>{.value = 4};
  EXPECT_GT(time_of(c), 7 * follows);
}

}  // namespace
}  // namespace tiersim::units_test
