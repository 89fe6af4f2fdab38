// Five requests worked off one after the other, in whole seconds, measured by hand.
//
//   request   arrives  starts  first token  ends   tokens in (cached)  out
//   0 (warm-up)  0        0         1         3        100              3
//   1            2        3         4         6        200              3
//   2            4        6         7         7        300 (150)        1
//   3            5        7         9        11        400              2
//   4            6       11        12        12        100              1
//
// The window is 2 s to 6 s: from the first arrival after the warm-up to the last one.
#include "sim/serving/statistics.hpp"

#include <algorithm>
#include <utility>
#include <vector>

#include <gtest/gtest.h>
#include <nlohmann/json.hpp>

#include "sim/record/metrics.hpp"

namespace tiersim::serving_statistics_test {
namespace {

constexpr SimTime at(double seconds) {
  return SimTime(Duration(static_cast<std::int64_t>(seconds * 1e12)));
}
constexpr Duration kSecond{kPicosecondsPerSecond};

ServingConfig config() {
  ServingConfig out;
  out.workload.requests = 5;
  out.measure.warm_up = 0.2;
  out.measure.slo_ttft = 4 * kSecond;
  out.measure.slo_tpot = kSecond;
  return out;
}

IterationSample prefill(double begin, double gpu, double end, std::int64_t tokens,
                        std::int64_t blocks) {
  return {.begin = at(begin),
          .gpu = at(gpu),
          .end = at(end),
          .prompt_tokens = tokens,
          .layers = 30,
          .blocks_used = blocks};
}
IterationSample decode(double begin, double gpu, double end, std::int64_t layers,
                       std::int64_t blocks) {
  return {.begin = at(begin),
          .gpu = at(gpu),
          .end = at(end),
          .decodes = 1,
          .layers = layers,
          .blocks_used = blocks};
}
RequestOutcome outcome(std::int64_t id, double arrival, double started, double first, double last,
                       std::int64_t in, std::int64_t out) {
  return {.id = id,
          .arrival = at(arrival),
          .started = at(started),
          .first_token = at(first),
          .finished = at(last),
          .input_tokens = in,
          .output_tokens = out};
}

void work_off(ServingStatistics& s) {
  s.on_arrival(at(0));
  s.on_iteration(prefill(0, 0, 1, 100, 2));
  s.on_iteration(decode(1, 1, 2, 30, 3));
  s.on_gap(at(2), kSecond, 1);
  s.on_arrival(at(2));
  s.on_gap(at(3), kSecond, 1);
  s.on_iteration(decode(2, 2.5, 3, 30, 0));
  s.on_finish(outcome(0, 0, 0, 1, 3, 100, 3));
  s.on_iteration(prefill(3, 3, 4, 200, 4));
  s.on_arrival(at(4));
  s.on_gap(at(5), kSecond, 1);
  s.on_iteration(decode(4, 4, 5, 30, 4));
  s.on_arrival(at(5));
  s.on_gap(at(6), kSecond, 1);
  s.on_iteration(decode(5, 5, 6, 15, 0));
  s.on_finish(outcome(1, 2, 3, 4, 6, 200, 3));
  s.on_arrival(at(6));
  s.on_iteration(prefill(6, 6, 7, 150, 0));
  RequestOutcome cached = outcome(2, 4, 6, 7, 7, 300, 1);
  cached.cached_tokens = 150;
  s.on_finish(cached);
  s.on_iteration(prefill(7, 8, 9, 400, 5));
  s.on_gap(at(11), 2 * kSecond, 1);
  s.on_iteration(decode(9, 9, 11, 10, 0));
  RequestOutcome preempted = outcome(3, 5, 7, 9, 11, 400, 2);
  preempted.preemptions = 1;
  s.on_finish(preempted);
  s.on_iteration(prefill(11, 11, 12, 100, 0));
  s.on_finish(outcome(4, 6, 11, 12, 12, 100, 1));
}

RunRecord five_requests() {
  const ServingConfig c = config();
  ServingStatistics statistics(
      c, {.replicas = 1, .blocks = 10, .channels = {"hbm.bus"}, .tiers = {{"pool", 1000}}});
  statistics.on_held(0, at(0), 100);
  work_off(statistics);
  statistics.on_use(0, at(0), at(12), 6 * kSecond);
  statistics.on_held(0, at(12), 500);
  RunRecord out;
  out.config = "{}";
  statistics.record(out, NumberClass::fitted);
  return out;
}

// Without a warm-up.
RunRecord whole_run() {
  ServingConfig c = config();
  c.measure.warm_up = 0;
  ServingStatistics statistics(c, {.blocks = 10});
  work_off(statistics);
  RunRecord out;
  statistics.record(out, NumberClass::fitted);
  return out;
}

double value(const RunRecord& record, const std::string& metric) {
  return record.metrics.at(metric).value;
}

// 2, 3, 4 and 6 s to the first token; 1 and 2 s a token; 4, 3, 6 and 6 s in all; 1, 2, 2 and 5 s of
// waiting.
TEST(ServingStatistics, LatenciesAreThoseOfRequestsAfterTheWarmUp) {
  const RunRecord r = five_requests();
  EXPECT_DOUBLE_EQ(value(r, "ttft_s.mean"), 3.75);
  EXPECT_DOUBLE_EQ(value(r, "ttft_s.p50"), 3);
  EXPECT_DOUBLE_EQ(value(r, "ttft_s.p90"), 6);
  EXPECT_DOUBLE_EQ(value(r, "tpot_s.mean"), 1.5);
  EXPECT_DOUBLE_EQ(value(r, "tpot_s.p50"), 1);
  EXPECT_DOUBLE_EQ(value(r, "tpot_s.p99"), 2);
  EXPECT_DOUBLE_EQ(value(r, "e2e_latency_s.mean"), 4.75);
  EXPECT_DOUBLE_EQ(value(r, "e2e_latency_s.p50"), 4);
  EXPECT_DOUBLE_EQ(value(r, "queue_time_s.mean"), 2.5);
  EXPECT_DOUBLE_EQ(value(r, "queue_time_s.p95"), 5);
  EXPECT_DOUBLE_EQ(value(r, "prefill_time_s.mean"), 3.75 - 2.5);
  EXPECT_EQ(r.metrics.at("ttft_s.mean").number_class, NumberClass::fitted);
}

// Over the requests that count: (2 + 0 + 2 + 0) s over 3 + 1 + 2 + 1 tokens.
TEST(ServingStatistics, InnerTokenLatencyIsDecodingTimeOverAllTokens) {
  EXPECT_DOUBLE_EQ(value(five_requests(), "inner_token_latency_s"), 4.0 / 7);
}

// In the window: one of the warm-up request and two of request 1; that of request 3 is 2 s.
TEST(ServingStatistics, GapsAreOfAllTokensInTheWindow) {
  const RunRecord r = five_requests();
  EXPECT_DOUBLE_EQ(value(r, "inter_token_latency_s.mean"), 1);
  EXPECT_DOUBLE_EQ(value(r, "inter_token_latency_s.p90"), 1);
  const RunRecord whole = whole_run();  // 1, 1, 1, 1 and 2 s
  EXPECT_DOUBLE_EQ(value(whole, "inter_token_latency_s.mean"), 1.2);
  EXPECT_NEAR(value(whole, "inter_token_latency_s.p50"), 1, LatencyHistogram::kRelativeError);
  EXPECT_NEAR(value(whole, "inter_token_latency_s.p90"), 2, 2 * LatencyHistogram::kRelativeError);
}

// Tokens at 3, 4, 5 and 6 s, a prompt of 200, and two ends in 4 s.
TEST(ServingStatistics, RatesAreOfWhateverHappensInTheWindow) {
  const RunRecord r = five_requests();
  EXPECT_DOUBLE_EQ(value(r, "window_s"), 4);
  EXPECT_DOUBLE_EQ(value(r, "makespan_s"), 12);
  EXPECT_DOUBLE_EQ(value(r, "throughput_tokens_per_s"), 1);
  EXPECT_DOUBLE_EQ(value(r, "input_tokens_per_s"), 50);
  EXPECT_DOUBLE_EQ(value(r, "requests_per_s"), 0.5);
}

// Ten tokens, prompts of 1100, five requests that stay 22 s in all, in 12 s.
TEST(ServingStatistics, WithoutAWarmUpTheWholeRunIsMeasured) {
  const RunRecord r = whole_run();
  EXPECT_EQ(r.serving->counts.counted, 5);
  EXPECT_DOUBLE_EQ(value(r, "window_s"), 12);
  EXPECT_DOUBLE_EQ(value(r, "throughput_tokens_per_s"), 10.0 / 12);
  EXPECT_DOUBLE_EQ(value(r, "input_tokens_per_s"), 1100.0 / 12);
  EXPECT_DOUBLE_EQ(value(r, "requests_per_s"), 5.0 / 12);
  EXPECT_DOUBLE_EQ(value(r, "e2e_latency_s.mean"), 4.4);
  EXPECT_DOUBLE_EQ(value(r, "in_flight.mean"), 22.0 / 12);
  EXPECT_DOUBLE_EQ(value(r, "little_lambda_w"), 22.0 / 12);
  EXPECT_NEAR(value(r, "little_difference"), 0, 1e-15);
}

// Two requests at once, one of them warm-up: 4 tokens in 4 s.
TEST(ServingStatistics, WhereAllArriveAtOnceTheWindowEndsWithTheLastToken) {
  ServingConfig c = config();
  c.workload.requests = 2;
  c.measure.warm_up = 0.5;
  ServingStatistics statistics(c, {.blocks = 10});
  statistics.on_arrival(at(0));
  statistics.on_arrival(at(0));
  statistics.on_gap(at(3), kSecond, 2);
  statistics.on_finish(outcome(0, 0, 0, 2, 3, 10, 2));
  statistics.on_finish(outcome(1, 0, 0, 2, 4, 10, 2));
  RunRecord r;
  statistics.record(r, NumberClass::fitted);
  EXPECT_DOUBLE_EQ(value(r, "window_s"), 4);
  EXPECT_DOUBLE_EQ(value(r, "throughput_tokens_per_s"), 1);
}

// Requests of one token every second, all served at once, but ten in the middle that take 5 s each.
RunRecord every_second(std::int64_t requests) {
  ServingConfig c = config();
  c.workload.requests = requests;
  c.measure.warm_up = 0;
  ServingStatistics statistics(c, {.blocks = 10});
  const auto end = [&](std::int64_t id) {
    const bool slow = id >= requests / 2 && id < requests / 2 + 10;
    return static_cast<double>(id) + (slow ? 5 : 0.5);
  };
  std::vector<std::pair<double, std::int64_t>> ends;
  for (std::int64_t id = 0; id < requests; ++id) ends.emplace_back(end(id), id);
  std::ranges::sort(ends);
  std::int64_t arrived = 0;
  for (const auto& [last, id] : ends) {
    for (; arrived < requests && static_cast<double>(arrived) <= last; ++arrived)
      statistics.on_arrival(at(static_cast<double>(arrived)));
    const auto begin = static_cast<double>(id);
    statistics.on_finish(
        outcome(id, begin, begin, begin + (last - begin >= 5 ? 5 : 0), last, 1, 1));
  }
  RunRecord r;
  statistics.record(r, NumberClass::fitted);
  return r;
}

// 20 batches of ten: one has a mean of 5 s, the others of 0, so 0.25 s with 2.093 x 0.25 to either
// side. No time is below 0.
TEST(ServingStatistics, AnIntervalOfTimesDoesNotBeginBelowZero) {
  const Metric ttft = every_second(200).metrics.at("ttft_s.mean");
  EXPECT_DOUBLE_EQ(ttft.value, 0.25);
  ASSERT_TRUE(ttft.ci95.has_value());
  EXPECT_EQ(ttft.ci95->low, 0);
  EXPECT_NEAR(ttft.ci95->high, 0.25 + 2.093 * 0.25, 0.001);
}

// Bins of one request's tokens differ, but not by chance.
TEST(ServingStatistics, FewRequestsHaveNoIntervals) {
  EXPECT_TRUE(every_second(200).metrics.at("throughput_tokens_per_s").ci95.has_value());
  for (const auto& [name, metric] : every_second(99).metrics)
    EXPECT_FALSE(metric.ci95.has_value()) << name;
}

// Requests 1 and 2 meet both objectives; 3 takes 2 s a token and 4 takes 6 s to the first.
TEST(ServingStatistics, GoodputIsOfRequestsThatKeepEveryPromise) {
  const RunRecord r = five_requests();
  EXPECT_DOUBLE_EQ(value(r, "slo_attainment"), 0.5);
  EXPECT_DOUBLE_EQ(value(r, "goodput_requests_per_s"), 0.25);
}

TEST(ServingStatistics, WithoutAPromiseThereIsNoGoodput) {
  ServingConfig c = config();
  c.measure.slo_ttft.reset();
  c.measure.slo_tpot.reset();
  ServingStatistics statistics(c, {.blocks = 10});
  work_off(statistics);
  RunRecord r;
  statistics.record(r, NumberClass::fitted);
  EXPECT_FALSE(r.metrics.contains("goodput_requests_per_s"));
  EXPECT_FALSE(r.metrics.contains("slo_attainment"));
}

// Seconds in the system within the window: 1 + 4 + 2 + 1; of them waiting 0 + 1 + 2 + 1.
TEST(ServingStatistics, RequestsInTheSystemWaitOrRun) {
  const RunRecord r = five_requests();
  EXPECT_DOUBLE_EQ(value(r, "in_flight.mean"), 2);
  EXPECT_DOUBLE_EQ(value(r, "queue_depth.mean"), 1);
  EXPECT_DOUBLE_EQ(value(r, "running.mean"), 1);
  EXPECT_DOUBLE_EQ(value(r, "in_flight.max"), 3);
  EXPECT_DOUBLE_EQ(value(r, "queue_depth.max"), 2);
  EXPECT_DOUBLE_EQ(value(r, "running.max"), 1);
}

// Arrivals at 2, 4 and 5 s, the one at 6 s closes the window: 3 / 4 a second that stay 4.75 s.
TEST(ServingStatistics, LittlesLawIsOfArrivalsInTheWindow) {
  const RunRecord r = five_requests();
  EXPECT_DOUBLE_EQ(value(r, "little_lambda_w"), 0.75 * 4.75);
  EXPECT_DOUBLE_EQ(value(r, "little_difference"), 0.75 * 4.75 / 2 - 1);
}

// Blocks: 3 for 1 s and 4 for 2 s, of 10. The GPU works from 2.5 s on. Layers: 30, 30 and 15.
TEST(ServingStatistics, SharesAreOverTheWindow) {
  const RunRecord r = five_requests();
  EXPECT_DOUBLE_EQ(value(r, "kv_use.mean"), 0.275);
  EXPECT_DOUBLE_EQ(value(r, "kv_use.max"), 0.4);
  EXPECT_DOUBLE_EQ(value(r, "gpu_busy_share"), 0.875);
  EXPECT_DOUBLE_EQ(value(r, "host_wait_share"), 0.125);
  EXPECT_DOUBLE_EQ(value(r, "batch_size.mean"), 1);
  EXPECT_DOUBLE_EQ(value(r, "layers_run.mean"), 25);
  EXPECT_DOUBLE_EQ(value(r, "prefix_hit_rate"), 0.15);
  EXPECT_DOUBLE_EQ(value(r, "preemptions"), 1);
  EXPECT_DOUBLE_EQ(value(r, "iterations"), 10);
}

TEST(ServingStatistics, TiersHoldBytesOverTime) {
  const ServingRecord serving = *five_requests().serving;
  ASSERT_EQ(serving.tiers.size(), 1U);
  EXPECT_EQ(serving.tiers[0].name, "pool");
  EXPECT_EQ(serving.tiers[0].capacity_bytes, 1000);
  EXPECT_DOUBLE_EQ(serving.tiers[0].mean_bytes, 100);
  EXPECT_EQ(serving.tiers[0].max_bytes, 100);  // the 500 at the end are after the window
  ASSERT_EQ(serving.timeline.held_bytes.size(), 1U);
  EXPECT_DOUBLE_EQ(serving.timeline.held_bytes[0].values.back(), 100);
}

TEST(ServingStatistics, CountsAreOfTheWholeRun) {
  const ServingRecord serving = *five_requests().serving;
  EXPECT_EQ(serving.counts.requests, 5);
  EXPECT_EQ(serving.counts.counted, 4);
  EXPECT_EQ(serving.counts.input_tokens, 1100);
  EXPECT_EQ(serving.counts.cached_tokens, 150);
  EXPECT_EQ(serving.counts.prefilled_tokens, 950);
  EXPECT_EQ(serving.counts.output_tokens, 10);
  EXPECT_DOUBLE_EQ(serving.window_s.low, 2);
  EXPECT_DOUBLE_EQ(serving.window_s.high, 6);
}

// Integrals over the whole run: 22 request seconds (of them 10 waiting), 10 tokens out, half of the
// channel's time.
TEST(ServingStatistics, TheTimelineAddsUpToTheRun) {
  const ServingTimeline t = five_requests().serving->timeline;
  const auto integral = [&](const std::vector<double>& values) {
    double sum = 0;
    for (std::size_t i = 0; i < values.size(); ++i)
      sum += values[i] * (i + 1 == values.size() ? t.last_bin_s : t.bin_s);
    return sum;
  };
  EXPECT_GT(t.queue_depth.size(), Timeline::kBins / 2);
  EXPECT_LE(t.queue_depth.size(), Timeline::kBins);
  EXPECT_NEAR(integral(t.queue_depth), 10, 1e-9);
  EXPECT_NEAR(integral(t.running), 12, 1e-9);
  EXPECT_NEAR(integral(t.input_tokens_per_s), 1100, 1e-9);
  EXPECT_NEAR(integral(t.output_tokens_per_s), 10, 1e-9);
  EXPECT_NEAR(integral(t.kv_use), (2 + 3 + 4 + 4 + 10) / 10.0, 1e-9);
  ASSERT_EQ(t.utilisation.size(), 2U);
  EXPECT_EQ(t.utilisation[0].name, "gpu");
  EXPECT_NEAR(integral(t.utilisation[0].values), 10.5, 1e-9);
  EXPECT_EQ(t.utilisation[1].name, "hbm.bus");
  EXPECT_NEAR(integral(t.utilisation[1].values), 6, 1e-9);
}

// The next iteration's host work began while the GPU was busy: only the rest of it is waiting.
TEST(ServingStatistics, HostWorkBehindTheGpuCostsNothing) {
  ServingConfig c = config();
  c.workload.requests = 1;
  ServingStatistics statistics(c, {.blocks = 10});
  statistics.on_arrival(at(0));
  statistics.on_iteration(prefill(0, 1, 5, 10, 1));
  statistics.on_iteration(decode(2, 6, 10, 30, 0));
  statistics.on_gap(at(10), 5 * kSecond, 1);
  statistics.on_finish(outcome(0, 0, 0, 5, 10, 10, 2));
  RunRecord r;
  statistics.record(r, NumberClass::fitted);
  EXPECT_DOUBLE_EQ(value(r, "gpu_busy_share"), 0.8);
  EXPECT_DOUBLE_EQ(value(r, "host_wait_share"), 0.2);
}

// A user who thinks longer is overtaken: request 2 arrives and ends before request 1. The first
// two to arrive are the warm-up.
TEST(ServingStatistics, TheOrderOfArrivalCountsNotThatOfNames) {
  ServingConfig c = config();
  c.workload.requests = 3;
  c.measure.warm_up = 0.7;
  ServingStatistics statistics(c, {.blocks = 10});
  statistics.on_arrival(at(0));
  statistics.on_finish(outcome(0, 0, 0, 1, 1, 10, 1));
  statistics.on_arrival(at(2));
  statistics.on_finish(outcome(2, 2, 2, 5, 5, 10, 1));
  statistics.on_arrival(at(6));
  statistics.on_finish(outcome(1, 6, 6, 7, 7, 10, 1));
  RunRecord r;
  statistics.record(r, NumberClass::fitted);
  EXPECT_EQ(r.serving->counts.counted, 1);
  EXPECT_DOUBLE_EQ(value(r, "e2e_latency_s.mean"), 1);
  EXPECT_DOUBLE_EQ(value(r, "window_s"), 1);
  EXPECT_DOUBLE_EQ(value(r, "makespan_s"), 7);
}

// The window is 4 s to 8 s: of iterations of 1 to 6 s and 7 to 10 s on the GPU, 2 s and 1 s.
TEST(ServingStatistics, IterationsAreCutAtTheEndsOfTheWindow) {
  ServingConfig c = config();
  c.workload.requests = 3;
  c.measure.warm_up = 0.4;
  ServingStatistics statistics(c, {.blocks = 10});
  statistics.on_arrival(at(0));
  statistics.on_arrival(at(4));
  statistics.on_iteration(prefill(0, 1, 6, 10, 1));
  statistics.on_finish(outcome(0, 0, 0, 6, 6, 10, 1));
  statistics.on_arrival(at(8));
  statistics.on_iteration(prefill(6, 7, 10, 20, 0));
  statistics.on_finish(outcome(1, 4, 6, 10, 10, 10, 1));
  statistics.on_finish(outcome(2, 8, 8, 10, 10, 10, 1));
  RunRecord r;
  statistics.record(r, NumberClass::fitted);
  EXPECT_DOUBLE_EQ(value(r, "gpu_busy_share"), 0.75);
  EXPECT_DOUBLE_EQ(value(r, "host_wait_share"), 0.25);
}

TEST(ServingStatistics, KeepsWhatTheServerSaidOfCapacity) {
  const ServingConfig c = config();
  ServingStatistics statistics(c, {.blocks = 10});
  work_off(statistics);
  RunRecord r;
  r.serving.emplace().capacity.blocks = 10;
  r.serving->moves = {{"swap_out", 4096, 2}};
  statistics.record(r, NumberClass::fitted);
  EXPECT_EQ(r.serving->capacity.blocks, 10);
  ASSERT_EQ(r.serving->moves.size(), 1U);
  EXPECT_EQ(r.serving->moves[0].bytes, 4096);
  EXPECT_EQ(r.serving->counts.requests, 5);
}

TEST(ServingStatistics, ALostTokenOrAWrongArrivalIsNoticed) {
  const auto run = [](std::int64_t tokens, double arrival) {
    ServingConfig c = config();
    c.workload.requests = 1;
    ServingStatistics statistics(c, {.blocks = 10});
    statistics.on_arrival(at(1));
    statistics.on_gap(at(4), kSecond, tokens);
    statistics.on_finish(outcome(0, arrival, 2, 3, 4, 10, 2));
    RunRecord r;
    statistics.record(r, NumberClass::fitted);
  };
  run(1, 1);
  EXPECT_DEATH(run(2, 1), "later_tokens == seen_.later_tokens");
  EXPECT_DEATH(run(1, 0.5), "stays == seen_.stay");
}

TEST(ServingStatistics, ARequestThatIsStillThereIsNoticed) {
  const ServingConfig c = config();
  ServingStatistics statistics(c, {.blocks = 10});
  for (int i = 0; i < 5; ++i) statistics.on_arrival(at(i));
  RunRecord r;
  EXPECT_DEATH(statistics.record(r, NumberClass::fitted), "finished == seen_.arrived");
}

TEST(RunRecord, ServingIsInResultsUnderTheNamesOfMetrics) {
  const auto json = nlohmann::json::parse(to_json(five_requests()));
  const auto& results = json.at("results");
  for (const auto& [name, metric] : results.at("metrics").items()) {
    const MetricDefinition* definition = find_metric(name);
    ASSERT_NE(definition, nullptr) << name;
    EXPECT_EQ(metric.at("unit"), definition->unit) << name;
  }
  EXPECT_EQ(results.at("metrics").at("ttft_s.p50").at("value"), 3);
  EXPECT_EQ(results.at("serving").at("counts").at("output_tokens"), 10);
  EXPECT_EQ(results.at("serving").at("window_s"), (nlohmann::json{2.0, 6.0}));
  EXPECT_EQ(results.at("serving").at("timeline").at("utilisation").size(), 2U);
  RunRecord step;
  step.config = "{}";
  EXPECT_FALSE(nlohmann::json::parse(to_json(step)).at("results").contains("serving"));
}

}  // namespace
}  // namespace tiersim::serving_statistics_test
