#include <gtest/gtest.h>

#include "hwmodels/link/network.hpp"
#include "hwmodels/link/nvlink.hpp"
#include "tests/unit/hwmodels/link_rate.hpp"

namespace tiersim::nvlink_network_test {
namespace {

using namespace std::chrono_literals;
using namespace literals;
using testing::rate_of;

NvlinkConfig round_port() {
  NvlinkConfig c;
  c.raw.value = 100_GBps;
  c.efficiency.value = 0.8;
  c.sector.value = 32_B;
  c.packet.value = 128_B;
  c.header.value = 32_B;
  c.latency.value = 1us;
  return c;
}

TEST(Nvlink, LongRunsLoseOneHeaderAPacket) {
  const auto port = make_device(round_port());
  EXPECT_NEAR(rate_of(*port, 1_MiB, 0_B, 1_MiB), 80.0 * 128 / 160, 1e-3);
  EXPECT_NEAR(rate_of(*port, 0_B, 1_MiB, 1_MiB), 80.0 * 128 / 160, 1e-3);
}

TEST(Nvlink, TheTwoDirectionsAreTwoCapacities) {
  const auto port = make_device(round_port());
  const double writes = rate_of(*port, 0_B, 1_MiB, 1_MiB);
  // Requests of reads share the way out with writes: 128 + 32 and 32 B each 128 B of both.
  EXPECT_NEAR(rate_of(*port, 1_MiB, 1_MiB, 1_MiB), 2 * writes * 160 / 192, 1e-3);
}

TEST(Nvlink, ShortRunsMoveWholeSectors) {
  const auto port = make_device(round_port());
  const auto cost = port->cost(Direction::read, 3200_B, 8_B);
  EXPECT_EQ(cost.moved, 400 * 32_B);
  EXPECT_EQ(cost.charges[0].busy, 400 * 64_B);
  EXPECT_EQ(cost.charges[1].busy, 400 * 32_B);
}

TEST(Nvlink, APostedWriteTakesOneWay) {
  EXPECT_EQ(make_device(round_port())->cost(Direction::write, 1_MiB, 64_B).latency, 500ns);
}

// H100, point to point: 371 to 380 GB/s of 450, so .888 of raw with 16 B on 256 B; band 5 %.
TEST(Nvlink, MatchesH100PointToPoint) {
  NvlinkConfig c = round_port();
  c.raw.value = 450_GBps;
  c.efficiency.value = 0.888;
  c.packet.value = 256_B;
  c.header.value = 16_B;
  EXPECT_NEAR(rate_of(*make_device(c), 0_B, 1_MiB, 1_MiB), 376, 0.05 * 376);
}

// Packets of 1000 B with 50 B of headers, 50 B more each message, 1 M messages/s at 1 GB/s: none is
// shorter than 1000 B.
NetworkConfig round_adapter() {
  NetworkConfig c;
  c.raw.value = 1_GBps;
  c.packet.value = 1000_B;
  c.packet_header.value = 50_B;
  c.message_header.value = 50_B;
  c.message_rate.value = 1'000'000;
  c.latency.value = 4us;
  return c;
}

TEST(Network, AMessagePaysForItsPacketsAndItself) {
  const auto adapter = make_device(round_adapter());
  const auto read = adapter->cost(Direction::read, 20'000_B, 10'000_B);
  EXPECT_EQ(read.charges[0].busy, 2 * (10'000_B + 10 * 50_B + 50_B));
  EXPECT_EQ(read.charges[1].busy, 2 * 1000_B);  // two requests, at the message rate
  const auto write = adapter->cost(Direction::write, 20'000_B, 10'000_B);
  ASSERT_EQ(write.charges.size(), 1U);
  EXPECT_EQ(write.charges[0].busy, 2 * (10'000_B + 10 * 50_B + 50_B));
  EXPECT_EQ(read.latency, 4us);
  EXPECT_EQ(write.latency, 2us);
}

TEST(Network, WhatAPeerWritesHereIsAWriteTowardsTheGpu) {
  const auto adapter = make_device(round_adapter());
  const auto incoming = adapter->incoming(20'000_B, 10'000_B);
  ASSERT_EQ(incoming.charges.size(), 1U);
  EXPECT_EQ(adapter->channels()[incoming.charges[0].channel].name, "to_gpu");
  EXPECT_EQ(incoming.charges[0].busy, 2 * (10'000_B + 10 * 50_B + 50_B));
  EXPECT_EQ(incoming.latency, 2us);
}

TEST(Network, SmallMessagesAreLimitedByTheirRate) {
  const auto adapter = make_device(round_adapter());
  // 1 M messages of 100 B a second.
  EXPECT_NEAR(rate_of(*adapter, 100_B * 1000, 0_B, 100_B), 0.1, 1e-6);
  EXPECT_NEAR(rate_of(*adapter, 0_B, 100_B * 1000, 100_B), 0.1, 1e-6);
}

TEST(Network, LongerMessagesAreNeverSlower) {
  const auto adapter = make_device(round_adapter());
  double last = 0;
  for (std::int64_t run = 125; run <= 8000; run *= 2) {
    const double rate = rate_of(*adapter, 8000_B * 100, 0_B, Bytes::from_base(run));
    EXPECT_GE(rate, last) << run;
    last = rate;
  }
}

}  // namespace
}  // namespace tiersim::nvlink_network_test
