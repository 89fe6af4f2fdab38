// Limits on the cost of the packet models, in numbers that are the same on every machine: events
// for each packet, and no allocation once buffers have grown. Lower is better: if a test fails
// because less is done, lower its number.
#include <gtest/gtest.h>

#include "tests/bench/packet_loops.hpp"
#include "tests/support/allocations.hpp"

namespace tiersim::bench::packet_counts_test {
namespace {

double events_of(const PacketWork& work, std::int64_t things) {
  return static_cast<double>(work.events) / static_cast<double>(things);
}

// 8 requests of 512 B and 16 completions of 256 B. A packet has two events: the wire becomes free,
// and the packet arrives. A request has one event of the memory, and a transfer has one at its end.
TEST(PacketCounts, APcieReadIsTwoEventsAPacketAndOneARequest) {
  EXPECT_EQ(pcie_transfers(1, 1, 1000).packets, 1000 * 24);
  EXPECT_EQ(pcie_transfers(1, 1, 1000).events, 1000U * (2 * 24 + 8 + 1));
}

// 16 packets of 256 B, each with an event of the memory.
TEST(PacketCounts, APcieWriteIsThreeEventsAPacket) {
  EXPECT_EQ(pcie_transfers(0, 1, 1000).packets, 1000 * 16);
  EXPECT_EQ(pcie_transfers(0, 1, 1000).events, 1000U * (3 * 16 + 1));
}

// Packets cross two links. Beside the events above, a port of the switch checks again when its next
// packet may leave: about once for three packets of a read.
TEST(PacketCounts, APcieSwitchAddsFewEventsToThoseOfItsLinks) {
  EXPECT_LE(events_of(pcie_transfers(1, 4, 1000), 1000), 2 * 48 + 8 + 1 + 48 * 0.4);
  EXPECT_LE(events_of(pcie_transfers(0, 4, 1000), 1000), 2 * 32 + 16 + 1 + 1);
}

// A line is two messages, which share flits.
TEST(PacketCounts, ACxlLineIsAboutFourEventsAMessage) {
  EXPECT_LE(events_of(cxl_lines(1, 1, 20'000), 20'000), 7.7);
  EXPECT_LE(events_of(cxl_lines(0, 1, 20'000), 20'000), 8.3);
  EXPECT_LE(events_of(cxl_lines(1, 4, 20'000), 20'000), 14.5);
  EXPECT_LE(events_of(cxl_lines(0, 4, 20'000), 20'000), 14.8);
}

// Ports and switch are advanced in windows of 110 ns: packets cost no further events.
TEST(PacketCounts, AnNvlinkMessageIsOneEventAWindow) {
  const PacketWork small = nvlink_messages(NvlinkPattern::point_to_point, 0, 4_MiB);
  const PacketWork large = nvlink_messages(NvlinkPattern::point_to_point, 0, 16_MiB);
  const PacketWork many = nvlink_messages(NvlinkPattern::all_to_all, 0, 4_MiB);
  // 12 MiB at 376 GB/s and 110 ns: 304 windows.
  EXPECT_LE(large.events - small.events, 320U);
  // Seven of them at once, from each of eight ports: at most twice as long as one of 16 MiB.
  EXPECT_LE(many.events, 2 * large.events + 100);
}

TEST(PacketCounts, AllReducesOfALayerTakeFewEvents) {
  EXPECT_LE(layer_all_reduces(PacketAlgorithm::ring).events, 600U);
  EXPECT_LE(layer_all_reduces(PacketAlgorithm::one_shot).events, 400U);
  EXPECT_LE(layer_all_reduces(PacketAlgorithm::nvls).events, 1200U);
}

template <class Work>
std::uint64_t allocations_of(const Work& work) {
  const std::uint64_t before = testing::allocations();
  work();
  return testing::allocations() - before;
}

// Four times the packets: the buffer of the stored latencies doubles twice, and a few queues grow.
TEST(PacketCounts, MorePacketsAllocateNoMore) {
  for (const double reads : {0.0, 1.0}) {
    const auto pcie = [reads](std::int64_t transfers) {
      return allocations_of([&] { pcie_transfers(reads, 1, transfers); });
    };
    EXPECT_LE(pcie(4000), pcie(1000) + 8);
    const auto cxl = [reads](std::int64_t lines) {
      return allocations_of([&] { cxl_lines(reads, 1, lines); });
    };
    EXPECT_LE(cxl(80'000), cxl(20'000) + 8);
  }
  const auto nvlink = [](Bytes bytes) {
    return allocations_of([&] { nvlink_messages(NvlinkPattern::point_to_point, 0, bytes); });
  };
  EXPECT_LE(nvlink(16_MiB), nvlink(4_MiB) + 8);
  const auto dram = [](std::int64_t bytes) {
    return allocations_of([&] { layer_from_a_stack(bytes); });
  };
  EXPECT_LE(dram(16'000'000), dram(4'000'000) + 8);
}

}  // namespace
}  // namespace tiersim::bench::packet_counts_test
