#include "sim/step/time_split.hpp"
#include "hwmodels/compute/host_cpu.hpp"

#include <numeric>

#include <gtest/gtest.h>

#include "tests/unit/step/small_fabric.hpp"

namespace tiersim::time_split_test {
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
  const TimeSplit parts = split_time(graph, system, plans, e.of_gpu(0));
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

// All of a collective, start-up included, counts as collective, and all work of the CPU as host.
TEST(TimeSplit, CollectivesAndTheHostHaveTheirOwnStartUp) {
  for (const bool each : {false, true}) {
    SystemConfig config = testing::small_fabric(4);
    config.host.emplace().step.value = 2ms;
    if (each) config = testing::each_simulated(std::move(config));
    const System system(config);
    StepGraph graph = empty_graph(system);
    OpId last = graph.add({.kind = OpKind::host, .phase = Phase::host, .flops = {}});
    last = graph.add(kernel(system, 1'000'000_B, 0 * 1_GFLOP, {last}));  // 1.1 us + 10 us
    last = graph.add(testing::all_reduce(system, 1'000'000_B, 2, {last}));
    Op send = testing::collective(system, CollectiveKind::send, 1'000'000_B, 2, {last});
    send.phase = Phase::kv_transfer;
    graph.add(send);
    const TimeSplit parts = split(system, graph);
    EXPECT_EQ(part(parts, TimePart::host), 2ms);
    EXPECT_EQ(part(parts, TimePart::weights), 10us);
    EXPECT_EQ(part(parts, TimePart::collective), 100ns + 100us);
    EXPECT_EQ(part(parts, TimePart::link_wait), 100us);
    EXPECT_EQ(part(parts, TimePart::latency), 1100ns + 200ns);
  }
}

// Copies of weights are waits for weights, and CPUs that attend read keys and values.
TEST(TimeSplit, WeightsThatAreCopiedAreWeightsAndAttentionOnTheCpuIsKv) {
  SystemConfig config = testing::small_system();
  HostCpuConfig cpu;
  cpu.attention.value = 1_GBps;
  config.cpu = testing::fixed<Requester>(cpu);
  const System system(config);
  StepGraph graph = empty_graph(system);
  Op copy{.kind = OpKind::transfer,
          .phase = Phase::weight_copy,
          .requester = RequesterKind::copy_engine,
          .flops = {}};
  copy.accesses.push_back(
      {system.tier("pool"), Direction::read, TensorClass::weights, 8'000'000_B, 8'000'000_B});
  Op attend{.kind = OpKind::transfer,
            .phase = Phase::attention,
            .requester = RequesterKind::cpu,
            .flops = {}};
  attend.accesses.push_back(
      {system.tier("pool"), Direction::read, TensorClass::keys, 1'000'000_B, 1'000'000_B});
  attend.after = {graph.add(copy)};
  graph.add(attend);
  const TimeSplit parts = split(system, graph);
  EXPECT_EQ(part(parts, TimePart::weights), 1ms);  // at 8 GB/s
  EXPECT_EQ(part(parts, TimePart::kv), 1ms);
  EXPECT_EQ(part(parts, TimePart::link_wait), Duration{});
}

// The wait for the other GPUs of a group counts as collective.
TEST(TimeSplit, WaitingForOtherGpusIsPartOfTheCollective) {
  const System system(testing::small_fabric(2));
  StepGraph graph = empty_graph(system);
  const OpId first = graph.add(kernel(system, 0_B, 1_GFLOP));  // 1 us + 1 ms
  graph.add(testing::all_reduce(system, 1'000'000_B, 2, {first}));
  const auto plans = system.plan(graph);
  Execution e = execute(graph, system, plans);
  for (SimTime OpTiming::*time : {&OpTiming::start, &OpTiming::flow, &OpTiming::end})
    e.timings[1].*time += 30us;  // another GPU came so late
  const TimeSplit parts = split_time(graph, system, plans, e.of_gpu(0));
  EXPECT_EQ(part(parts, TimePart::collective), 30us + 100ns + 100us);
  EXPECT_EQ(std::accumulate(parts.begin(), parts.end(), Duration{}), e.time + 30us);
}

}  // namespace
}  // namespace tiersim::time_split_test
