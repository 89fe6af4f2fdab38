#include "sim/step/executor.hpp"

#include <gtest/gtest.h>

#include "sim/step/bound.hpp"
#include "tests/unit/step/small_system.hpp"

namespace tiersim::executor_test {
namespace {

using namespace std::chrono_literals;
using namespace literals;
using testing::copy;
using testing::empty_graph;
using testing::kernel;
using testing::small_system;

Execution run(const StepGraph& graph, const System& system) {
  return execute(graph, system, system.plan(graph));
}

TEST(Executor, AChainTakesExactlyItsBound) {
  const System system(small_system());
  StepGraph graph = empty_graph(system);
  OpId last = graph.add(copy(system, 1'234'567_B));
  for (int i = 0; i < 50; ++i) {
    last = graph.add(kernel(system, 333'333_B, Flops::from_base(12'345'678), {last}));
    last = graph.add(copy(system, 77'777_B, {last}));
  }
  EXPECT_EQ(run(graph, system).time, bound_of(graph, system, system.plan(graph)).time);
}

TEST(Executor, ConcurrentCopiesShareTheirEngine) {
  const System system(small_system());
  StepGraph graph = empty_graph(system);
  graph.add(copy(system, 8'000'000_B));
  graph.add(copy(system, 8'000'000_B));
  // 500 ns of latency together, then each at half of 8 GB/s. A shared flow is never early and less
  // than 1 ps late for each period of constant rate (flow_network.hpp); here there is one.
  const Duration time = run(graph, system).time;
  EXPECT_GE(time, 500ns + 2ms);
  EXPECT_LE(time, 500ns + 2ms + Duration(1));
}

TEST(Executor, KernelsRunOneAtATimeInOrderOfReadiness) {
  const System system(small_system());
  StepGraph graph = empty_graph(system);
  graph.add(kernel(system, 0_B, 1_GFLOP));
  graph.add(kernel(system, 0_B, 2 * 1_GFLOP));
  const Execution e = run(graph, system);
  EXPECT_EQ(e.timings[1].start.time_since_epoch(), 1ms + 1us);
  EXPECT_EQ(e.timings[1].ready.time_since_epoch(), 0ns);
  EXPECT_EQ(e.time, 3ms + 2us);
}

// A kernel that could take all of HBM and a copy of 8 GB/s into it: the copy takes its 8, the
// kernel the other 92 until the copy ends.
TEST(Executor, CopiesIntoHbmSlowTheKernelsThatReadIt) {
  const System system(small_system());
  StepGraph graph = empty_graph(system);
  graph.add(kernel(system, 1_GB, 0 * 1_GFLOP));
  graph.add(copy(system, 8'000'000_B));
  const Duration alone = 1100ns + 10ms;
  const Execution e = run(graph, system);
  EXPECT_EQ(e.timings[1].end.time_since_epoch(), 500ns + 1ms);
  // 1 ms less 600 ns of sharing, at 92 of 100 GB/s, is caught up at 100.
  const Duration shared = 1ms - 600ns;
  EXPECT_NEAR(to_seconds(e.time - alone), to_seconds(shared) * 0.08, 2e-12);
}

TEST(Executor, ChannelsCountTheBytesThatPlansCharge) {
  const System system(small_system());
  StepGraph graph = empty_graph(system);
  OpId last = graph.add(copy(system, 5'000'000_B));
  last = graph.add(kernel(system, 7'000'000_B, 0 * 1_GFLOP, {last}));
  graph.add(copy(system, 11'000'000_B, {last}));
  const auto plans = system.plan(graph);
  std::vector<Bytes> charged(system.channels().size());
  for (const OpPlan& plan : plans)
    for (const ChannelCharge& charge : plan.charges) charged[charge.channel.index()] += charge.busy;
  EXPECT_EQ(execute(graph, system, plans).busy, charged);
}

TEST(Executor, AnEmptyGraphTakesNoTime) {
  const System system(small_system());
  EXPECT_EQ(run(empty_graph(system), system).time, Duration{});
}

}  // namespace
}  // namespace tiersim::executor_test
