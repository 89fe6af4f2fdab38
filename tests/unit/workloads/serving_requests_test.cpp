#include <algorithm>
#include <queue>

#include "tests/unit/workloads/serving_workload.hpp"
#include "workloads/serving/lengths.hpp"

namespace tiersim::serving_requests_test {
namespace {

using testing::after_completion;
using testing::all_requests;
using testing::load_workload;
using testing::source_of;
using testing::workload;

constexpr std::int64_t kSecond = kPicosecondsPerSecond;

std::vector<std::int64_t> arrivals_of(const std::vector<Request>& requests) {
  std::vector<std::int64_t> out;
  for (const Request& r : requests) out.push_back(r.arrival.time_since_epoch().count());
  return out;
}

std::vector<std::int64_t> inputs_of(const std::vector<Request>& requests) {
  std::vector<std::int64_t> out;
  for (const Request& r : requests) out.push_back(r.input_tokens);
  return out;
}

std::vector<std::int64_t> outputs_of(const std::vector<Request>& requests) {
  std::vector<std::int64_t> out;
  for (const Request& r : requests) out.push_back(r.output_tokens);
  return out;
}

const std::string kRandom =
    "requests: 300\narrivals: {process: gamma, requests_per_s: 5, variation: 2}\n"
    "input: {distribution: uniform, min: 10, max: 500}\n"
    "output: {distribution: lognormal, tokens: 200, sigma: 0.8, max: 1000}\n";

TEST(RequestSource, GivesAllAtOnceAtTimeZero) {
  const auto requests =
      all_requests(workload("requests: 3\narrivals: {process: at_once}\ninput: {tokens: 20}\n"
                            "output: {tokens: 5}\n"));
  ASSERT_EQ(requests.size(), 3U);
  EXPECT_EQ(arrivals_of(requests), (std::vector<std::int64_t>{0, 0, 0}));
  for (std::size_t i = 0; i < 3; ++i) EXPECT_EQ(requests[i].id, static_cast<std::int64_t>(i));
  EXPECT_EQ(inputs_of(requests), (std::vector<std::int64_t>{20, 20, 20}));
  EXPECT_EQ(outputs_of(requests), (std::vector<std::int64_t>{5, 5, 5}));
  EXPECT_TRUE(requests[0].prefix.empty());
}

// A third of a second is no whole number of picoseconds; no error adds up.
TEST(RequestSource, KeepsAFixedRateToThePicosecond) {
  const auto requests =
      all_requests(workload("requests: 30001\narrivals: {process: fixed_rate, requests_per_s: 3}\n"
                            "input: {tokens: 1}\noutput: {tokens: 1}\n"));
  EXPECT_EQ(requests[1].arrival.time_since_epoch().count(), 333'333'333'333);
  EXPECT_EQ(requests[2].arrival.time_since_epoch().count(), 666'666'666'667);
  EXPECT_EQ(requests[30'000].arrival.time_since_epoch().count(), 10'000 * kSecond);
}

TEST(RequestSource, HasTheSameRequestsForTheSameSeed) {
  const auto config = workload(kRandom);
  const auto once = all_requests(config, 7);
  const auto again = all_requests(config, 7);
  const auto other = all_requests(config, 8);
  EXPECT_EQ(arrivals_of(once), arrivals_of(again));
  EXPECT_EQ(inputs_of(once), inputs_of(again));
  EXPECT_EQ(outputs_of(once), outputs_of(again));
  EXPECT_NE(arrivals_of(once), arrivals_of(other));
  EXPECT_NE(inputs_of(once), inputs_of(other));
  EXPECT_NE(outputs_of(once), outputs_of(other));
}

TEST(RequestSource, ChangesOneThingWithoutMovingTheOthers) {
  const auto base = all_requests(workload(kRandom));
  const auto with = [](std::string_view from, std::string_view to) {
    std::string text = kRandom;
    text.replace(text.find(from), from.size(), to);
    return all_requests(workload(text));
  };
  const auto slower = with("requests_per_s: 5", "requests_per_s: 4");
  EXPECT_NE(arrivals_of(slower), arrivals_of(base));
  EXPECT_EQ(inputs_of(slower), inputs_of(base));
  EXPECT_EQ(outputs_of(slower), outputs_of(base));
  const auto longer = with("{distribution: uniform, min: 10, max: 500}", "{tokens: 100}");
  EXPECT_EQ(arrivals_of(longer), arrivals_of(base));
  EXPECT_EQ(outputs_of(longer), outputs_of(base));
  auto more = with("requests: 300", "requests: 301");
  more.pop_back();
  EXPECT_EQ(arrivals_of(more), arrivals_of(base));
  EXPECT_EQ(inputs_of(more), inputs_of(base));
}

TEST(RequestSource, ArrivesInOrder) {
  for (const char* process : {"fixed_rate, requests_per_s: 9", "poisson, requests_per_s: 9",
                              "gamma, requests_per_s: 9, variation: 5"}) {
    const auto requests =
        all_requests(workload(std::string("requests: 2000\narrivals: {process: ") + process +
                              "}\ninput: {tokens: 1}\noutput: {tokens: 1}\n"));
    EXPECT_EQ(arrivals_of(requests).front(), 0) << process;
    EXPECT_TRUE(std::ranges::is_sorted(arrivals_of(requests))) << process;
  }
}

TEST(RequestSource, SaysThatTimeEndsAfter106Days) {
  auto source =
      source_of(workload("requests: 20\narrivals: {process: fixed_rate, requests_per_s: 1e-6}\n"
                         "input: {tokens: 1}\noutput: {tokens: 1}\n"));
  for (int i = 0; i < 10; ++i) EXPECT_TRUE(source->next());  // the last after 9e6 s, 104.2 days
  EXPECT_THROW(static_cast<void>(source->next()), UnitOverflow);
}

// A server that takes a second for a request and works on any number at once.
struct ClosedRun {
  std::int64_t requests = 0;
  std::size_t outstanding_most = 0;
  SimTime end{};
  std::vector<std::int64_t> ids = {};
};
ClosedRun run_closed(const WorkloadConfig& config, std::uint64_t seed) {
  const auto source = source_of(config, seed);
  std::priority_queue<SimTime, std::vector<SimTime>, std::greater<>> ends;
  ClosedRun out;
  const auto take = [&](const std::optional<Request>& request) {
    if (!request) return;
    ++out.requests;
    out.ids.push_back(request->id);
    ends.push(request->arrival + std::chrono::seconds(1));
    out.outstanding_most = std::max(out.outstanding_most, ends.size());
  };
  while (auto request = source->next()) take(request);
  while (!ends.empty()) {
    out.end = ends.top();
    ends.pop();
    for (const Request& request : after_completion(*source, out.end)) take(request);
    EXPECT_FALSE(source->next());
  }
  std::ranges::sort(out.ids);
  return out;
}

TEST(ClosedLoop, HasNeverMoreRequestsOutThanUsers) {
  for (std::uint64_t seed = 1; seed <= 20; ++seed) {
    const ClosedRun run = run_closed(
        workload("requests: 1000\narrivals: {process: closed_loop, users: 7, think_time: 500 ms}\n"
                 "input: {tokens: 1}\noutput: {tokens: 1}\n"),
        seed);
    EXPECT_EQ(run.requests, 1000) << "seed " << seed;
    EXPECT_EQ(run.outstanding_most, 7U) << "seed " << seed;
    for (std::size_t i = 0; i < run.ids.size(); ++i)
      ASSERT_EQ(run.ids[i], static_cast<std::int64_t>(i)) << "seed " << seed;
  }
}

// 8 users, 1 s to answer and no time to think: 8 requests a second.
TEST(ClosedLoop, SendsAtOnceWhereNobodyThinks) {
  const ClosedRun run =
      run_closed(workload("requests: 80\narrivals: {process: closed_loop, users: 8}\n"
                          "input: {tokens: 1}\noutput: {tokens: 1}\n"),
                 1);
  EXPECT_EQ(run.requests, 80);
  EXPECT_EQ(run.end.time_since_epoch().count(), 10 * kSecond);
}

TEST(ClosedLoop, EndsWithFewerRequestsThanUsers) {
  const auto source =
      source_of(workload("requests: 3\narrivals: {process: closed_loop, users: 8}\n"
                         "input: {tokens: 1}\noutput: {tokens: 1}\n"));
  for (int i = 0; i < 3; ++i) EXPECT_TRUE(source->next());
  EXPECT_FALSE(source->next());
  EXPECT_TRUE(after_completion(*source, SimTime{}).empty());
}

// A caller that fetches the first requests late still gets all of them.
TEST(ClosedLoop, KeepsFirstRequestsForUsersWhoStillThink) {
  const auto source = source_of(
      workload("requests: 4\narrivals: {process: closed_loop, users: 3, think_time: 1 s}\n"
               "input: {tokens: 1}\noutput: {tokens: 1}\n"));
  const auto first = source->next();
  ASSERT_TRUE(first);
  EXPECT_EQ(after_completion(*source, first->arrival).size(), 1U);
  EXPECT_TRUE(after_completion(*source, first->arrival).empty());  // two are left, of two users
  const auto second = source->next();
  const auto third = source->next();
  ASSERT_TRUE(second && third);
  EXPECT_LE(second->arrival, third->arrival);
  EXPECT_FALSE(source->next());
}

TEST(ClosedLoop, BeginsEvenlyOverTheRampUp) {
  const auto source =
      source_of(workload("requests: 4\narrivals: {process: closed_loop, users: 4, ramp_up: 2 s}\n"
                         "input: {tokens: 1}\noutput: {tokens: 1}\n"));
  for (std::int64_t i = 0; i < 4; ++i)
    EXPECT_EQ(source->next()->arrival.time_since_epoch().count(), i * kSecond / 2);
}

// Ten requests a second of 1 s each, at most three of them at a time: three a second.
TEST(OpenLoop, KeepsToTheClientsLimit) {
  const ClosedRun run =
      run_closed(workload("requests: 30\n"
                          "arrivals: {process: fixed_rate, requests_per_s: 10, max_in_flight: 3}\n"
                          "input: {tokens: 1}\noutput: {tokens: 1}\n"),
                 1);
  EXPECT_EQ(run.requests, 30);
  EXPECT_EQ(run.outstanding_most, 3U);
  EXPECT_EQ(run.end.time_since_epoch().count(), 10 * kSecond + kSecond / 5);
}

// A limit that is never reached changes nothing.
TEST(OpenLoop, IsFreeBelowTheClientsLimit) {
  const auto ends = [](const std::string& limit) {
    return run_closed(workload("requests: 500\narrivals: {process: poisson, requests_per_s: 2" +
                               limit + "}\ninput: {tokens: 1}\noutput: {tokens: 1}\n"),
                      7)
        .end;
  };
  EXPECT_EQ(ends(", max_in_flight: 500"), ends(", max_in_flight: 100"));
}

TEST(Lengths, OfAUniformRangeHitBothEndsAndNothingElse) {
  Lengths lengths({.distribution = LengthDistribution::uniform, .min = 3, .max = 6}, 1, "test");
  std::array<int, 10> counts{};
  for (int i = 0; i < 4000; ++i) ++counts.at(static_cast<std::size_t>(lengths.next()));
  // Binomial(4000, 1/4): standard deviation 27.4.
  for (std::size_t n = 0; n < counts.size(); ++n)
    EXPECT_NEAR(counts.at(n), n >= 3 && n <= 6 ? 1000 : 0, n >= 3 && n <= 6 ? 4 * 27.4 : 0) << n;
}

TEST(Lengths, OfALognormalAreCutToTheirRange) {
  Lengths lengths({.distribution = LengthDistribution::lognormal,
                   .tokens = 100,
                   .sigma = 1,
                   .min = 50,
                   .max = 200},
                  1, "test");
  int low = 0;
  int high = 0;
  int above_median = 0;
  for (int i = 0; i < 10'000; ++i) {
    const std::int64_t n = lengths.next();
    EXPECT_TRUE(n >= 50 && n <= 200) << n;
    low += n == 50;
    high += n == 200;
    above_median += n > 100;
  }
  // P(Z < ln(50.5 / 100)) = 0.24722, P(Z > ln(199.5 / 100)) = 0.24494, P(Z > ln 1.005) = 0.49801;
  // standard deviations of the counts: 43.1, 43.0 and 50.
  EXPECT_NEAR(low, 2472.2, 4 * 43.1);
  EXPECT_NEAR(high, 2449.4, 4 * 43.0);
  EXPECT_NEAR(above_median, 4980.1, 4 * 50);
}

TEST(Lengths, OfNoSpreadAreTheMedian) {
  Lengths lengths({.distribution = LengthDistribution::lognormal, .tokens = 77, .max = 100}, 1,
                  "t");
  for (int i = 0; i < 100; ++i) EXPECT_EQ(lengths.next(), 77);
}

std::string told(const std::string& text, const std::vector<std::string>& set = {}) {
  const auto loaded = load_workload(text, set);
  return loaded.mistakes.empty() ? "accepted" : loaded.mistakes;
}

TEST(WorkloadConfig, NamesKeysThatMeanNothingToTheProcess) {
  EXPECT_EQ(
      told("requests: 1\narrivals: {process: poisson, requests_per_s: 1, users: 3}\n"
           "input: {tokens: 1, sigma: 2}\noutput: {distribution: uniform, tokens: 5}\n"),
      "w.yaml:2:49: error: arrivals: unknown key 'users' (known keys: process, "
      "requests_per_s, max_in_flight)\n"
      "w.yaml:3:20: error: input: unknown key 'sigma' (known keys: distribution, tokens)\n"
      "w.yaml:4:1: error: output: missing required key 'max'\n"
      "w.yaml:4:1: error: output: missing required key 'min'\n"
      "w.yaml:4:33: error: output: unknown key 'tokens' (known keys: distribution, min, max)\n");
}

TEST(WorkloadConfig, NamesWhatIsMissing) {
  EXPECT_EQ(told("{}\n"),
            "w.yaml:1:1: error: output: is missing, so no answer has a length (give it, or a trace "
            "of requests by `trace: PATH`)\n"
            "w.yaml:1:1: error: input: is missing, so no prompt has a length (give it, or a trace "
            "of requests by `trace: PATH`)\n"
            "w.yaml:1:1: error: arrivals: is missing, so no request has a time (give it, or a "
            "trace of requests by `trace: PATH`)\n"
            "w.yaml:1:1: error: requests: must be at least 1 (give it, or a trace of requests by "
            "`trace: PATH`)\n");
  EXPECT_EQ(told("replay: {speed: 2}\n"),
            "w.yaml:1:1: error: replay.requests: is missing: there is no trace to replay (name one "
            "by `trace: PATH` beside `replay`)\n");
  EXPECT_EQ(told("requests: 1\narrivals: {process: closed_loop}\ninput: {}\n"
                 "output: {distribution: lognormal, tokens: 5, sigma: 1}\n"),
            "w.yaml:2:1: error: arrivals: missing required key 'users'\n"
            "w.yaml:3:1: error: input: missing required key 'tokens'\n"
            "w.yaml:4:1: error: output: missing required key 'max'\n");
}

TEST(WorkloadConfig, NamesWhatCannotBe) {
  EXPECT_EQ(told("requests: 1\narrivals: {requests_per_s: 0}\n"
                 "input: {distribution: uniform, min: 0, max: 5}\n"
                 "output: {distribution: lognormal, tokens: 5, sigma: -1, max: 8}\n"),
            "w.yaml:2:28: error: arrivals.requests_per_s: '0' is out of range (allowed: 1e-06 to "
            "1000000000)\n"
            "w.yaml:3:37: error: input.min: '0' is out of range (allowed: 1 to 100000000)\n"
            "w.yaml:4:53: error: output.sigma: '-1' is out of range (allowed: 0 to 10)\n");
  EXPECT_EQ(
      told("requests: 0\narrivals: {process: gamma, requests_per_s: 1, variation: 1}\n"
           "input: {distribution: uniform, min: 9, max: 5}\n"
           "output: {distribution: lognormal, tokens: 5, sigma: 1, min: 6, max: 8}\n"),
      "w.yaml:3:40: error: input.max: is below the fewest, 9 (raise it)\n"
      "w.yaml:4:35: error: output.tokens: is outside 6 to 8 (the median lies in the range)\n");
  EXPECT_EQ(told("requests: 0\narrivals: {requests_per_s: 1}\ninput: {tokens: 1}\n"
                 "output: {tokens: 1}\nprefix_block: 16\n"),
            "w.yaml:1:1: error: requests: must be at least 1 (give it, or a trace of requests by "
            "`trace: PATH`)\n"
            "w.yaml:5:1: error: prefix_block: has a meaning for traces and sessions only (leave it "
            "out; these "
            "prompts share no prefix)\n");
}

TEST(WorkloadConfig, IsReadAgainFromItsCanonicalText) {
  for (const std::string& text :
       {kRandom, std::string("requests: 5\narrivals: {process: closed_loop, users: 2}\n"
                             "input: {tokens: 4}\noutput: {tokens: 4}\n")}) {
    const std::string json = canonical_json(workload(text));
    EXPECT_EQ(canonical_json(workload(json)), json);
  }
}

}  // namespace
}  // namespace tiersim::serving_requests_test
