// A server that reads prompts on one system and answers on another.
#include <cstdint>
#include <string>
#include <vector>

#include <fmt/format.h>
#include <gtest/gtest.h>

#include "sim/serving/kv_layout.hpp"
#include "sim/serving/pools.hpp"
#include "sim/serving/serve.hpp"
#include "tests/theory/serving_run.hpp"

namespace tiersim::serving_pools_test {
namespace {

constexpr auto kServer = "serving/llama3_8b_h100x4_disaggregated.yaml";
using Settings = std::vector<std::string>;
using testing::metric_of;

RunRecord run(const Settings& settings) {
  return testing::record_of(kServer, settings);
}

const KvMove& hand_over(const RunRecord& record) {
  EXPECT_EQ(record.serving->moves.size(), 1U);
  EXPECT_EQ(record.serving->moves.front().name, "handover");
  return record.serving->moves.front();
}

// Systems that cost nothing beside devices, so that times can be compared exactly.
Settings apart(const std::string& prefill, Settings more = {}) {
  Settings out{"server.disaggregation=~", "prefill=" + prefill};
  out.insert(out.end(), more.begin(), more.end());
  return out;
}

// Two GPUs that read and two that answer are the same server, however they are written down: only
// channels that they would share are in one case two.
TEST(Pools, OfEqualHardwareAreThePartsOfOneSystem) {
  const Settings load{"workload.requests=300", "workload.arrivals.requests_per_s=12"};
  Settings one = load;
  one.emplace_back("server.disaggregation.prefill_replicas=2");
  Settings two = apart("{system: {base: systems/h100_nvlink_nixl.yaml, gpus: {count: 2}}}", load);
  two.emplace_back("system.gpus.count=2");
  const RunRecord together = run(one);
  const RunRecord pools = run(two);
  EXPECT_EQ(together.gpus, pools.gpus);
  EXPECT_EQ(together.serving->prefill_replicas, pools.serving->prefill_replicas);
  EXPECT_EQ(together.serving->replicas, pools.serving->replicas);
  EXPECT_EQ(hand_over(together).bytes, hand_over(pools).bytes);
  ASSERT_EQ(together.metrics.size(), pools.metrics.size());
  for (const auto& [name, metric] : together.metrics) {
    // Two systems have a host each, which takes power and costs money.
    if (name == "energy_j_per_token" || name == "cost_usd_per_mtoken") continue;
    EXPECT_NEAR(metric.value, metric_of(pools, name), 1e-9 * std::abs(metric.value)) << name;
  }
}

// One request at a time takes the first token's time from the system that reads it, and all else
// from the system that answers.
TEST(Pools, TakeTheirTimesFromTheirSystems) {
  const Settings one{
      "workload.requests=1", "workload.input={distribution: uniform, min: 3000, max: 3000}",
      "workload.output={distribution: uniform, min: 200, max: 200}", "measure.warm_up=0"};
  const auto pools = [&](const std::string& prefill, const std::string& decode) {
    Settings set = apart(fmt::format("{{system: {{base: systems/{}.yaml}}}}", prefill), one);
    set.push_back(fmt::format("system={{base: systems/{}.yaml}}", decode));
    return run(set);
  };
  const RunRecord hh = pools("h100_nvlink_nixl", "h100_nvlink_nixl");
  const RunRecord h2 = pools("h100_nvlink_nixl", "h200_nvlink_handover");
  const RunRecord two = pools("h200_nvlink_handover", "h200_nvlink_handover");
  EXPECT_EQ(metric_of(hh, "ttft_s.mean"), metric_of(h2, "ttft_s.mean"));
  EXPECT_NE(metric_of(two, "ttft_s.mean"), metric_of(h2, "ttft_s.mean"));
  // The gaps after the first, which contains the hand-over.
  EXPECT_EQ(metric_of(two, "inter_token_latency_s.p50"),
            metric_of(h2, "inter_token_latency_s.p50"));
  EXPECT_GT(metric_of(hh, "inter_token_latency_s.p50"), metric_of(h2, "inter_token_latency_s.p50"));
}

// The receiving GPUs get what they keep, however many GPUs send it; each sender and each
// receiver carries its part.
TEST(Pools, HandOverWhatTheReceiverKeeps) {
  struct Case {
    int sending;
    int receiving;
  };
  for (const auto& [sending, receiving] :
       {Case{1, 1}, Case{4, 1}, Case{1, 4}, Case{2, 4}, Case{8, 2}}) {
    Settings set = apart(
        fmt::format("{{system: {{base: systems/h100_nvlink_rdma.yaml, gpus: {{count: {0}}}}}, "
                    "parallel: {{tensor: {0}}}}}",
                    sending),
        {"workload.requests=20", "workload.input={distribution: uniform, min: 1000, max: 1000}",
         "workload.output={distribution: uniform, min: 2, max: 2}",
         "system={base: systems/h100_nvlink_rdma.yaml}"});
    set.push_back(fmt::format("system.gpus.count={}", receiving));
    set.push_back(fmt::format("parallel={{tensor: {}}}", receiving));
    const RunRecord record = run(set);
    const std::string text = fmt::format("{} to {}", sending, receiving);
    const double cache = 20.0 * 63 * 16 * 128 * 1024;  // 1000 positions are 63 blocks of 16
    EXPECT_EQ(hand_over(record).bytes, cache) << text;
    EXPECT_EQ(record.serving->replicas, 2) << text;
    EXPECT_EQ(record.gpus, sending + receiving) << text;
    // A channel's bytes are those of one GPU of a group, which all do the same.
    const double sent =
        static_cast<double>(record.channel_bytes.at("prefill.network.from_gpu")) * sending;
    const double received =
        static_cast<double>(record.channel_bytes.at("network.to_gpu")) * receiving;
    EXPECT_GE(sent, cache) << text;  // with headers
    EXPECT_NEAR(sent, received, 1e-3 * sent) << text;
    EXPECT_LT(sent, 1.2 * cache) << text;
  }
}

// Stages of pipelines of different lengths: a part goes from the stage that has it to the one that
// gets it, and nothing is lost.
TEST(Pools, HandOverBetweenPipelinesOfDifferentLengths) {
  for (const auto& [sending, receiving] : {std::pair(1, 2), std::pair(2, 1), std::pair(4, 2)}) {
    Settings set = apart(
        fmt::format("{{system: {{base: systems/h100_nvlink_rdma.yaml, gpus: {{count: {0}}}}}, "
                    "parallel: {{pipeline: {0}}}}}",
                    sending),
        {"workload.requests=50", "measure.warm_up=0",
         "system={base: systems/h100_nvlink_rdma.yaml}",
         "workload.input={distribution: uniform, min: 1000, max: 1000}"});
    set.push_back(fmt::format("system.gpus.count={}", receiving));
    set.push_back(fmt::format("parallel={{pipeline: {}}}", receiving));
    const RunRecord record = run(set);
    EXPECT_EQ(hand_over(record).count, 50);
    EXPECT_EQ(hand_over(record).bytes, 50.0 * 63 * 16 * 128 * 1024) << sending << ' ' << receiving;
    EXPECT_NEAR(metric_of(record, "little_difference"), 0, 1e-12);
  }
}

// The first token comes at the end of the prompt, with the cache, or one iteration after it. The
// cache takes the same time in all cases, so that only the last one ends later, by that iteration.
TEST(Pools, GiveTheFirstTokenWhereTheEngineDoes) {
  const auto with = [](const std::string& first_token) {
    return run(apart("{system: {base: systems/h100_nvlink_rdma.yaml}}",
                     {"workload.requests=1", "system={base: systems/h100_nvlink_rdma.yaml}",
                      "workload.input={distribution: uniform, min: 7000, max: 7000}",
                      "workload.output={distribution: uniform, min: 100, max: 100}",
                      "server.base=servers/no_host.yaml", "measure.warm_up=0",
                      "server.handover={first_token: " + first_token + "}"}));
  };
  const RunRecord prefill = with("prefill");
  const RunRecord cache = with("with_handover");
  const RunRecord decode = with("decode");
  const double token = metric_of(cache, "tpot_s.mean");
  const double hand_over_s = metric_of(cache, "ttft_s.mean") - metric_of(prefill, "ttft_s.mean");
  // 7000 positions are 438 blocks of 2 MiB over 50 GB/s at most.
  EXPECT_GT(hand_over_s, 438 * 16 * 128.0 * 1024 / 50e9);
  EXPECT_NEAR(metric_of(cache, "e2e_latency_s.mean"), metric_of(prefill, "e2e_latency_s.mean"),
              1e-11);
  EXPECT_NEAR(metric_of(prefill, "tpot_s.mean"), token + hand_over_s / 99, 1e-11);
  const double again = metric_of(decode, "ttft_s.mean") - metric_of(cache, "ttft_s.mean");
  EXPECT_NEAR(again, token, 0.01 * token);  // one of 100 steps, at the least context
  EXPECT_NEAR(metric_of(decode, "e2e_latency_s.mean"),
              metric_of(cache, "e2e_latency_s.mean") + again, 1e-11);
  EXPECT_EQ(decode.serving->counts.prefilled_tokens, 7000);
  EXPECT_EQ(cache.serving->counts.prefilled_tokens, 7000);
}

// A prompt of 7000 positions has 438 blocks of 2 MiB. After its end only the blocks of its last
// piece are sent, or a 32nd of them, the last layer. The rest is sent while the prompt is read.
TEST(Pools, SendPartsOfACacheWhileItsPromptIsRead) {
  const auto with = [](const std::string& send, int piece) {
    RunRecord record =
        run(apart("{system: {base: systems/h100_nvlink_rdma.yaml}}",
                  {"workload.requests=1", "system={base: systems/h100_nvlink_rdma.yaml}",
                   "workload.input={distribution: uniform, min: 7000, max: 7000}",
                   "workload.output={distribution: uniform, min: 2, max: 2}",
                   "server.base=servers/no_host.yaml", "measure.warm_up=0",
                   fmt::format("server.scheduler.max_batched_tokens={}", piece),
                   "server.handover.send=" + send}));
    EXPECT_EQ(hand_over(record).bytes, 438.0 * 2 * 1024 * 1024) << send;
    return record;
  };
  const auto after = [](const RunRecord& record) { return metric_of(record, "tpot_s.mean"); };
  const RunRecord whole = with("at_end", 8192);
  const RunRecord layers = with("by_layer", 8192);
  EXPECT_EQ(after(with("by_piece", 8192)), after(whole));  // there is one piece
  EXPECT_EQ(metric_of(layers, "ttft_s.mean"), metric_of(whole, "ttft_s.mean"));
  const double block = 2 * 1024 * 1024 / 50e9;  // of a network of 50 GB/s at most
  const double saved = after(whole) - after(layers);
  EXPECT_GT(saved, (438 - 14) * block);  // 14 blocks are the last layer's share
  EXPECT_LT(saved, (438 - 14) * block * 1.3);
  // Seven pieces: 376 blocks have gone before the last one, of 856 positions and 54 blocks.
  const RunRecord pieces = with("by_piece", 1024);
  const RunRecord at_end = with("at_end", 1024);
  const double early = after(at_end) - after(pieces);
  EXPECT_GT(early, 384 * block);
  EXPECT_LT(early, 384 * block * 1.3);
  EXPECT_LT(after(with("by_layer", 1024)), after(pieces));
}

// A replica that answers has room for one prompt: the others' caches are sent at their ends, and
// each of their 125 blocks goes once.
TEST(Pools, SendAtTheEndWhatTheReceiverHasNoRoomFor) {
  for (const char* send : {"by_piece", "by_layer"}) {
    const RunRecord record =
        run(apart("{system: {base: systems/h100_nvlink_rdma.yaml}}",
                  {"workload.requests=20", "workload.arrivals={process: at_once}",
                   "system={base: systems/h100_nvlink_rdma.yaml}", "server.kv.share=0.01",
                   "server.kv.admission=whole",
                   "workload.input={distribution: uniform, min: 2000, max: 2000}",
                   "workload.output={distribution: uniform, min: 50, max: 50}", "measure.warm_up=0",
                   fmt::format("server.handover={{send: {}}}", send)}));
    EXPECT_EQ(record.serving->counts.requests, 20) << send;
    EXPECT_EQ(hand_over(record).bytes, 20 * 125.0 * 2 * 1024 * 1024) << send;
  }
}

// The decoding replica computes the last of 17 positions itself, so one block of 16 is sent.
TEST(Pools, SendNoPositionThatTheOtherReplicaComputes) {
  for (const char* send : {"at_end", "by_piece", "by_layer"}) {
    const RunRecord record =
        run(apart("{system: {base: systems/h100_nvlink_rdma.yaml}}",
                  {"workload.requests=1", "system={base: systems/h100_nvlink_rdma.yaml}",
                   "workload.input={distribution: uniform, min: 17, max: 17}",
                   "workload.output={distribution: uniform, min: 2, max: 2}", "measure.warm_up=0",
                   fmt::format("server.handover={{send: {}, first_token: decode}}", send)}));
    EXPECT_EQ(hand_over(record).bytes, 2.0 * 1024 * 1024) << send;
  }
}

// Long prompts among short ones in a small KV cache: while a request waits for blocks, no other one
// may reserve blocks ahead of time, or long prompts would starve.
TEST(Pools, ReserveNothingWhileAnotherRequestWaitsForBlocks) {
  const auto worst = [](const char* send) {
    const RunRecord record =
        run(apart("{system: {base: systems/h100_nvlink_rdma.yaml}}",
                  {"workload.requests=400", "system={base: systems/h100_nvlink_rdma.yaml}",
                   "workload.arrivals={process: poisson, requests_per_s: 40}",
                   "workload.input={distribution: lognormal, tokens: 400, sigma: 1.2, max: 6000}",
                   "workload.output={distribution: uniform, min: 300, max: 300}",
                   "server.kv.share=0.02", "measure.warm_up=0",
                   fmt::format("server.handover={{send: {}, first_token: with_handover}}", send)}));
    return metric_of(record, "ttft_s.p99");
  };
  const double at_end = worst("at_end");
  EXPECT_LT(worst("by_piece"), 1.2 * at_end);
  EXPECT_LT(worst("by_layer"), 1.2 * at_end);
}

// A pool's own limits of an iteration hold for it alone.
TEST(Pools, HaveLimitsOfTheirOwn) {
  const Settings load{"workload.requests=100", "workload.arrivals={process: at_once}",
                      "workload.input={distribution: uniform, min: 4000, max: 4000}",
                      "system.gpus.count=1"};
  const auto with = [&](const std::string& limit) {
    return run(apart("{system: {base: systems/h100_nvlink_nixl.yaml}" + limit + "}", load));
  };
  const RunRecord as_decode = with("");
  const RunRecord small = with(", max_batched_tokens: 1000, max_sequences: 8");
  EXPECT_GT(metric_of(small, "iterations"), metric_of(as_decode, "iterations"));
  EXPECT_EQ(small.serving->counts.prefilled_tokens, as_decode.serving->counts.prefilled_tokens);
}

// The pools' numbers, devices and costs are told apart.
TEST(Pools, AreToldApartInTheRecord) {
  const RunRecord record = run(apart("{system: {base: systems/h200_nvlink_handover.yaml}}",
                                     {"workload.requests=50", "system.gpus.count=1"}));
  bool hbm = false;
  for (const auto& number : record.numbers)
    hbm = hbm || ((number.path.starts_with("prefill.system.tiers.hbm.") && number.in_times));
  EXPECT_TRUE(hbm);
  EXPECT_GT(record.traffic_bytes.at("prefill.hbm").read, 0);
  EXPECT_GT(record.traffic_bytes.at("hbm").read, 0);
  EXPECT_TRUE(record.channel_utilisation.contains("prefill.nvlink.injection"));
  bool tier = false;
  for (const KvTierUse& use : record.serving->tiers) tier = tier || use.name == "prefill.hbm";
  EXPECT_TRUE(tier);
}

TEST(Pools, SayWhichOfThemHasNoRoom) {
  const auto record = serve(testing::serving_config(
      kServer,
      apart("{system: {base: systems/l4_host_dram.yaml, links: {nvlink: {base: "
            "devices/nvlink4_h100.yaml}}, fabrics: {transfer: {collective: {base: "
            "devices/collective_nccl_nvlink4.yaml}, path: [nvlink]}}}}",
            {"model.base=models/llama3_70b.yaml", "system.gpus.count=4", "parallel={tensor: 4}"})));
  ASSERT_FALSE(record);
  EXPECT_NE(record.error().find("prefill: "), std::string::npos) << record.error();
}

}  // namespace
}  // namespace tiersim::serving_pools_test
