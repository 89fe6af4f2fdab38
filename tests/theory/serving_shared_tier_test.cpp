// One tier for all replicas. Requests come one at a time, and nothing stays in the pools, so that
// several replicas over one store find what one replica alone over that store finds.
#include "tests/theory/serving_run.hpp"

namespace tiersim::serving_shared_tier_test {
namespace {

using Settings = std::vector<std::string>;

constexpr double kTwelvePrompts = 402653184;  // bytes: 16 blocks of 2 MiB each

// 200 prompts of 40 groups by Zipf's law, 16 blocks each; the tier holds 12 prompts.
ServingConfig config(int replicas, bool shared, const Settings& set = {}) {
  Settings all{
      "name=shared tier",
      "method={name: dense, kv_tier: near}",
      "system.gpus.count=" + std::to_string(replicas),
      "server.routing=round_robin",
      std::string("server.prefix_cache={keep_in_pool: false, tiers: [{tier: pool, capacity: ") +
          "402653184 B, shared: " + (shared ? "true" : "false") + "}]}",
      "workload={prefix_block: 16, output: {tokens: 1}, arrivals: {process: fixed_rate, "
      "requests_per_s: 0.5}, sessions: {count: 200, turns: {count: 1}, groups: {count: "
      "40, zipf: 1, prompt: {tokens: 256}}, first_prompt: {tokens: 8}}}"};
  all.insert(all.end(), set.begin(), set.end());
  return testing::serving_config("bases/serving_llama3_8b.yaml", all);
}
RunRecord served(const ServingConfig& c) {
  const auto record = serve(c, nullptr);
  EXPECT_TRUE(record) << record.error();
  return record ? *record : RunRecord{};
}
double hit_rate(const ServingConfig& c) {
  return testing::metric_of(served(c), "prefix_hit_rate");
}

TEST(SharedTier, AllReplicasFindWhatOneAloneWouldFind) {
  const double alone = hit_rate(config(1, false));
  EXPECT_GT(alone, 0.2);
  EXPECT_LT(alone, 0.9);
  EXPECT_EQ(hit_rate(config(1, true)), alone);
  EXPECT_EQ(hit_rate(config(4, true)), alone);
  // The same room in four parts, each of which sees a quarter of the prompts.
  EXPECT_LT(hit_rate(config(4, false, {"server.prefix_cache.tiers.0.capacity=100663296 B"})),
            0.8 * alone);
}

TEST(SharedTier, ItsBytesCountOnce) {
  const RunRecord record = served(config(4, true));
  const auto& tiers = record.serving->tiers;
  const auto pool = std::ranges::find(tiers, "pool", &KvTierUse::name);
  ASSERT_NE(pool, tiers.end());
  EXPECT_LE(pool->max_bytes, kTwelvePrompts);
  EXPECT_GT(pool->max_bytes, kTwelvePrompts * 9 / 10);
  EXPECT_EQ(pool->capacity_bytes, kTwelvePrompts);
}

// All replicas tell the tier the one time of the run.
TEST(SharedTier, MayHaveALifetime) {
  const Settings lives{"server.prefix_cache.tiers.0.ttl=20 s"};
  const double alone = hit_rate(config(1, true, lives));
  EXPECT_LT(alone, hit_rate(config(1, true)));
  EXPECT_EQ(hit_rate(config(4, true, lives)), alone);
}

// The replicas that read prompts share the tier; those that answer keep no prefixes.
TEST(SharedTier, OfServersThatReadAndAnswerApart) {
  const double alone = hit_rate(config(1, true));
  EXPECT_EQ(hit_rate(config(4, true,
                            {"server.disaggregation={prefill_replicas: 2}",
                             "system.base=systems/h100_nvlink_rdma.yaml"})),
            alone);
}

// Four sessions at a time of three turns each, which share nothing with other sessions.
TEST(SessionRouting, ATurnFindsWhatTheOneBeforeLeft) {
  const auto rate = [](int replicas, const std::string& routing) {
    return hit_rate(config(
        replicas, false,
        {"server.routing=" + routing, "server.prefix_cache.keep_in_pool=true",
         "server.prefix_cache.tiers=[]",
         "workload.sessions={count: 20, turns: {count: 3}, first_prompt: {tokens: 256}, message: "
         "{tokens: 64}, think_time: {time: 5 s}, groups: ~}"}));
  };
  const double alone = rate(1, "round_robin");
  EXPECT_EQ(rate(4, "session"), alone);
  EXPECT_LT(rate(4, "round_robin"), alone);
}

// A session whose replica has failed goes on elsewhere; all requests end, and some began anew.
TEST(SessionRouting, OutlivesItsReplica) {
  const RunRecord record = served(config(
      4, false,
      {"server.routing=session", "server.prefix_cache.keep_in_pool=true",
       "server.prefix_cache.tiers=[]",
       "server.failures={mean_time_between: {value: 20 s, class: assumed, source: a test}, repair: "
       "{value: 10 s, class: assumed, source: a test}}",
       "workload.sessions={count: 20, turns: {count: 3}, first_prompt: {tokens: 256}, message: "
       "{tokens: 64}, think_time: {time: 5 s}, groups: ~}"}));
  EXPECT_EQ(record.serving->counts.requests, 60);
}

// A block in a replica's own pool counts there, and not in the tier.
TEST(SharedTier, RatesByPlaceAddUp) {
  const RunRecord record =
      served(config(4, true, {"server.prefix_cache.keep_in_pool=true", "server.routing=prefix"}));
  const double pool = testing::metric_of(record, "prefix_hit_rate.pool");
  const double tier = testing::metric_of(record, "prefix_hit_rate.tier1");
  EXPECT_GT(pool, 0);
  EXPECT_NEAR(pool + tier, testing::metric_of(record, "prefix_hit_rate"), 1e-12);
}

TEST(SharedTier, RepliesAreTheSameAtEachNumberOfThreads) {
  const ServingConfig c = config(4, true);
  const auto one = serve(c, nullptr, 1);
  const auto two = serve(c, nullptr, 2);
  ASSERT_TRUE(one && two);
  EXPECT_EQ(one->metrics.at("ttft_s.mean").value, two->metrics.at("ttft_s.mean").value);
  EXPECT_EQ(one->metrics.at("prefix_hit_rate").value, two->metrics.at("prefix_hit_rate").value);
}

}  // namespace
}  // namespace tiersim::serving_shared_tier_test
