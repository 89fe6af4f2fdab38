#include "sim/step/bound.hpp"

#include <gtest/gtest.h>

#include "tests/unit/step/small_system.hpp"

namespace tiersim::bound_test {
namespace {

using namespace std::chrono_literals;
using namespace literals;
using testing::copy;
using testing::empty_graph;
using testing::kernel;
using testing::small_system;

Bound bound(const StepGraph& graph, const System& system) {
  return bound_of(graph, system, system.plan(graph));
}

TEST(Bound, AChainIsTheSumOfItsOperations) {
  const System system(small_system());
  StepGraph graph = empty_graph(system);
  const OpId first = graph.add(copy(system, 8'000'000_B));         // 500 ns + 1 ms
  graph.add(kernel(system, 100'000'000_B, 0 * 1_GFLOP, {first}));  // 1.1 us + 1 ms
  const Bound b = bound(graph, system);
  EXPECT_EQ(b.time, 2ms + 1600ns);
  EXPECT_EQ(b.binding, "critical path");
  ASSERT_EQ(b.shares.size(), 3U);
  EXPECT_EQ(b.shares[0].time + b.shares[1].time + b.shares[2].time, b.time);
  EXPECT_EQ(b.shares[2].cause, "latency");
  EXPECT_EQ(b.shares[2].time, 1600ns);
}

TEST(Bound, ParallelWorkIsBoundByTheChannelItShares) {
  const System system(small_system());
  StepGraph graph = empty_graph(system);
  for (int i = 0; i < 10; ++i) graph.add(copy(system, 8'000'000_B));
  const Bound b = bound(graph, system);
  EXPECT_EQ(b.critical_path, 1ms + 500ns);
  EXPECT_EQ(b.time, 10ms);
  EXPECT_EQ(b.binding, "copy_engine.to_gpu");
}

TEST(Bound, KernelsShareOneComputeUnit) {
  const System system(small_system());
  StepGraph graph = empty_graph(system);
  for (int i = 0; i < 4; ++i) graph.add(kernel(system, 0_B, 1_GFLOP));
  const Bound b = bound(graph, system);
  EXPECT_EQ(b.time, 4 * (1ms + 1us));
  EXPECT_EQ(b.binding, "gpu");
}

}  // namespace
}  // namespace tiersim::bound_test
