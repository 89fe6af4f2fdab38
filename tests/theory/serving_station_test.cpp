// A server that runs one sequence of one token at a time is a station with a fixed service time D,
// the time to read one prompt: M/D/1, D/D/1 and closed networks with known laws.
#include <cmath>
#include <numeric>

#include <fmt/format.h>

#include "tests/theory/serving_run.hpp"

namespace tiersim::serving_station_test {
namespace {

// Prompts of 512 tokens on one H100.
ServingConfig station(const std::string& arrivals, std::int64_t requests, int seed = 1) {
  return testing::serving_config(
      "serving/llama2_7b_h100.yaml",
      {"server.base=servers/no_host.yaml", "server.scheduler.max_sequences=1",
       "workload.input.tokens=512", "workload.output.tokens=1", "workload.arrivals=" + arrivals,
       fmt::format("workload.requests={}", requests), fmt::format("seed={}", seed)});
}

Duration service() {
  static const Duration time = [] {
    const auto served = testing::run_server(station("{process: at_once}", 1));
    return served.requests.front().finished - served.requests.front().arrival;
  }();
  return time;
}

double in_services(Duration time) {
  return static_cast<double>(time.count()) / static_cast<double>(service().count());
}
std::string rate(double load) {
  return fmt::format("{:.17g}", load * 1e12 / static_cast<double>(service().count()));
}
std::string time(double services) {
  return fmt::format("{:.0f} ns", services * static_cast<double>(service().count()) / 1000);
}

struct Estimate {
  double mean = 0;
  double error = 0;
};

// Means of batches of neighbours, which are nearly independent.
Estimate batch_means(const std::vector<double>& values) {
  constexpr std::size_t kBatches = 30;
  const std::size_t size = values.size() / kBatches;
  std::vector<double> means;
  for (std::size_t b = 0; b < kBatches; ++b)
    means.push_back(std::accumulate(values.begin() + static_cast<std::ptrdiff_t>(b * size),
                                    values.begin() + static_cast<std::ptrdiff_t>((b + 1) * size),
                                    0.0) /
                    static_cast<double>(size));
  Estimate out;
  out.mean = std::accumulate(means.begin(), means.end(), 0.0) / kBatches;
  for (const double mean : means) out.error += (mean - out.mean) * (mean - out.mean);
  out.error = std::sqrt(out.error / (kBatches - 1) / kBatches);
  return out;
}

// The mean wait of M/D/1 is rho D / (2 (1 - rho)) (Kleinrock, Queueing Systems I, 5.6). The first
// 1000 of the requests, some ten relaxation times at rho = 0.8, are left out. Four standard errors
// of batch means are allowed, which are asserted to be small beside the 6.6 % that a load of 0.81
// would add to the wait at 0.8, and beside M/M/1, whose wait is twice as long.
class PoissonArrivals : public ::testing::TestWithParam<double> {};

TEST_P(PoissonArrivals, WaitAsInMD1) {
  constexpr std::int64_t kRequests = 200'000;
  const double load = GetParam();
  const auto served = testing::run_server(
      station("{process: poisson, requests_per_s: " + rate(load) + "}", kRequests));
  std::vector<double> waits;
  for (const RequestOutcome& request : served.requests) {
    ASSERT_EQ(request.finished - request.started, service());
    if (request.id >= 1000) waits.push_back(in_services(request.started - request.arrival));
  }
  const Estimate wait = batch_means(waits);
  const double expected = load / (2 * (1 - load));
  EXPECT_NEAR(wait.mean, expected, 4 * wait.error) << "seed 1, load " << load;
  EXPECT_LT(4 * wait.error, 0.06 * expected);
}

INSTANTIATE_TEST_SUITE_P(Loads, PoissonArrivals, ::testing::Values(0.5, 0.8), [](const auto& load) {
  return fmt::format("PerCent{:.0f}", 100 * load.param);
});

TEST(FixedRateArrivals, WaitForNothingBelowFullLoad) {
  const auto served = testing::run_server(
      station("{process: fixed_rate, requests_per_s: " + rate(0.999) + "}", 1000));
  for (const RequestOutcome& request : served.requests) {
    EXPECT_EQ(request.started, request.arrival);
    EXPECT_EQ(request.finished - request.started, service());
  }
}

// Above capacity each request waits for the excess before it: the k-th waits k (D - gap).
TEST(FixedRateArrivals, QueueAboveFullLoad) {
  const auto served = testing::run_server(
      station("{process: fixed_rate, requests_per_s: " + rate(1.25) + "}", 100));
  for (const RequestOutcome& request : served.requests)
    EXPECT_EQ(request.finished, SimTime((request.id + 1) * service()));
}

TEST(ClosedLoop, WithoutThinkingIsNeverIdle) {
  constexpr std::int64_t kUsers = 5;
  const auto served = testing::run_server(station("{process: closed_loop, users: 5}", 200));
  for (const RequestOutcome& request : served.requests) {
    EXPECT_EQ(request.finished, SimTime((request.id + 1) * service()));
    if (request.id >= kUsers) {
      EXPECT_EQ(request.finished - request.arrival, kUsers * service());
    }
  }
}

// Throughput of the users of a closed loop, in requests for each service time.
double throughput(std::int64_t users, double think, std::int64_t requests) {
  const auto served = testing::run_server(station(
      fmt::format("{{process: closed_loop, users: {}, think_time: {}}}", users, time(think)),
      requests));
  return static_cast<double>(requests) / in_services(served.end.time_since_epoch());
}

// One user: a cycle is a service and a thinking time, X = 1 / (D + Z). Two: the second comes while
// the first is served with probability 1 - exp(-D / Z), and then a cycle is D; else both think, and
// the first of them comes after Z / 2 in the mean: X = 1 / (D + exp(-D / Z) Z / 2). The cycles are
// independent. The standard deviation of a cycle is below Z, so four standard errors of the mean
// cycle are 4 Z / sqrt(n); the end of the run is off by less than 2 (D + Z) / n.
TEST(ClosedLoop, OfOneOrTwoUsersHasTheThroughputOfItsCycles) {
  constexpr std::int64_t kRequests = 50'000;
  for (const double think : {0.5, 2.0}) {
    const double allowed = 4 * think / std::sqrt(kRequests) + 2 * (1 + think) / kRequests;
    EXPECT_NEAR(1 / throughput(1, think, kRequests), 1 + think, allowed);
    EXPECT_NEAR(1 / throughput(2, think, kRequests), 1 + std::exp(-1 / think) * think / 2, allowed);
  }
}

// Asymptotic bounds (Denning and Buzen 1978; Lazowska et al., Quantitative System Performance,
// 5.2): N / (N D + Z) <= X <= min(1 / D, N / (D + Z)). The mean of n thinking times is off by
// 4 Z / sqrt(n) at most, and a run begins with all users thinking.
TEST(ClosedLoop, StaysWithinTheAsymptoticBounds) {
  constexpr std::int64_t kRequests = 20'000;
  constexpr double kThink = 9;
  const double allowed = 4 / std::sqrt(kRequests) + 4 * kThink / kRequests;
  for (const std::int64_t users : {3, 10, 30}) {
    const auto n = static_cast<double>(users);
    const double rate = throughput(users, kThink, kRequests);
    EXPECT_LE(rate, std::min(1.0, n / (1 + kThink)) * (1 + allowed)) << users;
    EXPECT_GE(rate, n / (n + kThink) * (1 - allowed)) << users;
  }
}

// The run of the statistics and that of this test's observer are the same run.
TEST(Observers, DoNotMoveResults) {
  const ServingConfig config =
      station("{process: poisson, requests_per_s: " + rate(0.7) + "}", 500);
  const auto served = testing::run_server(config);
  const auto record = serve(config);
  ASSERT_TRUE(record) << record.error();
  EXPECT_EQ(record->metrics.at("makespan_s").value, to_seconds(served.end.time_since_epoch()));
}

// Little's law, number = rate times stay, is an identity of a run that begins and ends empty and
// has no warm-up; of what is left of it there is rounding to a double.
TEST(Queue, HoldsAsManyAsComeTimesHowLongTheyStay) {
  const auto record = serve(station("{process: poisson, requests_per_s: " + rate(0.7) + "}", 2000));
  ASSERT_TRUE(record) << record.error();
  EXPECT_NEAR(record->metrics.at("little_difference").value, 0, 1e-12);
}

}  // namespace
}  // namespace tiersim::serving_station_test
