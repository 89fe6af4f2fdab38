#include <gtest/gtest.h>

#include "hwmodels/packet/pcie/tlp.hpp"
#include "hwmodels/packet/pcie/tlp_wire.hpp"

namespace tiersim::pcie_wire_test {
namespace {

using namespace std::chrono_literals;
using namespace literals;

Tlp packet(TlpClass tlp_class, std::int32_t payload) {
  return {.payload = payload, .length = payload, .tlp_class = tlp_class};
}

TEST(Tlp, NoRequestCrossesFourKilobytes) {
  EXPECT_EQ(request_length(0, 10'000, 512), 512);
  EXPECT_EQ(request_length(4096 - 100, 10'000, 512), 100);
  EXPECT_EQ(request_length(4096, 10'000, 512), 512);
  EXPECT_EQ(request_length(64, 32, 512), 32);
}

TEST(Tlp, CompletionsEndAtTheBoundary) {
  EXPECT_EQ(completion_length(0, 512, 256), 256);
  EXPECT_EQ(completion_length(16, 512, 64), 48);
  EXPECT_EQ(completion_length(64, 20, 64), 20);
}

TEST(Tlp, DataCreditsAreOfSixteenBytes) {
  EXPECT_EQ(data_credits(packet(TlpClass::posted, 1)), 1);
  EXPECT_EQ(data_credits(packet(TlpClass::posted, 256)), 16);
  EXPECT_EQ(data_credits(packet(TlpClass::read, 0)), 0);
}

PciePacketConfig one_gigabyte_per_second() {
  PciePacketConfig c;
  c.raw.value = 1_GBps;
  return c;
}

// At 1 B/ns. Link packets are due once 168 B have gone, and go behind the packet.
TEST(TlpWire, APacketTakesItsHeaderAndData) {
  PciePacketConfig c = one_gigabyte_per_second();
  c.flight.value = 7ns;
  TlpWire wire(c, c.raw.value);
  const auto write = wire.send(SimTime{}, packet(TlpClass::posted, 100));
  EXPECT_EQ(write.header_arrives, SimTime(24ns + 7ns));
  EXPECT_EQ(write.arrives, SimTime(124ns + 7ns));
  EXPECT_EQ(write.free, SimTime(124ns));
  const auto completion = wire.send(SimTime{}, packet(TlpClass::completion, 64));
  EXPECT_EQ(completion.arrives, SimTime(124ns + 84ns + 7ns));
  EXPECT_EQ(completion.free, SimTime(208ns + 2 * 8ns));  // an acknowledgement and an update
}

// The link packets are 2 x 8 n / 168 of n raw bytes, and SKIP is 4 n / 1538.
TEST(TlpWire, PacedLinkPacketsTakeTheirShare) {
  PciePacketConfig c = one_gigabyte_per_second();
  TlpWire wire(c, c.raw.value);
  std::int64_t packets = 0;
  for (int i = 0; i < 10'000; ++i) {
    wire.send(SimTime{}, packet(TlpClass::posted, 256));
    packets += 280;
  }
  const double share = static_cast<double>(packets) / static_cast<double>(wire.sent().in_base());
  EXPECT_NEAR(share, 1 - 16.0 / 168 - 4.0 / 1538, 300.0 / static_cast<double>(packets));
}

TEST(TlpWire, AnsweringLinkPacketsAreForTheOtherDirection) {
  PciePacketConfig c = one_gigabyte_per_second();
  c.framing.link_packets = LinkPackets::answering;
  c.framing.skip.value = 0_B;
  TlpWire wire(c, c.raw.value);
  for (int i = 0; i < 100; ++i) wire.send(SimTime{}, packet(TlpClass::posted, 256));
  EXPECT_EQ(wire.sent(), 28'000_B);
  wire.send_link_packet(SimTime{});
  EXPECT_EQ(wire.sent(), 28'008_B);
}

// 256 B flits at 1 B/ns: one ends every 256 ns, and 236 B of it are packets.
TEST(TlpWire, AFlitDeliversWhatIsInItAtItsEnd) {
  PciePacketConfig c = one_gigabyte_per_second();
  c.flits = PcieFlits{};
  c.request_header.value = 16_B;
  TlpWire wire(c, c.raw.value);
  EXPECT_EQ(wire.send(SimTime{}, packet(TlpClass::read, 0)).arrives, SimTime(256ns));
  EXPECT_EQ(wire.send(SimTime{}, packet(TlpClass::posted, 200)).arrives, SimTime(256ns));
  EXPECT_EQ(wire.send(SimTime{}, packet(TlpClass::read, 0)).arrives, SimTime(512ns));
}

TEST(TlpWire, FlitsLeaveTheirShare) {
  PciePacketConfig c = one_gigabyte_per_second();
  c.flits = PcieFlits{};
  TlpWire wire(c, c.raw.value);
  SimTime end{};
  for (int i = 0; i < 236; ++i) end = wire.send(SimTime{}, packet(TlpClass::posted, 232)).arrives;
  // 236 packets of 256 B take 256 flits; the rate of packets is rounded down to whole bytes.
  EXPECT_EQ(end, SimTime(256 * 256ns));
}

}  // namespace
}  // namespace tiersim::pcie_wire_test
