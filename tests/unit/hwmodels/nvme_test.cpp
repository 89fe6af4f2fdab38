#include "hwmodels/memory/nvme.hpp"

#include <gtest/gtest.h>

namespace tiersim::nvme_test {
namespace {

using namespace std::chrono_literals;
using namespace literals;

// 4 GB/s and 500 k reads a second: a command passes 8000 channel bytes. 100 us each, 100 at a time.
NvmeConfig round_drive() {
  NvmeConfig c;
  c.capacity.value = 1_GiB;
  c.read_bandwidth.value = 4_GBps;
  c.write_bandwidth.value = 2_GBps;
  c.read_iops.value = 500'000;
  c.write_iops.value = 100'000;
  c.block.value = 4_KiB;
  c.read_latency.value = 100us;
  c.write_latency.value = 20us;
  c.queue_depth.value = 100;
  return c;
}

TEST(Nvme, LongRunsReachTheBandwidthOfTheirDirection) {
  const auto drive = make_device(round_drive());
  EXPECT_EQ(drive->cost(Direction::read, 1_GiB, 1_GiB).charges.front().busy, 1_GiB);
  EXPECT_EQ(drive->cost(Direction::write, 1_GiB, 1_GiB).charges.front().channel, 1U);
  EXPECT_EQ(drive->channels()[1].capacity, 2_GBps);
}

TEST(Nvme, ShortRunsAreLimitedByTheCommandRate) {
  const auto drive = make_device(round_drive());
  const auto cost = drive->cost(Direction::read, 4_KiB * 1000, 4_KiB);
  EXPECT_EQ(cost.charges.front().busy / drive->channels()[0].capacity, 2ms);  // 1000 / 500 k/s
  EXPECT_EQ(drive->cost(Direction::write, 4_KiB * 1000, 4_KiB).charges.front().busy / 2_GBps, 10ms);
}

TEST(Nvme, MovesWholeBlocks) {
  const auto drive = make_device(round_drive());
  EXPECT_EQ(drive->cost(Direction::read, 5000_B, 5000_B).moved, 8_KiB);
  EXPECT_EQ(drive->cost(Direction::read, 1000_B, 100_B).moved, 10 * 4_KiB);
}

// Little: 100 in the queue for 100 us each are 1 M commands a second.
TEST(Nvme, TheQueueLimitsTheCommandRate) {
  const auto cost = make_device(round_drive())->cost(Direction::read, 4_KiB * 1000, 4_KiB);
  EXPECT_EQ(cost.min_duration, 1ms);
  EXPECT_EQ(cost.latency, 100us);
}

TEST(Nvme, ADeeperQueueNeverTakesLonger) {
  Duration last = 1h;
  for (std::int64_t depth = 1; depth <= 1024; depth *= 2) {
    NvmeConfig c = round_drive();
    c.queue_depth.value = depth;
    const Duration now = make_device(c)->cost(Direction::read, 1_GiB, 4_KiB).min_duration;
    EXPECT_LE(now, last) << depth;
    last = now;
  }
}

}  // namespace
}  // namespace tiersim::nvme_test
