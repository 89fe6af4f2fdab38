// The statistics of a serving run on a queue whose every distribution is known: M/M/1 at load 1/2,
// one server in the order of arrival, mean service 1 s. The time in the system is exponential of
// mean 2 s, the mean wait 1 s and the mean number in the system 1 (Kleinrock, Queueing Systems I,
// 3.2 and 5.5).
//
// Tolerance. The mean wait of 3e5 customers has a relative standard deviation of 1 %
// (single_queue_test.cpp); that of one wait is sqrt(3), so 3e5 are worth n = 3e4 independent ones.
// A mean of exponential times then has a relative deviation of 1 / sqrt(n), a quantile q of share p
// one of sqrt(p (1 - p) / n) / (density q): 0.6 % for the mean, 0.83 % for the median, 1.25 % for
// the 99 %. Three of these are allowed, and of the number in the system, which has the same memory,
// three of 1 %.
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <vector>

#include "sim/base/rng.hpp"
#include "sim/serving/statistics.hpp"

namespace tiersim::serving_queue_test {
namespace {

constexpr std::int64_t kRequests = 300'000;
constexpr std::uint64_t kSeed = 5;

// Requests of one token each, served one at a time.
RunRecord queue() {
  ServingConfig config;
  config.workload.requests = kRequests;
  config.measure.warm_up = 0.01;
  ServingStatistics statistics(config, {.replicas = 1, .blocks = 1});
  Rng gaps(kSeed, "gaps");
  Rng services(kSeed, "services");
  const auto drawn = [](Rng& rng, double mean) {
    return Duration(static_cast<std::int64_t>(rng.exponential(mean) * 1e12));
  };
  std::vector<RequestOutcome> outcomes;
  SimTime arrival{};
  SimTime free{};
  for (std::int64_t id = 0; id < kRequests; ++id) {
    arrival += drawn(gaps, 2);
    const SimTime started = std::max(arrival, free);
    free = started + drawn(services, 1);
    outcomes.push_back({.id = id,
                        .arrival = arrival,
                        .started = started,
                        .first_token = free,
                        .finished = free,
                        .input_tokens = 1,
                        .output_tokens = 1});
  }
  std::size_t arrived = 0;
  for (const RequestOutcome& outcome : outcomes) {
    for (; arrived < outcomes.size() && outcomes[arrived].arrival <= outcome.finished; ++arrived)
      statistics.on_arrival(outcomes[arrived].arrival);
    statistics.on_iteration(
        {.begin = outcome.started, .gpu = outcome.started, .end = outcome.finished});
    statistics.on_finish(outcome);
  }
  RunRecord out;
  statistics.record(out, NumberClass::assumed);
  return out;
}

void expect_near(const RunRecord& record, const char* metric, double expected, double deviation) {
  EXPECT_NEAR(record.metrics.at(metric).value / expected, 1, 3 * deviation)
      << metric << ", seed " << kSeed;
}

TEST(ServingStatistics, MeasureAQueueAsTheoryHasIt) {
  const RunRecord record = queue();
  expect_near(record, "e2e_latency_s.mean", 2, 0.006);
  expect_near(record, "e2e_latency_s.p50", 2 * std::log(2), 0.0083);
  expect_near(record, "e2e_latency_s.p99", 2 * std::log(100), 0.0125);
  expect_near(record, "queue_time_s.mean", 1, 0.01);
  expect_near(record, "in_flight.mean", 1, 0.01);
  expect_near(record, "queue_depth.mean", 0.5, 0.01);
  expect_near(record, "gpu_busy_share", 0.5, 0.01);
  const Metric& mean = record.metrics.at("e2e_latency_s.mean");
  ASSERT_TRUE(mean.ci95.has_value());
  EXPECT_LT(mean.ci95->low, 2);
  EXPECT_GT(mean.ci95->high, 2);
  // In 3e5 requests the warm-up is negligible.
  EXPECT_NEAR(record.metrics.at("little_difference").value, 0, 1e-3);
}

}  // namespace
}  // namespace tiersim::serving_queue_test
