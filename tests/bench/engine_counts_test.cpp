// Costs of the engine that may gate a change, since they are the same on every machine: the number
// of events of a piece of work, and no allocation once the pools have grown.
#include <cstddef>
#include <cstdint>

#include <gtest/gtest.h>

#include "tests/bench/engine_loops.hpp"
#include "tests/support/allocations.hpp"

namespace tiersim::bench::engine_counts_test {
namespace {

struct Counts {
  std::uint64_t done;
  std::uint64_t events;
  std::uint64_t allocations;
};

template <class Loop>
Counts count(Loop& loop, std::uint64_t warm_up, std::uint64_t units) {
  loop.run(warm_up);
  const std::uint64_t events = loop.engine().events();
  const std::uint64_t before = testing::allocations();
  const std::uint64_t done = loop.run(units);
  return {done, loop.engine().events() - events, testing::allocations() - before};
}

TEST(EngineCounts, AHeldProcessIsOneEventWithoutAllocation) {
  for (const std::size_t pending : {2U, 1000U, 30'000U}) {
    ProcessHold loop(pending);
    const Counts counts = count(loop, 10 * pending, 100'000);
    EXPECT_EQ(counts.events, counts.done);
    EXPECT_NEAR(static_cast<double>(counts.done), 1e5, 5e3) << "mean increment off";
    EXPECT_EQ(counts.allocations, 0U) << pending << " pending";
  }
}

TEST(EngineCounts, AHandlerWithPayloadIsOneEventWithoutAllocation) {
  HandlerHold loop(1000);
  const Counts counts = count(loop, 10'000, 100'000);
  EXPECT_EQ(counts.events, counts.done);
  EXPECT_EQ(counts.allocations, 0U);
}

// Events of a customer: the arrival, its start, its service, and its wake-up where it had to wait,
// which at load 0.8 are four customers in five.
TEST(EngineCounts, ACustomerIsFourEventsAtMostWithoutAllocation) {
  CustomerQueue loop;
  const Counts counts = count(loop, 300'000, 100'000);
  const auto customers = static_cast<double>(counts.done);
  EXPECT_NEAR(static_cast<double>(counts.events) / customers, 3.8, 0.05);
  EXPECT_EQ(counts.allocations, 0U);
}

TEST(EngineCounts, AClosedNetworkDoesNotAllocate) {
  ClosedNetwork loop;
  EXPECT_EQ(count(loop, 100'000, 50'000).allocations, 0U);
}

TEST(EngineCounts, SpawningAndEndingDoesNotAllocate) {
  SpawnAndEnd loop;
  const Counts counts = count(loop, 1000, 10'000);
  EXPECT_EQ(counts.events, 2 * counts.done + 1);
  EXPECT_EQ(counts.allocations, 0U);
}

}  // namespace
}  // namespace tiersim::bench::engine_counts_test
