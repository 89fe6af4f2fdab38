#include "hwmodels/memory/dram.hpp"

#include <gtest/gtest.h>

namespace tiersim {
namespace {

using namespace std::chrono_literals;
using namespace literals;

// 100 pseudo channels of 10 GB/s: a row time of 10 ns passes 100 bus bytes of its channel.
DramConfig round_numbers() {
  DramConfig c;
  c.capacity.value = 1_GiB;
  c.peak.value = 1000_GBps;
  c.pseudo_channels.value = 100;
  c.atom.value = 32_B;
  c.interleave.value = 256_B;
  c.read_efficiency.value = 0.5;
  c.write_efficiency.value = 0.25;
  c.row_time.value = 10ns;
  c.latency.value = 100ns;
  return c;
}

Bytes busy(const DramConfig& config, Direction direction, Bytes payload, Bytes run) {
  const auto cost = make_device(config)->cost(direction, payload, run);
  EXPECT_EQ(cost.charges.size(), 1U);
  return cost.charges.front().busy;
}

TEST(Dram, LongRunsReachTheEfficiencyOfTheirDirection) {
  EXPECT_EQ(busy(round_numbers(), Direction::read, 1_MiB, 1_MiB), 2_MiB);
  EXPECT_EQ(busy(round_numbers(), Direction::write, 1_MiB, 1_MiB), 4_MiB);
}

TEST(Dram, ShortRunsMoveWholeAtoms) {
  const auto cost = make_device(round_numbers())->cost(Direction::read, 1000_B, 1_B);
  EXPECT_EQ(cost.moved, 32000_B);
}

TEST(Dram, IsolatedRowsAreLimitedByTheRowTime) {
  // 32 B at efficiency .5 would take 64 bus bytes; opening a row takes 100.
  EXPECT_EQ(busy(round_numbers(), Direction::read, 3200_B, 32_B), 10000_B);
  // 128 B take 256 bus bytes: the bus is the limit again.
  EXPECT_EQ(busy(round_numbers(), Direction::read, 1280_B, 128_B), 2560_B);
}

TEST(Dram, ARunThatIsNoMultipleOfTheInterleavePaysForItsLastRow) {
  // 256 + 32 B: 512 bus bytes and one row opening of 100.
  EXPECT_EQ(busy(round_numbers(), Direction::read, 288_B, 288_B), 612_B);
}

TEST(Dram, MoreRowTimeNeverCostsLess) {
  Bytes last;
  for (int ns = 0; ns <= 50; ns += 5) {
    DramConfig config = round_numbers();
    config.row_time.value = std::chrono::nanoseconds(ns);
    const Bytes now = busy(config, Direction::read, 6400_B, 64_B);
    EXPECT_GE(now, last);
    last = now;
  }
}

// GUPS on one H200: 36.2 to 39.1 G random 8-byte reads a second over 192 pseudo channels. At 5 ns a
// row the model gives 192 / 5 ns = 38.4 G; the measured range is -6 % to +2 % of it.
TEST(Dram, RandomReadsMatchTheGupsTableOfTheH200) {
  DramConfig c = round_numbers();
  c.peak.value = 4800_GBps;
  c.pseudo_channels.value = 192;
  c.read_efficiency.value = 0.92;
  c.row_time.value = 5ns;
  constexpr std::int64_t kReads = 1'000'000'000;
  const Bytes bus = busy(c, Direction::read, 8_B * kReads, 8_B);
  const double giga_reads_per_s = kReads / to_seconds(bus / c.peak.value) / 1e9;
  EXPECT_NEAR(giga_reads_per_s, 36.18, 0.10 * 36.18);
  EXPECT_NEAR(giga_reads_per_s, 39.055, 0.10 * 39.055);
}

}  // namespace
}  // namespace tiersim
