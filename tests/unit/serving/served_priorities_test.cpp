// Latencies by priority of hand-made requests.
#include "sim/serving/served_priorities.hpp"

#include <gtest/gtest.h>

#include "sim/serving/quantiles.hpp"

namespace tiersim::served_priorities_test {
namespace {

constexpr Duration kSecond{1'000'000'000'000};

SimTime at(std::int64_t s) {
  return SimTime(kSecond * s);
}

// A request that comes at `arrival`, starts a second later, and has its first token at `first`.
ServedRequest request(std::int64_t priority, std::int64_t arrival, std::int64_t first,
                      std::int64_t last, std::int64_t output) {
  ServedRequest out;
  out.arrival = at(arrival);
  out.started = at(arrival + 1);
  out.first_token = at(first);
  out.finished = at(last);
  out.output_tokens = output;
  out.priority = priority;
  return out;
}

TEST(ServedPriorities, TheLowestNumberComesFirstWithItsOwnRequests) {
  const std::vector<ServedRequest> requests{request(10, 0, 8, 16, 5), request(0, 1, 3, 5, 3),
                                            request(10, 2, 6, 6, 1), request(0, 3, 9, 13, 3)};
  MeasureConfig measure;
  measure.slo_ttft = kSecond * 5;
  const auto all = priorities_of(requests, measure, quantile);
  ASSERT_EQ(all.size(), 2U);
  EXPECT_EQ(all[0].priority, 0);
  EXPECT_EQ(all[0].requests, 2);
  EXPECT_DOUBLE_EQ(all[0].ttft_s.mean, 4);  // 2 and 6
  EXPECT_DOUBLE_EQ(all[0].ttft_s.p50, 2);
  EXPECT_DOUBLE_EQ(all[0].ttft_s.p99, 6);
  EXPECT_DOUBLE_EQ(all[0].tpot_s->mean, 1.5);  // 1 and 2
  EXPECT_DOUBLE_EQ(all[0].e2e_latency_s.p90, 10);
  EXPECT_DOUBLE_EQ(all[0].queue_time_s.mean, 1);
  EXPECT_DOUBLE_EQ(*all[0].slo_attainment, 0.5);
  EXPECT_EQ(all[1].priority, 10);
  EXPECT_DOUBLE_EQ(all[1].ttft_s.mean, 6);   // 8 and 4
  EXPECT_DOUBLE_EQ(all[1].tpot_s->mean, 2);  // of the one with more than one token
  EXPECT_DOUBLE_EQ(*all[1].slo_attainment, 0.5);
}

TEST(ServedPriorities, OnePriorityIsNoneApart) {
  const std::vector<ServedRequest> requests{request(3, 0, 8, 16, 5), request(3, 1, 3, 5, 3)};
  EXPECT_TRUE(priorities_of(requests, {}, quantile).empty());
  EXPECT_TRUE(priorities_of({}, {}, quantile).empty());
}

TEST(ServedPriorities, NothingIsAttainedThatIsNotPromised) {
  const std::vector<ServedRequest> requests{request(0, 0, 2, 2, 1), request(1, 0, 3, 3, 1)};
  const auto all = priorities_of(requests, {}, quantile);
  ASSERT_EQ(all.size(), 2U);
  EXPECT_FALSE(all[0].slo_attainment);
  EXPECT_FALSE(all[0].tpot_s);  // no request has any
}

}  // namespace
}  // namespace tiersim::served_priorities_test
