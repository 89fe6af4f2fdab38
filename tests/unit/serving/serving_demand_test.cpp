// Demands of operations on one replica's hardware, on the small system: HBM of 100 GB/s and 100 ns,
// a launch of 1 us, 1 TFLOP/s.
#include "sim/serving/demand.hpp"

#include <gtest/gtest.h>

#include "sim/serving/demand_cache.hpp"
#include "tests/unit/step/small_system.hpp"

namespace tiersim::serving_demand_test {
namespace {

using namespace std::chrono_literals;
using namespace literals;
using testing::copy;
using testing::empty_graph;
using testing::kernel;
using testing::small_system;

constexpr Flops kFlop = Flops::from_base(1);

ChannelId channel(const System& system, std::string_view name) {
  for (std::size_t c = 0; c < system.channels().size(); ++c)
    if (system.channels()[c].name == name) return ChannelId(c);
  ADD_FAILURE() << name;
  return {};
}

Demand of(const System& system, const std::vector<Op>& ops) {
  Demand out(system);
  for (const Op& op : ops) out.add(system.plan(op), system);
  return out;
}

TEST(Demand, AddsTheTimesOfOperationsAlone) {
  const System system(small_system());
  const Op reads = kernel(system, 100'000_B, 0 * kFlop);       // 1 us of bytes
  const Op computes = kernel(system, 0_B, 3'000'000 * kFlop);  // 3 us
  const Demand sum = of(system, {reads, computes});
  EXPECT_EQ(sum.time(), 1us + 100ns + 1us + 1us + 3us);
  EXPECT_EQ(sum.kernels(), 2);
  EXPECT_EQ(sum.busy(channel(system, "hbm.bus")), 100'000_B);
  EXPECT_EQ(sum.payload(system.device(system.tier("hbm")), Direction::read), 100'000_B);
  EXPECT_EQ(sum.payload(system.device(system.tier("hbm")), Direction::write), 0_B);
}

TEST(Demand, OfACopyIsNoKernel) {
  const System system(small_system());
  const Demand sum = of(system, {copy(system, 8'000'000_B)});
  EXPECT_EQ(sum.kernels(), 0);
  EXPECT_EQ(sum.time(), 500ns + 1ms);  // at 8 GB/s
  EXPECT_EQ(sum.payload(system.device(system.tier("pool")), Direction::read), 8'000'000_B);
  EXPECT_EQ(sum.payload(system.device(system.tier("hbm")), Direction::write), 8'000'000_B);
}

TEST(Demand, AddsAnotherSoManyTimes) {
  const System system(small_system());
  const Demand one = of(system, {kernel(system, 1'000_B, 7 * kFlop)});
  Demand sum = one;
  sum.add(one, 31);
  EXPECT_EQ(sum.time(), 32 * one.time());
  EXPECT_EQ(sum.kernels(), 32);
  EXPECT_EQ(sum.busy(channel(system, "hbm.bus")), 32'000_B);
  sum.clear();
  EXPECT_EQ(sum.time(), Duration{});
}

TEST(Demand, GoesAsFarFromOneToAnotherAsItIsAsked) {
  const System system(small_system());
  const Demand low = of(system, {kernel(system, 1'000_B, 0 * kFlop)});
  const Demand high = of(system, {kernel(system, 5'000_B, 0 * kFlop)});
  const auto bytes = [&](std::int64_t part) {
    Demand sum(system);
    sum.add_between(low, high, part, 4);
    EXPECT_EQ(sum.kernels(), 1);
    return sum.busy(channel(system, "hbm.bus"));
  };
  EXPECT_EQ(bytes(0), 1'000_B);
  EXPECT_EQ(bytes(1), 2'000_B);
  EXPECT_EQ(bytes(4), 5'000_B);
}

// Both GPUs of a replica do the same at the same time and contend on the link that they share.
TEST(Demand, IsOfAllGpusOfTheReplicaThatShareADevice) {
  SystemConfig config = small_system();
  config.gpus.count = 2;
  config.shared.all = {"pcie", "pool"};
  const System system(config);
  const Demand sum = of(system, {copy(system, 8'000'000_B)});
  EXPECT_EQ(sum.busy(channel(system, "pcie.to_gpu")), 2 * 8'000'020_B);
  EXPECT_EQ(sum.payload(system.device(system.tier("pool")), Direction::read), 16'000'000_B);
  EXPECT_EQ(sum.payload(system.device(system.tier("hbm")), Direction::write), 8'000'000_B);
  EXPECT_EQ(sum.time(), 500ns + 2 * 8'000'020_B / 10_GBps);
}

TEST(Demand, BeyondWhatCanBeCountedIsAnError) {
  const System system(small_system());
  const Demand one = of(system, {kernel(system, 1'000_B, 0 * kFlop)});
  Demand sum(system);
  EXPECT_THROW(sum.add(one, std::int64_t{1} << 62), UnitOverflow);
}

TEST(DemandCache, MakesADemandOnceAndAnotherKeysNever) {
  const System system(small_system());
  DemandCache cache;
  int made = 0;
  const auto get = [&](std::int64_t bytes) {
    return cache
        .get({bytes},
             [&] {
               ++made;
               return of(system, {kernel(system, Bytes::from_base(bytes), 0 * kFlop)});
             })
        .busy(channel(system, "hbm.bus"));
  };
  EXPECT_EQ(get(1), 1_B);
  EXPECT_EQ(get(1), 1_B);
  EXPECT_EQ(made, 1);
  // More keys than there are slots: each still gets its own.
  for (std::int64_t bytes = 1; bytes < 20'000; ++bytes)
    ASSERT_EQ(get(bytes), Bytes::from_base(bytes));
}

}  // namespace
}  // namespace tiersim::serving_demand_test
