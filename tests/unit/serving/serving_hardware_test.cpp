// Replicas on the devices of the small system: a copy engine of 8 GB/s, PCIe of 10 GB/s with 20 B
// of headers a copy, HBM of 100 GB/s.
#include "sim/core/engine.hpp"
#include "sim/serving/hardware.hpp"

#include <algorithm>

#include <gtest/gtest.h>

#include "tests/unit/step/small_fabric.hpp"

namespace tiersim::serving_hardware_test {
namespace {

using namespace std::chrono_literals;
using namespace literals;
using testing::copy;
using testing::kernel;
using testing::small_system;

constexpr Flops kFlop = Flops::from_base(1);

// Replicas with `gpus` GPUs of the system each.
class Replicas {
 public:
  explicit Replicas(const SystemConfig& config, std::int64_t gpus = 1)
      : all_(config),
        one_(config, {}, {}, gpus),
        network_(engine_),
        hardware_(engine_, network_, all_, one_, config.gpus.count / gpus,
                  [this](ChannelId channel, SimTime from, SimTime to, Duration busy) {
                    uses.push_back({all_.channels()[channel.index()].name, to - from, busy});
                  }) {}

  const System& one() const { return one_; }
  void copies(std::int64_t replica, Bytes bytes) {
    engine_.spawn(copying(replica, one_.plan(copy(one_, bytes)), {}));
  }
  void sends(std::int64_t replica, const Op& op, std::int64_t receiver) {
    engine_.spawn(copying(replica, one_.plan(op), {&hardware_, receiver, one_.plan_receipt(op)}));
  }
  void works(std::int64_t replica, const Op& op) {
    Demand demand(one_);
    demand.add(one_.plan(op), one_);
    engine_.spawn(working(replica, std::move(demand)));
  }
  /// Until all is done.
  Duration run() {
    engine_.run();
    engine_.end_processes();
    const FlowTotals totals = network_.totals();
    EXPECT_EQ(totals.payload_started, totals.payload_finished);
    return engine_.now().time_since_epoch();
  }
  Bytes taken(std::string_view channel) const {
    for (std::size_t c = 0; c < all_.channels().size(); ++c)
      if (all_.channels()[c].name == channel) return hardware_.taken()[c];
    ADD_FAILURE() << channel;
    return {};
  }

  struct Use {
    std::string channel;
    Duration time;
    Duration busy;
  };
  std::vector<Use> uses;
  std::vector<Duration> ends;  ///< in the order in which they came

 private:
  Process copying(std::int64_t replica, OpPlan plan, ServingHardware::Receiver receiver) {
    const Process moving = hardware_.copy(replica, std::move(plan), std::move(receiver));
    co_await moving;
    ends.push_back(engine_.now().time_since_epoch());
  }
  Process working(std::int64_t replica, Demand demand) {
    const Process moving = hardware_.work(replica, demand, demand.time());
    co_await moving;
    ends.push_back(engine_.now().time_since_epoch());
  }

  Engine engine_;
  System all_;
  System one_;
  FlowNetwork network_;
  ServingHardware hardware_;
};

SystemConfig gpus(std::int64_t count, std::int64_t hosts, std::vector<std::string> per_host,
                  std::vector<std::string> all) {
  SystemConfig c = small_system();
  c.gpus = {.count = count, .hosts = hosts};
  c.shared = {.host = std::move(per_host), .all = std::move(all)};
  return c;
}

// A shared flow is never early and less than 1 ps late for each period of constant rate.
void expect_just_after(Duration time, Duration expected) {
  EXPECT_GE(time, expected);
  EXPECT_LE(time, expected + Duration(2));
}

constexpr Bytes kCopy = 8'000'000_B;  // 1 ms of the copy engine, after 500 ns

TEST(ServingHardware, CopiesAsPlannedWhereNobodyElseDoes) {
  Replicas replicas(small_system());
  replicas.copies(0, kCopy);
  EXPECT_EQ(replicas.run(), 500ns + 1ms);
  EXPECT_EQ(replicas.taken("pcie.to_gpu"), 8'000'020_B);
  EXPECT_EQ(replicas.taken("pcie.from_gpu"), 24_B);  // the request
}

TEST(ServingHardware, WorksForTheTimeOfItsOperationsAlone) {
  Replicas replicas(small_system());
  replicas.works(0, kernel(replicas.one(), 1'000'000_B, 3'000'000 * kFlop));
  EXPECT_EQ(replicas.run(), 1us + 100ns + 10us);
  EXPECT_EQ(replicas.taken("hbm.bus"), 1'000'000_B);
}

TEST(ServingHardware, OfReplicasThatShareNothingDoesNotMeet) {
  Replicas replicas(gpus(4, 1, {}, {}));
  for (int r = 0; r < 4; ++r) replicas.copies(r, kCopy);
  EXPECT_EQ(replicas.run(), 500ns + 1ms);
  EXPECT_EQ(replicas.taken("pcie.to_gpu"), 4 * 8'000'020_B);
}

TEST(ServingHardware, ThatAllShareIsSharedEvenly) {
  Replicas replicas(gpus(4, 1, {}, {"pcie", "pool"}));
  for (int r = 0; r < 4; ++r) replicas.copies(r, kCopy);
  expect_just_after(replicas.run(), 500ns + 4 * 8'000'020_B / 10_GBps);
}

TEST(ServingHardware, OfAHostIsSharedByItsReplicas) {
  const SystemConfig two_hosts = gpus(4, 2, {"pcie"}, {});
  Replicas neighbours(two_hosts);
  neighbours.copies(0, kCopy);
  neighbours.copies(1, kCopy);
  expect_just_after(neighbours.run(), 500ns + 2 * 8'000'020_B / 10_GBps);
  Replicas strangers(two_hosts);
  strangers.copies(1, kCopy);
  strangers.copies(2, kCopy);
  EXPECT_EQ(strangers.run(), 500ns + 1ms);
}

// Two GPUs of a replica copy at the same time, by one link.
TEST(ServingHardware, IsChargedForEachOfAReplicasGpus) {
  Replicas replicas(gpus(4, 2, {"pcie"}, {}), 2);
  replicas.copies(0, kCopy);
  replicas.copies(1, kCopy);  // on the other host
  expect_just_after(replicas.run(), 500ns + 2 * 8'000'020_B / 10_GBps);
  EXPECT_EQ(replicas.taken("pcie.to_gpu"), 4 * 8'000'020_B);
}

TEST(ServingHardware, OfAnalyticLevelIsNotContendedFor) {
  SystemConfig config = gpus(4, 1, {}, {"pcie", "pool"});
  config.links["pcie"].level = Level::analytic;
  config.tiers["pool"].memory.level = Level::analytic;
  Replicas replicas(config);
  for (int r = 0; r < 4; ++r) replicas.copies(r, kCopy);
  EXPECT_EQ(replicas.run(), 500ns + 1ms);
  EXPECT_EQ(replicas.taken("pcie.to_gpu"), 4 * 8'000'020_B);
}

// A copy into HBM of 8 GB/s, from 500 ns on, leaves an iteration 92 of its 100 GB/s. Before that
// the iteration takes its bytes evenly over its 1 ms of bytes and 1.1 us of launch and latency.
TEST(ServingHardware, WorksLongerWhileACopyTakesOfTheSameMemory) {
  Replicas replicas(small_system());
  replicas.works(0, kernel(replicas.one(), 100'000'000_B, 0 * kFlop));
  replicas.copies(0, 10 * kCopy);
  replicas.run();
  const double before = 1e8 * 500e-9 / (1e-3 + 1.1e-6);
  const double seconds = 500e-9 + (1e8 - before) / 92e9;
  EXPECT_NEAR(to_seconds(replicas.ends.front()), seconds, 2e-12 + 1 / 92e9);  // ps, and a byte
  EXPECT_EQ(replicas.ends.back(), 500ns + 10ms);
}

// Busy time of a channel is its bytes over its capacity, of all instances together over their
// number.
TEST(ServingHardware, SaysHowLongEachChannelWasBusy) {
  Replicas replicas(gpus(4, 1, {}, {}));
  replicas.copies(2, kCopy);
  replicas.run();
  const auto found =
      std::ranges::find(replicas.uses, "copy_engine.to_gpu", &Replicas::Use::channel);
  ASSERT_NE(found, replicas.uses.end());
  EXPECT_EQ(found->time, 1ms);
  EXPECT_EQ(found->busy, 250us);
}

// Bytes that leave one port enter another: two senders to one port wait for each other there.
TEST(ServingHardware, SendsThroughThePortsOfBothEnds) {
  SystemConfig config = testing::small_fabric(4);
  config.fabrics["transfer"].collective = testing::fixed<Collective>(BytesOnlyConfig{});
  config.fabrics["transfer"].path = {"port"};
  Op send{.kind = OpKind::collective, .phase = Phase::kv_transfer, .flops = {}};
  send.collective = {
      .kind = CollectiveKind::send, .fabric = Fabric::transfer, .size = kCopy, .ranks = 2};
  Replicas apart(config);
  const Duration alone = apart.one().plan(send).uncontended(apart.one().channels());
  apart.sends(0, send, 2);
  apart.sends(1, send, 3);
  EXPECT_EQ(apart.run(), alone);
  Replicas together(config);
  together.sends(0, send, 2);
  together.sends(1, send, 2);
  expect_just_after(together.run(), alone + kCopy / 10_GBps);
  EXPECT_EQ(together.taken("port.injection"), 2 * kCopy);
  EXPECT_EQ(together.taken("port.ejection"), 2 * kCopy);
}

TEST(ServingHardware, SendsFromTheMemoryOfOneToThatOfTheOther) {
  SystemConfig config = testing::small_fabric(2);
  config.fabrics["transfer"].collective = testing::fixed<Collective>(BytesOnlyConfig{});
  config.fabrics["transfer"].path = {"port"};
  Replicas replicas(config);
  Op send{.kind = OpKind::collective, .phase = Phase::kv_transfer, .flops = {}};
  send.collective = {
      .kind = CollectiveKind::send, .fabric = Fabric::transfer, .size = kCopy, .ranks = 2};
  send.accesses = {{replicas.one().tier("hbm"), Direction::read, TensorClass::keys, kCopy, kCopy}};
  replicas.sends(0, send, 1);
  replicas.run();
  EXPECT_EQ(replicas.taken("hbm.bus"), 2 * kCopy);
}

}  // namespace
}  // namespace tiersim::serving_hardware_test
