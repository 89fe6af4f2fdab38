// A fit of a trace that a known workload made finds the laws of that workload.
#include <cmath>
#include <fstream>

#include "tests/support/temporary_folder.hpp"
#include "tests/unit/workloads/serving_workload.hpp"
#include "workloads/sessions/law_fits.hpp"
#include "workloads/sessions/nominal_server.hpp"
#include "workloads/sessions/trace_fit.hpp"
#include "workloads/sessions/trace_sessions.hpp"

namespace tiersim::trace_fit_test {
namespace {

using testing::source_of;
using testing::workload;

constexpr Duration kSecond{kPicosecondsPerSecond};

// In Mooncake's form, with names of 64 bits.
std::string trace_of(const WorkloadConfig& config, const AnswerTime& time, std::uint64_t seed) {
  std::string out;
  const auto source = source_of(config, seed);
  replay(*source, time, 1'000'000, [&](const Request& request) {
    std::string names;
    const auto whole = static_cast<std::size_t>(request.input_tokens / config.prefix_block);
    for (std::size_t n = 0; n < std::min(whole, request.prefix.size()); ++n)
      names += (names.empty() ? "" : ", ") + std::to_string(request.prefix[n]);
    out += "{\"timestamp\": " +
           std::to_string(request.arrival.time_since_epoch().count() / 1'000'000'000) +
           ", \"input_length\": " + std::to_string(request.input_tokens) +
           ", \"output_length\": " + std::to_string(request.output_tokens) + ", \"hash_ids\": [" +
           names + "]}\n";
  });
  return out;
}

TraceFit fit_of(const std::string& text, const TraceFitOptions& options) {
  const testing::TemporaryFolder folder;
  const auto path = folder.path() / "trace.jsonl";
  std::ofstream(path) << text;
  auto fit = fit_trace(path, {}, options);
  EXPECT_TRUE(fit) << fit.error().front().message;
  return *std::move(fit);
}

// 600 sessions of 5 turns on average: n = 600, 600 and 2400 values, so that a median of a lognormal
// law of sigma s has a relative standard deviation of s / sqrt(n), s itself one of 1 / sqrt(2 n), a
// mean of geometric turns one of sqrt(0.8 / 600), and a rate one of 1 / sqrt(600). Four of these
// are allowed. Shared prompts are found in whole blocks: 300 and 100 tokens are 18 and 25 - 18 = 7
// blocks of 16, and what is left of 300 + 100 - 25 * 16 = 0 tokens adds nothing to the first
// prompt.
TEST(TraceFit, FindsTheLawsThatATraceWasMadeBy) {
  const auto made = workload(
      "arrivals: {process: poisson, requests_per_s: 2}\n"
      "output: {distribution: lognormal, tokens: 200, sigma: 0.6, max: 100000}\n"
      "prefix_block: 16\n"
      "sessions:\n"
      "  count: 600\n"
      "  turns: {distribution: geometric, mean: 5}\n"
      "  system_prompt: 300\n"
      "  groups: {count: 4, zipf: 1, prompt: {tokens: 100}}\n"
      "  first_prompt: {distribution: lognormal, tokens: 400, sigma: 0.5, max: 100000}\n"
      "  message: {distribution: lognormal, tokens: 150, sigma: 0.8, max: 100000}\n"
      "  think_time: {distribution: exponential, time: 12 s}\n");
  const AnswerTime time{.first_token = kSecond, .token = kSecond / 100};
  const TraceFit fit = fit_of(trace_of(made, time, 1), {.block = 16, .answer = time, .seed = 2});
  const SessionConfig& found = *fit.workload.sessions;
  EXPECT_EQ(fit.sessions, 600);
  EXPECT_EQ(fit.workload.arrivals->process, ArrivalProcess::poisson);
  EXPECT_NEAR(fit.workload.arrivals->requests_per_s, 2, 2 * 4 / std::sqrt(600));
  EXPECT_EQ(found.turns.distribution, CountDistribution::geometric);
  EXPECT_NEAR(found.turns.mean, 5, 5 * 4 * std::sqrt(0.8 / 600));
  EXPECT_EQ(found.system_prompt, 288);
  ASSERT_TRUE(found.groups);
  EXPECT_EQ(found.groups->count, 4);
  EXPECT_EQ(found.groups->prompt.tokens, 112);
  // The information of 600 draws about the exponent is 600 times the variance of log k, 0.280.
  EXPECT_NEAR(found.groups->zipf, 1, 4 / std::sqrt(600 * 0.280));
  EXPECT_NEAR(static_cast<double>(found.first_prompt.tokens), 400, 400 * 4 * 0.5 / std::sqrt(600));
  EXPECT_NEAR(found.first_prompt.sigma, 0.5, 0.5 * 4 / std::sqrt(1200));
  EXPECT_NEAR(static_cast<double>(found.message->tokens), 150, 150 * 4 * 0.8 / std::sqrt(2400));
  EXPECT_NEAR(found.message->sigma, 0.8, 0.8 * 4 / std::sqrt(4800));
  EXPECT_NEAR(static_cast<double>(fit.workload.output->tokens), 200,
              200 * 4 * 0.6 / std::sqrt(3000));
  EXPECT_EQ(found.think_time.distribution, PauseDistribution::exponential);
  EXPECT_NEAR(to_seconds(found.think_time.time), 12, 12 * 4 / std::sqrt(2400));
  for (const FitDistance& each : fit.distances) {
    // Prompts of a session, and the gaps between them, are not independent.
    const bool dependent =
        each.quantity == "input tokens" || each.quantity == "gaps between requests";
    EXPECT_LT(each.ks, (dependent ? 2 : 1.2) * each.chance) << each.quantity;
  }
  // A cache that holds nearly all that is in use sees every difference between two runs.
  EXPECT_LT(fit.hit_rate_difference, 2 * fit.hit_rate_chance);
  EXPECT_FALSE(fit.held_out.empty());
}

// Requests without names: bursts of variation 2, and lengths of two laws.
TEST(TraceFit, OfATraceWithoutNamesIsOfRequests) {
  const auto made = workload(
      "requests: 4000\narrivals: {process: gamma, requests_per_s: 5, variation: 2}\n"
      "input: {distribution: lognormal, tokens: 1000, sigma: 1, max: 100000}\n"
      "output: {tokens: 64}\n");
  const TraceFit fit = fit_of(trace_of(made, {}, 1), {});
  EXPECT_FALSE(fit.workload.sessions);
  EXPECT_EQ(fit.workload.requests, 4000);
  EXPECT_EQ(fit.workload.arrivals->process, ArrivalProcess::gamma);
  // Moments of a gamma law of shape 1/4 and mean 1: 4, 32, 432. By the delta method n Var(s / m) is
  // (432 - 16) / 16 + 4 * 4 - 32 = 10.
  EXPECT_NEAR(fit.workload.arrivals->variation, 2, 4 * std::sqrt(10.0 / 4000));
  EXPECT_NEAR(fit.workload.arrivals->requests_per_s, 5, 5 * 4 * 2 / std::sqrt(4000));
  EXPECT_NEAR(static_cast<double>(fit.workload.input->tokens), 1000, 1000 * 4 / std::sqrt(4000));
  EXPECT_EQ(fit.workload.output->distribution, LengthDistribution::fixed);
  EXPECT_TRUE(fit.hit_rates.empty());
}

// The held-out third is worse where the second half of a trace differs from the first one.
TEST(TraceFit, TheHeldOutErrorSeesAChangeOfTheLoad) {
  std::string text;
  for (int i = 0; i < 300; ++i)
    text += "{\"timestamp\": " + std::to_string(1000 * i) +
            ", \"input_length\": " + std::to_string(i < 200 ? 100 + i : 5000 + i) +
            ", \"output_length\": 10}\n";
  const TraceFit fit = fit_of(text, {});
  EXPECT_DOUBLE_EQ(fit.held_out.front().ks, 1);
  EXPECT_LT(fit.distances.front().ks, 0.5);
}

// The printed file can be read: larger counts become the largest ones, and the fit says so.
TEST(TraceFit, PrintsNoCountThatAConfigurationMayNotHave) {
  WorkloadConfig large{
      .sessions = SessionConfig{.count = 1'200'000,
                                .turns = {.distribution = CountDistribution::geometric, .mean = 2},
                                .groups = SessionGroupsConfig{.count = 1'000'001}}};
  EXPECT_EQ(cut_to_limits(large),
            (std::vector<std::string>{"sessions.groups.count is 1000000, of 1000001",
                                      "sessions.count is 1000000, of 1200000"}));
  EXPECT_EQ(large.sessions->count, 1'000'000);
  // 10^7 requests are 2 * 10^6 sessions of 5 turns, and 10^5 of 100.
  large.sessions->turns = {.count = 100};
  EXPECT_EQ(cut_to_limits(large),
            (std::vector<std::string>{"sessions.count is 100000, of 1000000"}));
  EXPECT_EQ(cut_to_limits(large), std::vector<std::string>{});
  EXPECT_EQ(fit_count(std::vector<std::int64_t>{200'000, 200'000}).count, kMostTurns);
  const CountConfig turns = fit_count(std::vector<std::int64_t>{1, 1, 1, 300'000});
  EXPECT_EQ(turns.max, kMostTurns);
  EXPECT_LE(turns.distribution == CountDistribution::geometric ? turns.mean : turns.median, 1e5);
}

TEST(TraceFit, RefusesTooFewRequestsAndBlocksThatAreTooLong) {
  const testing::TemporaryFolder folder;
  const auto path = folder.path() / "trace.jsonl";
  std::string line =
      "{\"timestamp\": 0, \"input_length\": 100, \"output_length\": 1, \"hash_ids\": [1, 2]}\n";
  std::ofstream(path) << line;
  const auto few = fit_trace(path, {}, {});
  ASSERT_FALSE(few);
  EXPECT_EQ(few.error().front().message, "has 1 requests, too few for a fit");
  std::string many;
  for (int i = 0; i < 30; ++i) many += line;
  std::ofstream(path) << many;
  const auto blocks = fit_trace(path, {}, {.block = 128});
  ASSERT_FALSE(blocks);
  EXPECT_EQ(blocks.error().front().message,
            "hash_ids has 2 blocks, and a prompt of 100 tokens has 1 of 128");
}

// Of blocks of 4: a session of three turns, one of two, and a first prompt that shares two blocks
// with both.
TEST(TraceSessions, AreFoundByTheNamesOfBlocks) {
  const std::string text =
      "{\"timestamp\": 0, \"input_length\": 13, \"output_length\": 2, \"hash_ids\": [1, 2, 3]}\n"
      "{\"timestamp\": 1, \"input_length\": 12, \"output_length\": 1, \"hash_ids\": [1, 2, 4]}\n"
      "{\"timestamp\": 2, \"input_length\": 17, \"output_length\": 3, \"hash_ids\": [1, 2, 3, 5]}\n"
      "{\"timestamp\": 3, \"input_length\": 24, \"output_length\": 1, \"hash_ids\": [1, 2, 3, 5, "
      "6, 7]}\n"
      "{\"timestamp\": 4, \"input_length\": 15, \"output_length\": 1, \"hash_ids\": [1, 2, 4]}\n"
      "{\"timestamp\": 5, \"input_length\": 12, \"output_length\": 1, \"hash_ids\": [1, 2, 8]}\n";
  const auto trace = parse_request_trace("t", TraceLines::of_text(text));
  ASSERT_TRUE(trace);
  const TracedSessions found = sessions_in(*trace, 4);
  std::vector<std::vector<std::size_t>> requests;
  for (const TracedSession& session : found.sessions) {
    requests.emplace_back();
    for (const TracedTurn& turn : session.turns) requests.back().push_back(turn.request);
  }
  EXPECT_EQ(requests, (std::vector<std::vector<std::size_t>>{{0, 2, 3}, {1, 4}, {5}}));
  EXPECT_EQ(found.system_prompt, 8);
  EXPECT_TRUE(found.group_tokens.empty());
}

TEST(KsDistance, IsTheLargestDifferenceOfShares) {
  EXPECT_DOUBLE_EQ(ks_distance({1, 2, 3, 4}, {1, 2, 3, 4}), 0);
  EXPECT_DOUBLE_EQ(ks_distance({1, 2}, {3, 4}), 1);
  EXPECT_DOUBLE_EQ(ks_distance({1, 2, 3, 4}, {3, 4, 5, 6}), 0.5);
  EXPECT_DOUBLE_EQ(ks_distance({1, 1, 1, 5}, {1, 5}), 0.25);
}

// Counts in exact proportion to 1 / k.
TEST(FitZipf, FindsTheExponent) {
  EXPECT_NEAR(fit_zipf(std::vector<std::int64_t>{600, 300, 200, 150, 120, 100}), 1, 1e-4);
  EXPECT_EQ(fit_zipf(std::vector<std::int64_t>{100, 100, 100}), 0);
  EXPECT_EQ(fit_zipf(std::vector<std::int64_t>{100}), 0);
}

// Two requests of 3 tokens, the second of which waits for the first and 2 s: 1 + 2 * 0.5 s each.
TEST(Replay, AnswersTakeATimeOfTheirOwn) {
  const auto source = source_of(
      workload("arrivals: {process: at_once}\noutput: {tokens: 3}\nsessions: {count: 2, turns: "
               "{count: 2}, first_prompt: {tokens: 5}, message: {tokens: 1}, think_time: {time: 2 "
               "s}}\n"));
  std::vector<std::int64_t> seconds;
  const auto each = [&](const Request& request) {
    seconds.push_back(request.arrival.time_since_epoch() / kSecond);
  };
  EXPECT_EQ(replay(*source, {.first_token = kSecond, .token = kSecond / 2}, 3, each), 3);
  EXPECT_EQ(seconds, (std::vector<std::int64_t>{0, 0, 4}));
}

}  // namespace
}  // namespace tiersim::trace_fit_test
