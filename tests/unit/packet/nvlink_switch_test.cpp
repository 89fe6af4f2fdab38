// Queues of the switch, and its sums and multicasts.
#include <gtest/gtest.h>

#include "sim/base/rng.hpp"
#include "sim/core/engine.hpp"
#include "tests/unit/packet/nvlink_h100.hpp"

namespace tiersim::nvlink_switch_test {
namespace {

using namespace testing;

// Inputs 0 ... n - 1 send to outputs n ... 2 n - 1, drawn for each packet, and always have some.
class Saturated final : public FabricListener {
 public:
  Saturated(std::size_t ports, bool one_queue, int depth)
      : ports_(ports), fabric_(engine_, shape(one_queue)) {
    for (std::size_t src = 0; src < ports_; ++src)
      for (int i = 0; i < depth; ++i) send(src);
  }
  /// Share of the outputs' time with packets.
  double run(std::int64_t packets) {
    left_ = packets;
    engine_.run();
    const Duration time = ended_ - SimTime{};
    const Duration each =
        fabric_.shape().wire_bytes(fabric_.shape().packet) / fabric_.shape().link_rate;
    const Duration all = repeated(each, at_end_);
    return to_seconds(all) / to_seconds(time) / static_cast<double>(ports_);
  }
  void on_done(Engine& engine, std::uint64_t src) override {
    if (left_ == 0) return;
    --left_;
    ++at_end_;
    ended_ = engine.now();
    send(src);
  }

 private:
  FabricShape shape(bool one_queue) const {
    FabricShape s = shape_of(h100_node(), 2 * static_cast<std::int64_t>(ports_));
    s.links = 1;
    s.credits = 0;
    s.ack_every = 0;
    s.one_queue = one_queue;
    return s;
  }
  void send(std::size_t src) {
    const std::size_t dst = ports_ + rng_.below(ports_);
    fabric_.post({.src = src, .dst = dst, .bytes = 256_B, .listener = this, .tag = src});
  }

  std::size_t ports_;
  Rng rng_{3, "outputs"};
  Engine engine_;
  PacketFabric fabric_;
  std::int64_t left_ = 0;
  std::int64_t at_end_ = 0;
  SimTime ended_{};
};

// Karol, Hluchyj and Morgan 1987, table I: with one queue an input, what all outputs together carry
// of uniform traffic. The share of n outputs that a slot serves varies by less than 0.2, so that
// its mean over 30000 / (0.6 n) slots is known to 0.2 / sqrt(6000) = 0.003 for 8 ports (slots are
// nearly independent); the first 64 packets an input leave in turns and not in the order drawn,
// which is 2 % of all and up to 0.4 better. Three of the first and all of the second are 0.02.
TEST(NvlinkSwitch, OneQueueAnInputLosesWhatKarolHluchyjAndMorganFound) {
  EXPECT_NEAR(Saturated(2, true, 64).run(30'000), 0.75, 0.02);
  EXPECT_NEAR(Saturated(4, true, 64).run(30'000), 0.6553, 0.02);
  EXPECT_NEAR(Saturated(8, true, 64).run(30'000), 0.6184, 0.02);
}

// About 45 packets an input are on the way, the others in its queues for 8 outputs: 56 for each on
// average, so that hardly one runs dry. Filling and draining 550 ns of 46 us is what is lost.
TEST(NvlinkSwitch, AQueueForEachOutputLosesNearlyNothing) {
  EXPECT_GT(Saturated(8, false, 500).run(30'000), 0.98);
}

TEST(NvlinkSwitch, ManyToOneFillsTheReceiverAndSharesItFairly) {
  for (const std::int64_t gpus : {3, 5, 8}) {
    const NvlinkProbeResult r = run_nvlink_probe(
        h100_node(), {.pattern = NvlinkPattern::incast, .gpus = gpus, .bytes = 16_MiB});
    // The port's 399.6 GB/s with 16 B on 256; 550 ns of 84 us and more are below 1 %.
    EXPECT_NEAR(r.bandwidth / 1e9, 399.6 * 256 / 272, 0.01 * 376);
    // When the first flow ends, round robin has left none behind: all end at once, but for the
    // packets of one turn on each link.
    EXPECT_LT(to_seconds(r.latency.longest - r.latency.p50) * 1e9, 200) << gpus;
  }
}

TEST(NvlinkSwitch, ASmallFlowIsNotHeldUpByABurstToAnotherPort) {
  const auto time_with = [](bool burst, bool one_queue) {
    FabricShape s = shape_of(h100_node(), 4);
    s.one_queue = one_queue;
    Engine engine;
    PacketFabric fabric(engine, s);
    if (burst)
      for (const std::size_t src : {0U, 1U}) fabric.post({.src = src, .dst = 2, .bytes = 1_MiB});
    engine.run_until(SimTime(Duration(1us)));
    class Last final : public FabricListener {
     public:
      void on_done(Engine& e, std::uint64_t) override { at = e.now(); }
      SimTime at{};
    } last;
    fabric.post({.src = 0, .dst = 3, .bytes = 64_KiB, .listener = &last});
    engine.run();
    return last.at - SimTime(Duration(1us));
  };
  const Duration alone = time_with(false, false);
  EXPECT_EQ(alone, time_with(false, true));
  // Its port gives it every second turn: 64 KiB then take at most twice the time on the wire.
  const Duration wire = Bytes::from_base(256 * 272) / 399_GBps;
  EXPECT_LE(time_with(true, false), alone + wire + 100ns);
  // Behind packets that wait for a port that two share, it has to wait as long as they do.
  EXPECT_GT(time_with(true, true), time_with(true, false) + wire / 2);
}

// 3 GPUs, 640 B: each gives the switch its 10 packets, the reader gets 10, and sends 10 requests
// that go to all three.
TEST(NvlinkSwitch, ASumTakesAllOfEachPortAndGivesOne) {
  FabricShape s = shape_of(h100_node(), 3);
  Engine engine;
  PacketFabric fabric(engine, s);
  fabric.post({.op = FabricOp::reduce, .src = 1, .bytes = 2560_B});
  engine.run();
  for (std::size_t gpu = 0; gpu < 3; ++gpu) {
    EXPECT_EQ(fabric.port(gpu).payload_out, 2560_B);
    EXPECT_EQ(fabric.port(gpu).payload_in, gpu == 1 ? 2560_B : 0_B);
    EXPECT_EQ(fabric.port(gpu).packets_out, gpu == 1 ? 20 : 10);
    EXPECT_EQ(fabric.port(gpu).packets_in, gpu == 1 ? 20 : 10);
  }
}

TEST(NvlinkSwitch, ACopyLeavesOnceAndReachesAllPorts) {
  Engine engine;
  PacketFabric fabric(engine, shape_of(h100_node(), 3));
  fabric.post({.op = FabricOp::multicast, .src = 1, .bytes = 2560_B});
  engine.run();
  for (std::size_t gpu = 0; gpu < 3; ++gpu) {
    EXPECT_EQ(fabric.port(gpu).payload_out, gpu == 1 ? 2560_B : 0_B);
    EXPECT_EQ(fabric.port(gpu).payload_in, 2560_B);
  }
}

// One sum at a time on each link: 18 packets every round trip, of a request (16 B), its answers and
// the sum: 2 ways of 550 ns, 50 ns to add up, 0.7 ns of a request and 12.3 ns of a sum on the wire.
TEST(NvlinkSwitch, FewSumsAtATimeLimitTheRate) {
  FabricShape s = shape_of(h100_node(), 3);
  s.reductions = 1;
  Engine engine;
  PacketFabric fabric(engine, s);
  class Last final : public FabricListener {
   public:
    void on_done(Engine& e, std::uint64_t) override { at = e.now(); }
    SimTime at{};
  } last;
  fabric.post({.op = FabricOp::reduce, .src = 0, .bytes = 256_B * (18 * 10), .listener = &last});
  engine.run();
  // Credits of a sum are at the link, so the way from the kernel counts once only.
  const double round = 1150 - to_seconds(s.inject) * 1e9 + 0.7 + 12.3;
  EXPECT_NEAR(to_seconds(last.at.time_since_epoch()) * 1e9, 10 * round + 165, 5);
}

}  // namespace
}  // namespace tiersim::nvlink_switch_test
