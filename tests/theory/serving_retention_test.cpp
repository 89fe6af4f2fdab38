// Lifetimes of blocks, tool calls, prefetches and layerwise loads on a server. One session, so that
// each number is worked out by hand: prompts of 160, 213 and 266 tokens in blocks of 16, of which
// 192 and 240 positions are there after the answers before (serving_sessions_test.cpp).
#include <map>
#include <utility>

#include "tests/theory/serving_run.hpp"

namespace tiersim::serving_retention_test {
namespace {

using Settings = std::vector<std::string>;
using Cached = std::vector<std::int64_t>;

constexpr const char* kTier = "tiers: [{tier: pool, capacity: 2 GB}]";

// One H100 with Llama-3 8B; 4 s pass between two turns, while a tool runs.
ServingConfig config(const std::string& cache, const Settings& set = {}) {
  Settings all{"name=retention", "method={name: dense, kv_tier: near}",
               "server.prefix_cache={" + cache + "}",
               "workload={prefix_block: 16, output: {tokens: 33}, arrivals: {process: at_once}, "
               "sessions: {count: 1, turns: {count: 3}, system_prompt: 100, first_prompt: {tokens: "
               "60}, tools: {time: {time: 4 s}, result: {tokens: 20}}}}"};
  all.insert(all.end(), set.begin(), set.end());
  return testing::serving_config("bases/serving_llama3_8b.yaml", all);
}

// First turns by their sessions, then second turns, and so on.
Cached cached_of(const ServingConfig& c) {
  std::map<std::pair<std::int32_t, std::int64_t>, std::int64_t> by_turn;
  for (const RequestOutcome& request : testing::run_server(c).requests)
    by_turn[{request.session.turn, request.session.session}] = request.cached_tokens;
  Cached out;
  for (const auto& [turn, tokens] : by_turn) out.push_back(tokens);
  return out;
}
std::vector<Duration> loads_of(const ServingConfig& c) {
  std::vector<Duration> out;
  for (const RequestOutcome& request : testing::run_server(c).requests)
    out.push_back(request.load_time);
  return out;
}
std::map<std::string, std::int64_t> moved_by(const ServingConfig& c) {
  std::map<std::string, std::int64_t> out;
  const auto record = serve(c);
  EXPECT_TRUE(record) << record.error();
  if (record)
    for (const KvMove& move : record->serving->moves) out[move.name] = move.bytes;
  return out;
}

const Cached kAll{0, 192, 240};
const Cached kNone{0, 0, 0};

TEST(Retention, BlocksAreFoundWithinTheirLifetime) {
  EXPECT_EQ(cached_of(config("ttl: 3 s")), kNone);
  EXPECT_EQ(cached_of(config("ttl: 5 s")), kAll);
  // In the tier they live on, or there alone they do not.
  EXPECT_EQ(cached_of(config(std::string("ttl: 3 s, ") + kTier)), kAll);
  EXPECT_EQ(cached_of(config("ttl: 3 s, tiers: [{tier: pool, capacity: 2 GB, ttl: 3 s}]")), kNone);
}

TEST(Retention, WhatAToolCallDiscardsIsInLowerTiersAlone) {
  EXPECT_EQ(cached_of(config("tool_calls: {blocks: discard}")), kNone);
  const ServingConfig tiered = config(std::string("tool_calls: {blocks: discard}, ") + kTier);
  EXPECT_EQ(cached_of(tiered), kAll);
  EXPECT_GT(loads_of(tiered)[1], Duration{});
  EXPECT_EQ(loads_of(config(kTier))[1], Duration{});
}

// Three sessions of 4033 tokens come a second after each other, and the pool has room for two and a
// half. The third one takes the blocks of the first, which were used longest ago, unless these are
// preserved: then those of the second, which is beyond the share.
TEST(Retention, PreservedBlocksSurviveOtherSessions) {
  const auto cached = [](const std::string& cache) {
    ServingConfig c = config(
        cache,
        {"workload.sessions={count: 3, turns: {count: 2}, system_prompt: 0, first_prompt: {tokens: "
         "4000}}",
         "workload.arrivals={process: fixed_rate, requests_per_s: 1}"});
    const auto whole = kv_layout(c, build_stage_system(c.scenario));
    EXPECT_TRUE(whole) << whole.error();
    c.server.kv.share *= 2.5 * 4033 / static_cast<double>(whole->blocks * whole->block);
    return cached_of(c);
  };
  const Cached lost = cached("");
  EXPECT_EQ(lost[0] + lost[1] + lost[2], 0);
  EXPECT_LT(lost[3], 4032);
  const Cached kept = cached("tool_calls: {time: 10 s, pool_share: 0.45}");
  EXPECT_EQ(kept[3], 4032);
  EXPECT_LT(kept[4], 4032);
  EXPECT_EQ(cached("tool_calls: {time: 500 ms, pool_share: 0.45}"), lost);  // before the third
  EXPECT_EQ(cached("tool_calls: {time: 10 s, pool_share: 0.3}"), lost);     // too much for it
}

// Blocks that left the pool are back before the tool ends, so the next turn loads nothing.
TEST(Retention, APrefetchBringsBlocksBackBeforeTheToolEnds) {
  const std::string discard = std::string("tool_calls: {blocks: discard}, ") + kTier;
  const ServingConfig without = config(discard);
  const ServingConfig with = config(discard + ", prefetch: {before_tool_ends: 1 s}");
  EXPECT_EQ(cached_of(with), kAll);
  EXPECT_EQ(loads_of(with), std::vector<Duration>(3));
  const auto before = moved_by(without);
  const auto now = moved_by(with);
  EXPECT_EQ(before.at("prefix_load"), now.at("prefetch"));
  EXPECT_FALSE(now.contains("prefix_load"));
  // Its first token comes so much earlier.
  const auto ttft = [](const ServingConfig& c) {
    const auto r = testing::run_server(c).requests[1];
    return r.first_token - r.arrival;
  };
  EXPECT_EQ(ttft(without) - ttft(with), loads_of(without)[1]);
}

// Blocks outlive their time in the first tier, and are in the second one alone when the tool ends.
// Before that they are copied up, so that the next turn loads them from the first tier.
TEST(Retention, APrefetchIntoTheNearestTierComesFromTheOneBelow) {
  const Settings drives{
      "system.tiers.drives={memory: {base: devices/nvme_gen5.yaml}, path: [pcie]}"};
  const std::string tiers =
      "tool_calls: {blocks: discard}, tiers: [{tier: pool, capacity: 2 GB, ttl: 3 s}, {tier: "
      "drives, capacity: 20 GB}]";
  const ServingConfig without = config(tiers, drives);
  const ServingConfig with =
      config(tiers + ", prefetch: {into: nearest_tier, before_tool_ends: 500 ms}", drives);
  EXPECT_EQ(cached_of(without), kAll);
  EXPECT_EQ(cached_of(with), kAll);
  const auto found = [](const ServingConfig& c, std::size_t place) {
    return testing::run_server(c).requests[1].cached_in[place];
  };
  EXPECT_EQ(found(without, 2), 192);
  EXPECT_EQ(found(with, 1), 192);
  // The same bytes are loaded, sooner, and what was copied up was not stored again.
  EXPECT_EQ(moved_by(with).at("prefix_load"), moved_by(without).at("prefix_load"));
  EXPECT_EQ(moved_by(with).at("prefetch"), moved_by(without).at("prefix_load"));
  EXPECT_LT(moved_by(with).at("prefix_store"), moved_by(without).at("prefix_store"));
  EXPECT_LT(loads_of(with)[1], loads_of(without)[1]);
}

// The second prompt of the shipped file loads 9984 positions and computes 16.
ServingConfig offload(const Settings& set) {
  return testing::serving_config("serving/validation/vllm_llama31_8b_h100_offload.yaml", set);
}
RequestOutcome second(const Settings& set) {
  return testing::run_server(offload(set)).requests.at(1);
}

// Layer by layer a pass ends no sooner than the load and a layer after it, and no later than the
// load and the pass one after the other less what overlaps: a pass of 32 layers of equal length.
TEST(LayerwiseLoad, OverlapsWithThePass) {
  const RequestOutcome whole = second({});
  const RequestOutcome layers = second({"server.prefix_cache.layerwise_load=true"});
  const double load = to_seconds(whole.load_time);
  const double pass = to_seconds(whole.first_token - whole.arrival) - load;
  const double ttft = to_seconds(layers.first_token - layers.arrival);
  EXPECT_EQ(layers.cached_tokens, whole.cached_tokens);
  ASSERT_GT(load, pass);
  // Launch and latency of a second copy are below 20 us.
  EXPECT_GE(ttft, load + pass / 32 - 1e-9);
  EXPECT_LT(ttft, load + pass);
  EXPECT_NEAR(to_seconds(layers.load_time), load, 20e-6 + 0.02 * load);
}

// Two tiers with room for a session and a half each, and three sessions that come after each other.
// Inclusive, both keep the same; exclusive, the second one has what left the first one, so that all
// come back. The pool keeps nothing.
TEST(Exclusive, TiersKeepMoreTogether) {
  const auto hits = [](const std::string& second_tier) {
    const ServingConfig c = config(
        "keep_in_pool: false, tiers: [{tier: pool, capacity: 800 MB}, {tier: nvme, capacity: 800 "
        "MB" +
            second_tier + "}]",
        {"system.tiers.nvme={memory: {base: devices/nvme_gen4.yaml}, path: [pcie, root_complex]}",
         "workload.sessions={count: 3, turns: {count: 2}, system_prompt: 0, first_prompt: {tokens: "
         "4000}}",
         "workload.arrivals={process: fixed_rate, requests_per_s: 1}"});
    Cached cached = cached_of(c);
    return std::vector<std::int64_t>(cached.begin() + 3, cached.end());
  };
  // A session has 4033 tokens of 131072 B, 528 MB.
  const auto inclusive = hits("");
  const auto exclusive = hits(", exclusive: true");
  EXPECT_LT(inclusive[0], 4032);
  EXPECT_EQ(exclusive[0], 4032);
  EXPECT_GT(exclusive[0] + exclusive[1] + exclusive[2], inclusive[0] + inclusive[1] + inclusive[2]);
}

// Half of the bytes, and as long as restoring takes: 9984 positions of 131072 B at 100 GB/s.
TEST(Compression, HalvesTheBytesAndTakesItsTime) {
  const std::string tier =
      "server.prefix_cache.tiers=[{tier: pool, capacity: 200 GB, compression: {ratio: 2, compress: "
      "{value: 100 GB/s, class: assumed, source: a round number}, restore: {value: 100 GB/s, "
      "class: "
      "assumed, source: a round number}}}]";
  const auto plain = moved_by(offload({}));
  const auto half = moved_by(offload({tier}));
  EXPECT_EQ(2 * half.at("prefix_load"), plain.at("prefix_load"));
  EXPECT_EQ(2 * half.at("prefix_store"), plain.at("prefix_store"));
  const double bytes = 9984.0 * 131072;
  const double before = to_seconds(second({}).load_time);
  const double now = to_seconds(second({tier}).load_time);
  EXPECT_NEAR(now, before / 2 + bytes / 100e9, 20e-6);
  const auto held = [&](const Settings& set) {
    const auto record = serve(offload(set));
    for (const KvTierUse& tier_use : record->serving->tiers)
      if (tier_use.name == "pool") return tier_use.max_bytes;
    return std::int64_t{0};
  };
  EXPECT_EQ(2 * held({tier}), held({}));
}

// By SMs a block comes at their rate, 35.2 GB/s in the shipped file, and not at the copy
// engine's 48.
TEST(MovedBy, AKernelHasTheRateOfItsSms) {
  const double bytes = 9984.0 * 131072;
  EXPECT_NEAR(to_seconds(second({}).load_time), bytes / 48e9, 0.01 * bytes / 48e9);
  const double load = to_seconds(second({"server.prefix_cache.moved_by=kernel"}).load_time);
  EXPECT_GT(load, bytes / 35.2e9);
  EXPECT_NEAR(load, bytes / 35.2e9, 0.02 * bytes / 35.2e9);
}

// Prompts of six groups come while others load over a slow link. With a limit some compute what
// they would have loaded, and with one that is never reached all is as without.
TEST(LongQueues, PassATierOverWhileOthersLoad) {
  const auto run = [&](const std::string& wait) {
    Settings set{
        "workload.sessions={count: 60, turns: {count: 1}, system_prompt: 0, groups: {count: 6, "
        "prompt: "
        "{tokens: 4096}}, first_prompt: {tokens: 16}}",
        "workload.arrivals={process: fixed_rate, requests_per_s: 2}", "measure.warm_up=0",
        "what_if.far_bandwidth=0.02"};
    if (!wait.empty()) set.push_back("server.prefix_cache.tiers.0.max_load_wait=" + wait);
    auto record = serve(offload(set));
    EXPECT_TRUE(record) << record.error();
    return *std::move(record);
  };
  const RunRecord without = run("");
  const RunRecord never = run("1000 s");
  const RunRecord soon = run("1 us");
  EXPECT_FALSE(without.metrics.contains("prefix_recompute_rate"));
  EXPECT_EQ(never.metrics.at("prefix_recompute_rate").value, 0);
  EXPECT_EQ(never.metrics.at("ttft_s.mean").value, without.metrics.at("ttft_s.mean").value);
  const double declined = soon.metrics.at("prefix_recompute_rate").value;
  EXPECT_GT(declined, 0);
  EXPECT_LT(soon.metrics.at("prefix_hit_rate").value, without.metrics.at("prefix_hit_rate").value);
  EXPECT_LT(soon.metrics.at("load_time_s.mean").value,
            without.metrics.at("load_time_s.mean").value);
}

// Stores of 256 blocks of 16 positions take 2 MiB / 0.92 GB/s each; 100 ms are 43 of them.
TEST(LongQueues, KeepStoresShort) {
  const auto stored = [&](const std::string& wait) {
    Settings set{
        "workload.sessions={count: 1, turns: {count: 1}, system_prompt: 0, first_prompt: "
        "{tokens: 4097}}",
        "measure.warm_up=0", "what_if.far_bandwidth=0.02"};
    if (!wait.empty()) set.push_back("server.prefix_cache.tiers.0.max_store_wait=" + wait);
    return moved_by(offload(set)).at("prefix_store") / (16 * 131072);
  };
  EXPECT_EQ(stored(""), 256);
  EXPECT_EQ(stored("1000 s"), 256);
  EXPECT_NEAR(static_cast<double>(stored("100 ms")), 43, 2);
  EXPECT_EQ(stored("1 ns"), 1);
}

}  // namespace
}  // namespace tiersim::serving_retention_test
