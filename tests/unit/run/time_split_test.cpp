#include "sim/run/time_split.hpp"

#include <numeric>

#include <gtest/gtest.h>

#include "tests/unit/run/small_system.hpp"

namespace tiersim {
namespace {

using namespace std::chrono_literals;
using namespace literals;
using testing::copy;
using testing::empty_graph;
using testing::kernel;
using testing::small_system;

TimeSplit split(const System& system, const StepGraph& graph) {
  const auto plans = system.plan(graph);
  const Execution e = execute(graph, system, plans);
  const TimeSplit parts = split_time(graph, system, plans, e.timings);
  EXPECT_EQ(std::accumulate(parts.begin(), parts.end(), Duration{}), e.time);
  return parts;
}
Duration part(const TimeSplit& parts, TimePart which) {
  return parts[static_cast<std::size_t>(which)];
}

TEST(TimeSplit, EachOperationOfAChainGoesWhereItsTimeWent) {
  const System system(small_system());
  StepGraph graph = empty_graph(system);
  OpId last = graph.add(kernel(system, 1'000'000_B, 0 * 1_GFLOP));  // weights: 10 us
  last = graph.add(kernel(system, 1'000_B, 1_GFLOP, {last}));       // arithmetic: 1 ms
  last = graph.add(copy(system, 8'000'000_B, {last}));              // link: 1 ms
  Op screening = kernel(system, 2'000'000_B, 0 * 1_GFLOP, {last});  // 20 us
  screening.phase = Phase::screening;
  last = graph.add(screening);
  Op attention = kernel(system, 3'000'000_B, 0 * 1_GFLOP, {last});  // 30 us
  attention.phase = Phase::attention;
  graph.add(attention);
  const TimeSplit parts = split(system, graph);
  EXPECT_EQ(part(parts, TimePart::weights), 10us);
  EXPECT_EQ(part(parts, TimePart::compute), 1ms);
  EXPECT_EQ(part(parts, TimePart::link_wait), 1ms);
  EXPECT_EQ(part(parts, TimePart::screening), 20us);
  EXPECT_EQ(part(parts, TimePart::kv), 30us);
  EXPECT_EQ(part(parts, TimePart::latency), 4 * 1100ns + 500ns);
}

TEST(TimeSplit, WhatOverlapsALongerChainIsNotCounted) {
  const System system(small_system());
  StepGraph graph = empty_graph(system);
  graph.add(copy(system, 8'000'000_B));         // 1 ms beside
  graph.add(kernel(system, 0_B, 2 * 1_GFLOP));  // 2 ms
  const TimeSplit parts = split(system, graph);
  EXPECT_EQ(part(parts, TimePart::link_wait), 0us);
  EXPECT_EQ(part(parts, TimePart::compute), 2ms);
}

TEST(TimeSplit, AWaitForTheComputeUnitIsTheTimeOfTheKernelThatHasIt) {
  const System system(small_system());
  StepGraph graph = empty_graph(system);
  graph.add(kernel(system, 0_B, 2 * 1_GFLOP));
  graph.add(kernel(system, 100'000'000_B, 0 * 1_GFLOP));  // ready at once, runs second: 1 ms
  const TimeSplit parts = split(system, graph);
  EXPECT_EQ(part(parts, TimePart::compute), 2ms);
  EXPECT_EQ(part(parts, TimePart::weights), 1ms);
}

}  // namespace
}  // namespace tiersim
