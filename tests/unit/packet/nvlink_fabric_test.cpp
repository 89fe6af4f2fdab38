// Ports, wires, credits and acknowledgements of the packet fabric against numbers worked out by
// hand, and its invariants.
#include <gtest/gtest.h>

#include "sim/base/rng.hpp"
#include "sim/config/describe.hpp"
#include "sim/core/engine.hpp"
#include "tests/unit/packet/fabric_ends.hpp"
#include "tests/unit/packet/nvlink_h100.hpp"

namespace tiersim::nvlink_fabric_test {
namespace {

using namespace testing;

// One link of 1 GB/s: a nanosecond a byte. 100 + 10 + 50 + 10 + 100 = 270 ns one way.
FabricShape round_fabric() {
  FabricShape s;
  s.gpus = 3;
  s.links = 1;
  s.link_rate = 1_GBps;
  s.packet = 64_B;
  s.sector = 16_B;
  s.header = 16_B;
  s.flit = 16_B;
  s.inject = 100ns;
  s.flight = 10ns;
  s.cut_through = 50ns;
  s.eject = 100ns;
  s.credit_return = 30ns;
  s.reduce = 20ns;
  return s;
}

Duration time_of(const FabricShape& shape, FabricMessage message) {
  Engine engine;
  PacketFabric fabric(engine, shape);
  FabricEnds ends;
  message.listener = &ends;
  fabric.post(message);
  engine.run();
  return ends.at.at(0);
}

TEST(PacketFabric, APacketTakesTheWayAndItsTimeOnOneWire) {
  EXPECT_EQ(round_fabric().one_way(), 270ns);
  // Cut-through: the second wire begins before the first has ended. 16 B of header each.
  EXPECT_EQ(time_of(round_fabric(), {.dst = 1, .bytes = 64_B}), 270ns + 80ns);
  EXPECT_EQ(time_of(round_fabric(), {.dst = 1, .bytes = 1_B}), 270ns + 32ns);  // a whole sector
  EXPECT_EQ(time_of(round_fabric(), {.dst = 1, .bytes = 640_B}), 270ns + 10 * 80ns);
}

TEST(PacketFabric, AReadIsARequestOneWayAndDataTheOther) {
  FabricShape s = round_fabric();
  const FabricMessage read{.op = FabricOp::read, .dst = 1, .bytes = 64_B};
  EXPECT_EQ(time_of(s, read), 270ns + 16ns + 270ns + 80ns);
  s.memory = 300ns;
  EXPECT_EQ(time_of(s, read), 270ns + 16ns + 300ns + 270ns + 80ns);
  // Ten requests leave together, their data one after the other.
  EXPECT_EQ(time_of(s, {.op = FabricOp::read, .dst = 1, .bytes = 640_B}),
            270ns + 16ns + 300ns + 270ns + 10 * 80ns);
}

TEST(PacketFabric, AMessageIsStripedOverTheLinks) {
  FabricShape s = round_fabric();
  s.links = 4;
  EXPECT_EQ(time_of(s, {.dst = 1, .bytes = 256_B}), 270ns + 80ns);
  EXPECT_EQ(time_of(s, {.dst = 1, .bytes = 257_B}), 270ns + 80ns + 32ns);
}

TEST(PacketFabric, APacedMessageGivesNoMoreThanItsPace) {
  // A packet of 64 B every 640 ns.
  EXPECT_EQ(time_of(round_fabric(),
                    {.dst = 1, .bytes = 640_B, .pace = Bandwidth::from_base(100'000'000)}),
            9 * 640ns + 270ns + 80ns);
}

TEST(PacketFabric, AWriteIsKnownAtItsSenderAfterItsAcknowledgement) {
  FabricShape s = round_fabric();
  s.ack_every = 4;
  FabricMessage write{.dst = 1, .bytes = 64_B, .until_acknowledged = true};
  // The acknowledgement is made at the far port's link: flight, switch, flight, ejection.
  EXPECT_EQ(time_of(s, write), 270ns + 80ns + 170ns + 16ns);
}

TEST(PacketFabric, SmallWritesShareAcknowledgementsUnlessTheirSenderWaits) {
  for (const bool waits : {false, true}) {
    FabricShape s = round_fabric();
    s.ack_every = 16;
    Engine engine;
    PacketFabric fabric(engine, s);
    for (int i = 0; i < 32; ++i)
      fabric.post({.dst = 1, .bytes = 64_B, .until_acknowledged = waits});
    engine.run();
    EXPECT_EQ(fabric.port(1).packets_out, waits ? 32 : 2);
  }
}

TEST(PacketFabric, OneAcknowledgementCoversSeveralWrites) {
  for (const std::int64_t every : {1, 4, 16}) {
    FabricShape s = round_fabric();
    s.ack_every = every;
    Engine engine;
    PacketFabric fabric(engine, s);
    fabric.post({.dst = 1, .bytes = 64_B * 32});
    engine.run();
    EXPECT_EQ(fabric.port(1).packets_out, 32 / every);
    EXPECT_EQ(fabric.port(0).wire_in, 16_B * (32 / every));
  }
}

// 2 packets of 5 flits may be in a queue. Their credits are back after the packet has gone the 60
// ns into and through the switch, its 80 ns on the second wire, and 30 ns: so 2 packets in 170 ns.
TEST(PacketFabric, FewCreditsLimitTheRateToTheBufferOverTheirRound) {
  FabricShape s = round_fabric();
  s.credits = 10;
  EXPECT_EQ(time_of(s, {.dst = 1, .bytes = 64_B * 20}), 9 * 170ns + 270ns + 2 * 80ns);
  s.credits = 15;  // 3 take 240 ns on the wire, which is longer
  EXPECT_EQ(time_of(s, {.dst = 1, .bytes = 64_B * 20}), 270ns + 20 * 80ns);
}

TEST(PacketFabric, ARoundTripOfReadsAndWritesSharesTheWires) {
  // Out: 16 B a read and 80 B a write; each link carries both at once.
  Engine engine;
  PacketFabric fabric(engine, round_fabric());
  fabric.post({.op = FabricOp::read, .src = 0, .dst = 1, .bytes = 6400_B});
  fabric.post({.op = FabricOp::write, .src = 0, .dst = 1, .bytes = 6400_B});
  engine.run();
  EXPECT_EQ(fabric.port(0).wire_out, 100 * 96_B);
  EXPECT_EQ(fabric.port(0).wire_in, 100 * 80_B);
  EXPECT_EQ(fabric.port(0).payload_out, 6400_B);
  EXPECT_EQ(fabric.port(0).payload_in, 6400_B);
  EXPECT_EQ(fabric.port(2).packets_in, 0);
}

void post_random(PacketFabric& fabric, Engine& engine, FabricEnds& ends, std::uint64_t seed) {
  Rng rng(seed, "messages");
  const auto gpus = static_cast<std::uint64_t>(fabric.shape().gpus);
  const std::array flows{std::uint64_t{0}, fabric.new_flow(), fabric.new_flow()};
  for (std::uint64_t i = 0; i < 60; ++i) {
    FabricMessage m{.src = rng.below(gpus), .listener = &ends, .tag = i};
    m.op = static_cast<FabricOp>(rng.below(fabric.shape().one_queue ? 2 : 4));
    m.dst = (m.src + 1 + rng.below(gpus - 1)) % gpus;
    m.bytes = Bytes::from_base(1 + static_cast<std::int64_t>(rng.below(3000)));
    m.address = static_cast<std::int64_t>(rng.below(1000)) * 64;
    m.flow = flows[rng.below(3)];
    // One flow goes one way.
    if (m.flow != 0) m.dst = (m.src + m.flow % (gpus - 1) + 1) % gpus;
    if (m.flow != 0) m.op = FabricOp::write;
    if (rng.below(4) == 0) m.pace = Bandwidth::from_base(200'000'000);
    const auto when = static_cast<std::int64_t>(rng.below(3'000'000));
    ends.messages.push_back(m);
    engine.call_at(SimTime(Duration(when)), [&fabric, &ends, i] { fabric.post(ends.messages[i]); });
  }
}

FabricShape random_shape(std::uint64_t seed) {
  Rng rng(seed, "shape");
  FabricShape s = round_fabric();
  s.gpus = 2 + static_cast<std::int64_t>(rng.below(4));
  s.links = 1 + static_cast<std::int64_t>(rng.below(4));
  s.credits = rng.below(3) == 0 ? 0 : 5 + static_cast<std::int64_t>(rng.below(20));
  s.ack_every = static_cast<std::int64_t>(rng.below(4));
  s.reductions = static_cast<std::int64_t>(rng.below(4));
  s.one_queue = rng.below(3) == 0;
  return s;
}

// Entities are advanced in windows only to save events: a shorter window changes no time.
TEST(PacketFabric, NoResultDependsOnTheWindow) {
  for (std::uint64_t seed = 0; seed < 20; ++seed) {
    std::vector<std::vector<Duration>> results;
    for (const Duration window : {Duration{}, Duration(7919), Duration(1000)}) {
      FabricShape s = random_shape(seed);
      s.window = window;
      Engine engine;
      PacketFabric fabric(engine, s);
      FabricEnds ends;
      post_random(fabric, engine, ends, seed);
      engine.run();
      EXPECT_EQ(ends.at.size(), 60U) << "seed " << seed;
      results.push_back(ends.at);
    }
    EXPECT_EQ(results[0], results[1]) << "seed " << seed;
    EXPECT_EQ(results[0], results[2]) << "seed " << seed;
  }
}

TEST(PacketFabric, PacketsAndCreditsAreConservedAtEveryInstant) {
  for (std::uint64_t seed = 0; seed < 20; ++seed) {
    Engine engine;
    PacketFabric fabric(engine, random_shape(seed));
    FabricEnds ends;
    post_random(fabric, engine, ends, seed);
    const auto expect = [&] {
      const FabricCounters c = fabric.counters();
      EXPECT_EQ(c.entered + c.made, c.merged + c.left + c.queued) << "seed " << seed;
      EXPECT_EQ(c.credits_issued, c.credits_promised + c.credits_held) << "seed " << seed;
    };
    for (std::int64_t us = 0; us < 40; ++us) {
      engine.run_until(SimTime(Duration(us * 333'333)));
      expect();
    }
    engine.run();
    expect();
    EXPECT_EQ(fabric.counters().queued, 0) << "seed " << seed;
    EXPECT_EQ(fabric.counters().credits_held, 0) << "seed " << seed;
    EXPECT_EQ(fabric.counters().messages_open, 0) << "seed " << seed;
  }
}

TEST(NvlinkPacket, TheWayIsThatOfTheFlowLevel) {
  EXPECT_EQ(shape_of(h100_node(), 8).one_way(), 350ns + 200ns);
  NvlinkNode odd = h100_node();
  odd.port.latency.value = Duration(700'003);
  EXPECT_EQ(shape_of(odd, 8).one_way(), Duration(350'002) + 200ns);  // half of it rounds up
}

TEST(NvlinkPacket, WiresLongerThanThePortsLatencyAreToldApart) {
  NvlinkNode node = h100_node();
  EXPECT_TRUE(leaves_endpoints(node.port, node.packet));
  node.packet.flight.value = 175ns;
  EXPECT_FALSE(leaves_endpoints(node.port, node.packet));
}

template <class Config>
std::string mistakes_in(const std::string& text) {
  Diagnostics diagnostics;
  const Document document =
      load_text("schema: tiersim.packet/v1\n" + text, "p.yaml", {}, diagnostics);
  static_cast<void>(read<Config>(document, "packet", diagnostics));
  return diagnostics.text();
}

TEST(NvlinkPacket, AMistakeIsToldWhereItStands) {
  EXPECT_EQ(mistakes_in<NvlinkPacketConfig>("links: 18\ncredits: 0\nflight: 10 ns\n"), "");
  EXPECT_EQ(mistakes_in<NvlinkPacketConfig>("links: 0\n"),
            "p.yaml:2:8: error: links: '0' is out of range (allowed: 1 to 256)\n");
  EXPECT_EQ(mistakes_in<NvlinkPacketConfig>("credit: 4\n"),
            "p.yaml:2:1: error: unknown key 'credit' (did you mean 'credits'?)\n");
  EXPECT_EQ(mistakes_in<NvswitchPacketConfig>("queues: one\n"),
            "p.yaml:2:9: error: queues: unknown value 'one' (one of: virtual_output, fifo)\n");
  EXPECT_EQ(mistakes_in<CollectivePacketConfig>("ll: {chunk: 0 B}\n"),
            "p.yaml:2:13: error: ll.chunk: '0 B' is out of range (allowed: 1 B to 1 GiB)\n");
}

}  // namespace
}  // namespace tiersim::nvlink_fabric_test
