// Network adapters of one switch at packet level, by hand. A port of 1 GB/s sends a byte in a
// nanosecond; one way is 370 ns: 150 + 10 + 50 + 10 + 150.
#include <vector>

#include <gtest/gtest.h>

#include "hwmodels/packet/network/network_packet.hpp"
#include "sim/core/engine.hpp"
#include "tests/unit/packet/fabric_ends.hpp"

namespace tiersim::network_packet_test {
namespace {

using namespace std::chrono_literals;
using namespace literals;

NetworkConfig adapter() {
  NetworkConfig c;
  c.raw.value = 1_GBps;
  c.packet.value = 64_B;
  c.packet_header.value = 16_B;
  c.message_header.value = 4_B;
  c.message_rate.value = 10'000'000;  // one in 100 ns
  c.latency.value = 740ns;
  NetworkPacketConfig packet;
  packet.credits.value = 0;
  packet.ack_every.value = 0;
  packet.flight.value = 10ns;
  packet.cut_through.value = 50ns;
  packet.credit_return.value = 100ns;
  c.packet_level = packet;
  return c;
}

std::vector<Duration> ends_of(const NetworkConfig& config, std::vector<FabricMessage> messages,
                              std::int64_t gpus = 3) {
  Engine engine;
  PacketFabric fabric(engine, shape_of(node_of(config), gpus));
  testing::FabricEnds ends;
  for (std::size_t i = 0; i < messages.size(); ++i) {
    messages[i].listener = &ends;
    messages[i].tag = i;
    fabric.post(messages[i]);
  }
  engine.run();
  return ends.at;
}

using Times = std::vector<Duration>;

// 64 B with 20 B of headers; a second packet has 16 B. A read sends a request of 20 B first.
TEST(NetworkPackets, OfAMessageHaveItsHeaderOnce) {
  EXPECT_EQ(ends_of(adapter(), {{.dst = 1, .bytes = 64_B}}), Times{370ns + 84ns});
  EXPECT_EQ(ends_of(adapter(), {{.dst = 1, .bytes = 128_B}}), Times{370ns + 84ns + 80ns});
  EXPECT_EQ(ends_of(adapter(), {{.op = FabricOp::read, .dst = 1, .bytes = 64_B}}),
            Times{370ns + 20ns + 370ns + 84ns});
}

// The third begins 200 ns after the first, and that of another adapter at once. Lengths are exact.
TEST(NetworkPackets, MessagesOfAnAdapterBeginNoFasterThanItsRate) {
  EXPECT_EQ(ends_of(adapter(), {{.dst = 1, .bytes = 1_B},
                                {.dst = 1, .bytes = 1_B},
                                {.dst = 1, .bytes = 7_B},
                                {.src = 2, .dst = 0, .bytes = 1_B}}),
            (Times{391ns, 491ns, 597ns, 391ns}));
}

// Two credits are one packet of 84 or 80 B. They are back 10 + 50 + 84 + 100 ns after it began.
TEST(NetworkPackets, WaitForCreditsOfTheSwitch) {
  NetworkConfig c = adapter();
  c.packet_level->credits.value = 2;
  EXPECT_TRUE(packet_obstacles(c).empty());
  EXPECT_EQ(ends_of(c, {{.dst = 1, .bytes = 128_B}}), Times{244ns + 370ns + 80ns});
}

// The port of the receiver sends all that seven others have for it, without a gap: the first bytes
// come after 220 ns, and leave by the last cable. With one queue for all of an input's outputs
// nothing changes, as each input has one output.
TEST(NetworkPackets, ManyToOneTakesTheTimeOfOnePort) {
  for (const SwitchQueues queues : {SwitchQueues::virtual_output, SwitchQueues::fifo})
    for (const std::int64_t credits : {0, 64}) {
      NetworkConfig c = adapter();
      c.packet_level->credits.value = credits;
      c.packet_level->queues = queues;
      std::vector<FabricMessage> messages;
      for (std::size_t src = 1; src < 8; ++src)
        messages.push_back({.src = src, .dst = 0, .bytes = Bytes::from_base(64 * 100)});
      Duration last{};
      for (const Duration end : ends_of(c, messages, 8)) last = std::max(last, end);
      EXPECT_EQ(last, 370ns + 7 * (100 * 80ns + 4ns)) << credits;
    }
}

// Posts a message at a later time.
class Later final : public EventHandler {
 public:
  Later(PacketFabric& fabric, const FabricMessage& message) : fabric_(fabric), message_(message) {}
  void on_event(Engine&, std::uint64_t) override { fabric_.post(message_); }

 private:
  PacketFabric& fabric_;
  FabricMessage message_;
};

// Three send to a port, which takes a packet of each in 240 ns, and 64 credits let 32 packets
// of each wait in the switch. A short message to another port then passes them by in a queue of its
// own, and waits behind all of them in one.
TEST(NetworkPackets, OneQueueBlocksWhatIsBehind) {
  const auto behind = [](SwitchQueues queues) {
    NetworkConfig c = adapter();
    c.packet_level->queues = queues;
    c.packet_level->credits.value = 64;
    Engine engine;
    PacketFabric fabric(engine, shape_of(node_of(c), 6));
    for (std::size_t src = 1; src < 4; ++src)
      fabric.post({.src = src, .dst = 0, .bytes = Bytes::from_base(64 * 200)});
    testing::FabricEnds ends;
    Later later(fabric, {.src = 1, .dst = 5, .bytes = 64_B, .listener = &ends});
    constexpr Duration kFull = 10us;
    engine.schedule(SimTime(kFull), later);
    engine.run();
    return ends.at.front() - kFull;
  };
  EXPECT_LT(behind(SwitchQueues::virtual_output), 370ns + 84ns + 2 * 84ns);
  EXPECT_GT(behind(SwitchQueues::fifo), 370ns + 84ns + 25 * 240ns);  // two credits a packet
}

TEST(NetworkPackets, NameWhatIsInTheWay) {
  const auto paths = [](const NetworkConfig& c) {
    std::vector<std::string_view> out;
    for (const PacketObstacle& obstacle : packet_obstacles(c)) out.push_back(obstacle.path);
    return out;
  };
  using Paths = std::vector<std::string_view>;
  EXPECT_EQ(paths(adapter()), Paths{});
  NetworkConfig c = adapter();
  c.packet_level->credits.value = 1;
  c.packet_level->cut_through.value = 349ns;
  EXPECT_EQ(paths(c), (Paths{"packet_level.credits", "packet_level.cut_through"}));
  c = adapter();
  c.packet_level->flight.value = 0ns;
  c.packet_header.value = 0_B;
  EXPECT_EQ(paths(c), (Paths{"packet_level.flight", "packet_header"}));
  c.packet_level.reset();
  EXPECT_EQ(paths(c), Paths{"packet_level"});
}

}  // namespace
}  // namespace tiersim::network_packet_test
