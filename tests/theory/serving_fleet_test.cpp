// Replicas that fail and come back, that are slower than others, and that are started and stopped
// as the load asks for.
#include <cstdint>
#include <string>
#include <vector>

#include <fmt/format.h>
#include <gtest/gtest.h>

#include "sim/serving/kv_layout.hpp"
#include "sim/serving/serve.hpp"
#include "tests/theory/serving_run.hpp"

namespace tiersim::serving_fleet_test {
namespace {

constexpr auto kServer = "serving/llama3_8b_h100_poisson.yaml";
using Settings = std::vector<std::string>;
using testing::metric_of;

// On four GPUs of one node, each a replica.
RunRecord run(Settings settings) {
  settings.insert(settings.begin(), {"system={base: systems/h100_nvlink.yaml}",
                                     "system.gpus={count: 4, hosts: 1}", "measure.warm_up=0"});
  return testing::record_of(kServer, settings);
}

// A replica serves for a mean time and is repaired for another, so the share of the time in which
// it is up is that of an alternating renewal process.
TEST(Failures, LeaveReplicasUpForTheirShareOfTheTime) {
  const RunRecord record = run({"workload.requests=4000", "workload.arrivals.requests_per_s=2",
                                "workload.input={distribution: uniform, min: 200, max: 200}",
                                "workload.output={distribution: uniform, min: 20, max: 20}",
                                "server.failures={mean_time_between: 60 s, repair: 20 s}"});
  // Some 100 failures of four replicas in 2000 s: the mean time of 100 lives of 60 s deviates by 6
  // s, so the share by 20 / 80^2 of that and four of them by .075. This is two deviations.
  EXPECT_NEAR(metric_of(record, "replicas_up.mean"), 4 * 60.0 / 80, 0.15);
  EXPECT_GT(metric_of(record, "restarts"), 0);
  EXPECT_EQ(record.serving->counts.requests, 4000);
  EXPECT_EQ(record.serving->counts.output_tokens, 4000 * 20);
  EXPECT_NEAR(metric_of(record, "little_difference"), 0, 0.01);
}

// A request that loses its replica is read again on another, with what it has given so far: the
// prompts that are read are the first ones and those of the restarts.
TEST(Failures, MakeARequestBeginAgainWithWhatItHasGiven) {
  const Settings load{"workload.requests=200",
                      "workload.arrivals={process: closed_loop, users: 40}",
                      "workload.input={distribution: uniform, min: 1000, max: 1000}",
                      "workload.output={distribution: uniform, min: 2000, max: 2000}"};
  Settings failing = load;
  failing.emplace_back("server.failures={mean_time_between: 20 s, repair: 5 s}");
  const RunRecord without = run(load);
  const RunRecord with = run(failing);
  EXPECT_EQ(without.serving->counts.prefilled_tokens, 200 * 1000);
  const double restarts = metric_of(with, "restarts");
  EXPECT_GT(restarts, 10);
  const auto again = static_cast<double>(with.serving->counts.prefilled_tokens - 200 * 1000);
  EXPECT_GT(again, restarts * 1000);  // the prompt, and a part of the answer
  EXPECT_LT(again, restarts * 3000);
  EXPECT_GT(metric_of(with, "makespan_s"), metric_of(without, "makespan_s"));
  EXPECT_EQ(with.serving->counts.output_tokens, 200 * 2000);
}

// Failures that never come leave everything as it is.
TEST(Failures, ThatDoNotComeChangeNothing) {
  const Settings load{"workload.requests=300", "workload.arrivals.requests_per_s=20"};
  Settings rare = load;
  rare.emplace_back("server.failures={mean_time_between: 7000000 s, repair: 1 s}");
  const RunRecord without = run(load);
  const RunRecord with = run(rare);
  EXPECT_EQ(metric_of(with, "restarts"), 0);
  EXPECT_EQ(metric_of(with, "replicas_up.mean"), 4);
  for (const auto& [name, metric] : without.metrics)
    EXPECT_EQ(metric.value, metric_of(with, name)) << name;
}

// With one replica, all wait until it is repaired.
TEST(Failures, OfTheOnlyReplicaMakeAllWait) {
  const RunRecord record =
      run({"system.gpus.count=1", "workload.requests=50", "workload.arrivals.requests_per_s=0.5",
           "server.failures={mean_time_between: 10 s, repair: 15 s}"});
  EXPECT_GT(metric_of(record, "restarts"), 0);
  EXPECT_GT(metric_of(record, "ttft_s.p99"), 5);
  EXPECT_EQ(record.serving->counts.requests, 50);
}

// A slow replica takes so many times longer for its iterations, and a router that counts requests
// gives it fewer.
TEST(Stragglers, TakeLongerAndGetFewerRequests) {
  const Settings one{"system.gpus.count=1", "workload.requests=1",
                     "workload.input={distribution: uniform, min: 1000, max: 1000}",
                     "workload.output={distribution: uniform, min: 100, max: 100}",
                     "server.base=servers/no_host.yaml"};
  Settings slow = one;
  slow.emplace_back("server.stragglers={replicas: [0], slowdown: 1.5}");
  EXPECT_NEAR(
      metric_of(run(slow), "e2e_latency_s.mean") / metric_of(run(one), "e2e_latency_s.mean"), 1.5,
      1e-6);

  const auto slow_share = [](const std::string& routing) {
    const Settings load{
        "workload.requests=400", "workload.arrivals={process: closed_loop, users: 64}",
        "server.stragglers={replicas: [1], slowdown: 3}", "server.routing=" + routing};
    return metric_of(run(load), "throughput_tokens_per_s");
  };
  EXPECT_GT(slow_share("fewest_requests"), 1.02 * slow_share("round_robin"));
}

// Steady load: so many replicas are up as the requests at the server ask for, and none of them at
// first but the least number.
TEST(Scaling, FollowsTheRequests) {
  const std::string scaling =
      "server.scaling={min_replicas: 1, requests_per_replica: 16, interval: 5 s, "
      "stabilization: 30 s, start: 10 s}";
  const auto with = [&](double rate) {
    return run({"workload.requests=3000", fmt::format("workload.arrivals.requests_per_s={}", rate),
                "workload.input={distribution: uniform, min: 1000, max: 1000}",
                "workload.output={distribution: uniform, min: 300, max: 300}",
                "measure.warm_up=0.3", scaling});
  };
  const RunRecord little = with(1);
  const RunRecord much = with(25);
  EXPECT_LT(metric_of(little, "replicas_up.mean"), 1.6);
  EXPECT_GT(metric_of(much, "replicas_up.mean"), 2.5);
  EXPECT_EQ(metric_of(much, "restarts"), 0);
  EXPECT_EQ(much.serving->counts.requests, 3000);
}

// A replica that is started again has new times of service, so that in the mean over its starts it
// fails as often as one that always serves.
TEST(Scaling, StartsReplicasThatFail) {
  const RunRecord record =
      run({"workload.requests=2000",
           "workload.arrivals={process: gamma, requests_per_s: 20, "
           "variation: 6}",
           "server.failures={mean_time_between: 10 s, repair: 2 s}",
           "server.scaling={min_replicas: 1, requests_per_replica: 4, interval: 1 s, "
           "stabilization: 2 s, start: 1 s, weights_from: pool}"});
  EXPECT_EQ(record.serving->counts.requests, 2000);
  EXPECT_GT(metric_of(record, "restarts"), 10);
  // The weights of 8 billion parameters in bf16 were read several times, and nothing else from it.
  EXPECT_GT(record.traffic_bytes.at("pool").read, 3 * 16'000'000'000LL);
  for (const auto& [channel, share] : record.channel_utilisation) EXPECT_LE(share, 1) << channel;
}

// A burst: the second replica serves after a look at the requests, the start and the load of the
// weights from host memory over PCIe.
TEST(Scaling, StartsAfterItsWeightsAreLoaded) {
  const Settings burst{"workload.requests=64",
                       "workload.arrivals={process: fixed_rate, requests_per_s: 10}",
                       "workload.input={distribution: uniform, min: 500, max: 500}",
                       "workload.output={distribution: uniform, min: 1000, max: 1000}",
                       "server.scheduler.max_sequences=16"};
  const auto p99 = [&](const std::string& scaling) {
    Settings set = burst;
    set.push_back(
        "server.scaling={min_replicas: 1, requests_per_replica: 16, interval: 1 s, "
        "stabilization: 60 s, " +
        scaling + "}");
    return metric_of(run(set), "e2e_latency_s.p99");
  };
  const double at_once = p99("start: 0 s");
  const double loaded = p99("start: 0 s, weights_from: pool");
  const double later = p99("start: 3 s");
  EXPECT_GT(loaded, at_once);
  EXPECT_GT(later, loaded);  // 16 GB over 63 GB/s at most are a quarter of a second
}

// A request beyond the room of every replica, and failures that leave no time for a prompt, end the
// run with a message.
TEST(Fleet, SaysWhatCannotBeServed) {
  for (const char* fleet : {"server.failures={mean_time_between: 10 s, repair: 1 s}",
                            "server.scaling={requests_per_replica: 2, interval: 1 s, "
                            "stabilization: 1 s, start: 1 s}"}) {
    const auto record = serve(testing::serving_config(
        kServer, {"workload.requests=20", fleet,
                  "workload.input={distribution: uniform, min: 900000, max: 900000}"}));
    ASSERT_FALSE(record);
    EXPECT_NE(record.error().find("needs"), std::string::npos) << record.error();
  }
  const auto record = serve(testing::serving_config(
      kServer, {"workload.requests=20", "server.failures={mean_time_between: 1 ms, repair: 0 s}"}));
  ASSERT_FALSE(record);
  EXPECT_NE(record.error().find("has lost its replica 1000 times"), std::string::npos)
      << record.error();
}

// Every rate of failures, policy and load serves every request, and gives the same result again.
TEST(Fleet, LosesNoRequest) {
  for (const char* policy : {"chunked", "decode_first"})
    for (const char* fleet :
         {"server.failures={mean_time_between: 3 s, repair: 1 s}",
          "server.failures={mean_time_between: 500 ms, repair: 0 s}",
          "server.scaling={min_replicas: 1, requests_per_replica: 2, interval: 100 ms, "
          "stabilization: 200 ms, start: 50 ms}"})
      for (const char* arrivals :
           {"{process: at_once}", "{process: closed_loop, users: 7, think_time: 200 ms}",
            "{process: gamma, requests_per_s: 20, variation: 4}"}) {
        const Settings set{"workload.requests=40", std::string("workload.arrivals=") + arrivals,
                           std::string("server.scheduler.policy=") + policy, fleet,
                           "workload.output={distribution: uniform, min: 1, max: 200}"};
        const RunRecord record = run(set);
        EXPECT_EQ(record.serving->counts.requests, 40);
        const RunRecord again = run(set);
        for (const auto& [name, metric] : record.metrics)
          EXPECT_EQ(metric.value, again.metrics.at(name).value) << name;
      }
}

// One request alone: the iteration that reads its prompt and 100 that give a token.
TEST(ExpertRebalance, StopsAReplicaAfterSoManyIterations) {
  const auto record = [](const std::string& rebalance) {
    return run({"model.base=models/qwen3_30b_a3b.yaml",
                "parallel={tensor: 4, attention: data, dense: data, experts: spread}",
                "workload.requests=1", "workload.input={distribution: fixed, tokens: 64}",
                "workload.output={distribution: fixed, tokens: 101}", rebalance});
  };
  const auto makespan = [&](const std::string& rebalance) {
    return metric_of(record(rebalance), "makespan_s");
  };
  const double without = makespan("server.expert_rebalance=~");
  EXPECT_EQ(makespan("server.expert_rebalance={iterations: 10, pause: 0 s}"), without);
  const RunRecord paused = record("server.expert_rebalance={iterations: 10, pause: 50 ms}");
  EXPECT_NEAR(metric_of(paused, "makespan_s"), without + 10 * 0.05, 1e-9);
  // The GPU waits for them as for copies.
  EXPECT_NEAR(metric_of(paused, "copy_wait_share") * metric_of(paused, "window_s"), 10 * 0.05,
              1e-9);
  EXPECT_NEAR(makespan("server.expert_rebalance={iterations: 100, pause: 50 ms}"), without + 0.05,
              1e-9);
  EXPECT_EQ(makespan("server.expert_rebalance={iterations: 101, pause: 50 ms}"), without);
}

}  // namespace
}  // namespace tiersim::serving_fleet_test
