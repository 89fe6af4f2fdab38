// The cost of a server's trace in counts that are the same on every machine: the benchmark of 1000
// requests (serving_counts_test.cpp), with every event in the trace. Times are neither printed nor
// gated.
#include <algorithm>
#include <string>

#include <gtest/gtest.h>

#include "sim/trace/serving_trace.hpp"
#include "tests/support/allocations.hpp"
#include "tests/support/served.hpp"

namespace tiersim::trace_counts_test {
namespace {

struct TracedRun {
  std::int64_t iterations = 0;
  std::int64_t events = 0;
  std::uint64_t allocations = 0;
  std::size_t longest_piece = 0;
  std::size_t bytes = 0;
};

TracedRun run_bench(bool traced, const std::vector<std::string>& set = {}) {
  const ServingConfig config = testing::serving("serving/llama2_7b_h100.yaml", set);
  TracedRun out;
  ServingTrace trace([&](std::string_view piece) {
    out.longest_piece = std::max(out.longest_piece, piece.size());
    out.bytes += piece.size();
  });
  const std::uint64_t before = testing::allocations();
  const auto record = serve(config, traced ? &trace : nullptr);
  out.allocations = testing::allocations() - before;
  if (!record) {
    ADD_FAILURE() << record.error();
    return out;
  }
  out.iterations = record->serving->counts.iterations;
  out.events = trace.events();
  return out;
}

// An iteration is a slice, up to 3 counters of the scheduler where they change, and bytes, use and
// operations of the few channels in use. A request has 2 events of waiting, 6 of its slices and 2
// of its arrow.
TEST(TraceCounts, EventsFollowIterationsAndRequests) {
  const TracedRun run = run_bench(true);
  EXPECT_GT(run.events, run.iterations + 1000 * 10);
  EXPECT_LT(run.events, run.iterations * 10 + 1000 * 12);
  EXPECT_LT(run.bytes, static_cast<std::size_t>(run.events) * 200);
}

// The writer stores only a buffer and the present requests. An event allocates less than once,
// twice as many requests allocate no more each, and the text comes in pieces of one size.
TEST(TraceCounts, AnEventAllocatesNextToNothing) {
  const TracedRun plain = run_bench(false);
  const TracedRun traced = run_bench(true);
  EXPECT_LT(traced.allocations - plain.allocations, static_cast<std::uint64_t>(traced.events));
  EXPECT_LT(traced.longest_piece, std::size_t{70'000});
  const TracedRun twice = run_bench(true, {"workload.requests=2000"});
  EXPECT_LT(static_cast<double>(twice.allocations) / static_cast<double>(twice.events),
            1.02 * static_cast<double>(traced.allocations) / static_cast<double>(traced.events));
}

}  // namespace
}  // namespace tiersim::trace_counts_test
