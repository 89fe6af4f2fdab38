#include <string>
#include <vector>

#include <gtest/gtest.h>

#include "hwmodels/packet/pcie/tlp_channel.hpp"
#include "sim/core/engine.hpp"

namespace tiersim::pcie_channel_test {
namespace {

using namespace std::chrono_literals;
using namespace literals;

/// Records the packets: w, r or c and the number of the request.
struct Sink final : TlpReceiver {
  void receive(const Tlp& tlp, SimTime) override {
    seen.push_back("wrc"[static_cast<std::size_t>(tlp.tlp_class)] + std::to_string(tlp.request));
    if (channel != nullptr) channel->release(tlp);
  }
  std::vector<std::string> seen;
  TlpChannel* channel = nullptr;
};

Tlp packet(TlpClass tlp_class, std::uint32_t request) {
  return {.request = request,
          .payload = tlp_class == TlpClass::read ? 0 : 64,
          .length = 64,
          .tlp_class = tlp_class};
}

PciePacketConfig config_without_link_packets() {
  PciePacketConfig c;
  c.raw.value = 1_GBps;
  c.framing.link_packet.value = 0_B;
  c.framing.skip.value = 0_B;
  return c;
}

struct Fixture {
  explicit Fixture(const PciePacketConfig& c, std::size_t inputs = 1)
      : channel(engine, c, {.raw = c.raw.value, .inputs = inputs}) {
    channel.connect(sink);
  }
  void offer(std::size_t input, TlpClass tlp_class, std::uint32_t request) {
    channel.offer(input, packet(tlp_class, request), engine.now());
  }
  Engine engine;
  Sink sink;
  TlpChannel channel;
};

using Seen = std::vector<std::string>;

// One posted header: the second write waits for ever.
TEST(TlpChannel, NothingPassesAPostedWriteThatWaits) {
  PciePacketConfig c = config_without_link_packets();
  c.credits.posted_headers = {.value = 1};
  Fixture f(c);
  f.offer(0, TlpClass::posted, 1);
  f.offer(0, TlpClass::posted, 2);
  f.offer(0, TlpClass::read, 3);
  f.offer(0, TlpClass::completion, 4);
  f.engine.run();
  EXPECT_EQ(f.sink.seen, (Seen{"w1"}));
  EXPECT_EQ(f.channel.entered() - f.channel.delivered(), 3);
}

TEST(TlpChannel, WithRelaxedOrderingTheyPass) {
  PciePacketConfig c = config_without_link_packets();
  c.credits.posted_headers = {.value = 1};
  c.relaxed_ordering = true;
  Fixture f(c);
  f.offer(0, TlpClass::posted, 1);
  f.offer(0, TlpClass::posted, 2);
  f.offer(0, TlpClass::read, 3);
  f.offer(0, TlpClass::completion, 4);
  f.engine.run();
  EXPECT_EQ(f.sink.seen, (Seen{"w1", "r3", "c4"}));
}

TEST(TlpChannel, WritesAndCompletionsPassAReadThatWaits) {
  PciePacketConfig c = config_without_link_packets();
  c.credits.read_headers = {.value = 1};
  Fixture f(c);
  for (std::uint32_t i = 1; i <= 2; ++i) f.offer(0, TlpClass::read, i);
  f.offer(0, TlpClass::completion, 3);
  f.offer(0, TlpClass::posted, 4);
  f.engine.run();
  EXPECT_EQ(f.sink.seen, (Seen{"r1", "c3", "w4"}));
}

TEST(TlpChannel, AnotherInputIsNotHeldUp) {
  PciePacketConfig c = config_without_link_packets();
  c.credits.posted_headers = {.value = 1};
  Fixture f(c, 2);
  f.offer(0, TlpClass::posted, 1);
  f.offer(0, TlpClass::posted, 2);
  f.offer(0, TlpClass::read, 3);
  f.offer(1, TlpClass::read, 4);
  f.engine.run();
  EXPECT_EQ(f.sink.seen, (Seen{"w1", "r4"}));
}

// Data credits of one packet of 64 B, 10 ns of flight: a packet takes 88 ns, its credit is back
// 10 + 10 ns later.
TEST(TlpChannel, ASenderWaitsForItsCredits) {
  PciePacketConfig c = config_without_link_packets();
  c.credits.posted_data = {.value = 4};
  c.framing.update_every = {.value = 1_B};
  c.flight.value = 10ns;
  Fixture f(c);
  f.sink.channel = &f.channel;
  for (std::uint32_t i = 1; i <= 3; ++i) f.offer(0, TlpClass::posted, i);
  f.engine.run_until(SimTime(2 * (88ns + 20ns) + 98ns));
  EXPECT_EQ(f.sink.seen, (Seen{"w1", "w2", "w3"}));
  EXPECT_EQ(f.channel.credits_held(), 5);  // a header and four units, on their way back
  f.engine.run();
  EXPECT_EQ(f.channel.credits_held(), 0);
  EXPECT_EQ(f.channel.credits_issued(), 3 * 5);
}

// The first freed credit goes back at once; the next ones wait for the interval of 1000 B.
TEST(TlpChannel, CreditUpdatesKeepTheirInterval) {
  PciePacketConfig c = config_without_link_packets();
  c.credits.posted_headers = {.value = 1};
  c.framing.update_every = {.value = 1000_B};
  Fixture f(c);
  f.sink.channel = &f.channel;
  for (std::uint32_t i = 1; i <= 3; ++i) f.offer(0, TlpClass::posted, i);
  f.engine.run_until(SimTime(88ns + 88ns + 999ns));
  EXPECT_EQ(f.sink.seen, (Seen{"w1", "w2"}));  // the second update leaves at 1088 ns
  f.engine.run();
  EXPECT_EQ(f.sink.seen.size(), 3U);
}

TEST(TlpChannel, InputsTakeTurns) {
  Fixture f(config_without_link_packets(), 2);
  for (std::uint32_t i = 1; i <= 3; ++i) f.offer(0, TlpClass::posted, i);
  for (std::uint32_t i = 4; i <= 5; ++i) f.offer(1, TlpClass::posted, i);
  f.engine.run();
  EXPECT_EQ(f.sink.seen, (Seen{"w1", "w4", "w2", "w5", "w3"}));
}

}  // namespace
}  // namespace tiersim::pcie_channel_test
