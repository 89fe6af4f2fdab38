// Servers with random settings: a valid configuration is served to the end, or reports what does
// not fit; no request is lost, and the same configuration gives the same record.
#include <array>
#include <cmath>
#include <iostream>
#include <iterator>
#include <memory>

#include <gtest/gtest.h>

#include "sim/base/rng.hpp"
#include "sim/record/metrics.hpp"
#include "sim/serving/serve.hpp"
#include "tests/support/shipped.hpp"
#include "tests/support/test_length.hpp"

namespace tiersim::random_servers_test {
namespace {

struct Setting {
  const char* key;
  std::vector<const char*> values;
};

const std::vector<const char*> kFiles{
    "serving/llama2_7b_h100_continuous.yaml",    "serving/llama2_7b_h100_static.yaml",
    "serving/llama2_7b_h100_swap.yaml",          "serving/llama2_7b_rtx4090_prefix_cache.yaml",
    "serving/llama2_7b_tpla_h100x2.yaml",        "serving/llama3_8b_h100_poisson.yaml",
    "serving/llama3_8b_h100_prefill_first.yaml", "serving/llama3_8b_h100x4_disaggregated.yaml",
    "serving/llama3_8b_h200_maple.yaml"};

// Small pools and budgets, so that sequences wait, are split and give up their blocks.
const std::vector<Setting> kSettings{
    {"server.base", {"servers/no_host.yaml", "servers/vllm_v0.yaml"}},
    {"server.scheduler.policy", {"static", "prefill_first", "decode_first", "chunked"}},
    {"server.scheduler.max_sequences", {"1", "2", "7", "64"}},
    {"server.scheduler.max_batched_tokens", {"100", "512", "2048", "100000"}},
    {"server.kv.block", {"1", "3", "16", "512"}},
    {"server.kv.watermark", {"0", "0.3"}},
    {"server.kv.preemption", {"recompute", "swap"}},
    {"server.routing", {"round_robin", "fewest_requests", "fewest_tokens", "prefix", "session"}},
    {"server.host.overlap", {"true", "false"}},
    {"server.host.workers", {"0", "1"}},
    {"server.host.launch", {"5 us", "100 us"}},
    {"server.host.sync", {"0 ns", "50 us"}},
    {"server.disaggregation", {"{prefill_replicas: 1}"}},
    {"server.handover",
     {"{send: by_piece}", "{send: by_layer}", "{send: by_piece, first_token: with_handover}",
      "{send: by_layer, first_token: decode}"}},
    {"server.scheduler.receive_interval", {"2", "30"}},
    {"server.prefix_cache.tiers", {"[]", "[{tier: pool, capacity: 1 GB}]"}},
    {"server.prefix_cache.write_policy",
     {"write_through", "write_through_selective", "write_back"}},
    {"server.prefix_cache.eviction_policy",
     {"arc", "fifo", "gdsf", "lfu", "lru", "s3_fifo", "sieve"}},
    {"server.prefix_cache.load", {"always", "if_faster"}},
    {"server.prefix_cache.keep_in_pool", {"false"}},
    {"server.prefix_cache.ttl", {"100 ms", "10 s"}},
    {"server.prefix_cache.tool_calls", {"{blocks: discard}", "{time: 200 ms, pool_share: 0.3}"}},
    {"server.prefix_cache.prefetch", {"{}", "{at_arrival: false, before_tool_ends: 20 ms}"}},
    {"server.prefix_cache.layerwise_load", {"true"}},
    {"server.kv.memory_layout", {"layer_first", "page_first"}},
    {"system.gpus.count", {"2", "4"}},
    {"parallel.tensor", {"1", "2"}},
    {"parallel.attention", {"data"}},
    {"model.base",
     {"models/t5_v1_1_base.yaml", "models/llama3_8b.yaml", "models/mistral_7b.yaml",
      "models/deepseek_v2_lite.yaml", "models/gpt_oss_20b.yaml", "models/nemotron_h_8b.yaml"}},
    {"server.prefix_cache.states", {"last", "all"}},
    {"workload.arrivals",
     {"{process: at_once}", "{process: closed_loop, users: 3}",
      "{process: closed_loop, users: 2, think_time: 1 s}",
      "{process: gamma, requests_per_s: 3, variation: 5}"}},
    {"workload.input", {"{tokens: 1}", "{distribution: uniform, min: 1, max: 5000}"}},
    {"workload.output",
     {"{tokens: 1}", "{tokens: 2}", "{distribution: uniform, min: 1, max: 400}"}},
    {"measure.warm_up", {"0", "0.5", "0.9"}},
    {"placement.near_share", {"0.22", "0.3", "1"}},
    {"placement.weights",
     {"{share: 0.3, read: copied}", "{share: 0.9}", "{share: 0.5, read: direct}"}},
    {"step.overlap", {"prefetch_screening"}},
    {"step.latent", {"absorbed"}},
    {"early_exit",
     {"{technique: static_half}", "{technique: softmax, depths: {exit_rate: 0.3}}",
      "{technique: state, rule: per_sequence, depths: {exit_rate: 0.5, spread: 4}}",
      "{technique: classifier, rule: bucketed, depths: {exit_rate: 0.5}}",
      "{technique: state, rule: parallel_fill, depths: {exit_rate: 0.5}}"}}};

template <class List>
const auto& any_of(const List& list, Rng& rng) {
  return list[static_cast<std::size_t>(rng.below(std::size(list)))];
}

struct RandomServer {
  std::string file;
  std::vector<std::string> set;

  std::string text() const {
    std::string out = file;
    for (const std::string& option : set) out += " --set '" + option + '\'';
    return out;
  }
};

RandomServer draw(Rng& rng) {
  RandomServer out{any_of(kFiles, rng), {}};
  const bool traced = out.file.find("prefix_cache") != std::string::npos;
  if (!traced) out.set.push_back("workload.requests=" + std::to_string(1 + rng.below(40)));
  for (std::uint64_t left = 1 + rng.below(3); left > 0; --left) {
    const Setting& setting = any_of(kSettings, rng);
    if (!traced || std::string_view(setting.key).find("workload") == std::string_view::npos)
      out.set.push_back(setting.key + std::string("=") + any_of(setting.values, rng));
  }
  return out;
}

constexpr const char* kNvme =
    "system.tiers.nvme={memory: {base: devices/nvme_gen4.yaml}, path: [pcie, root_complex]}";

// Draws the limits and the compression of a tier.
std::string draw_tier(Rng& rng) {
  std::string out;
  if (rng.below(3) == 0) out += ", ttl: 5 s";
  if (rng.below(4) == 0) out += ", max_load_wait: 10 ms";
  if (rng.below(4) == 0) out += ", max_store_wait: 50 ms";
  if (rng.below(4) == 0)
    out +=
        ", compression: {ratio: 1.7, compress: {value: 40 GB/s, class: assumed, source: a test}, "
        "restore: {value: 90 GB/s, class: assumed, source: a test}}";
  return out;
}

// A cache of all kinds of policies, above tiers that are small enough to be full.
std::string draw_cache(Rng& rng) {
  constexpr std::array kEvictions{"arc", "fifo", "gdsf", "lfu", "lru", "s3_fifo", "sieve"};
  constexpr std::array kWrites{"write_through", "write_through_selective", "write_back"};
  constexpr std::array kLoads{"always", "if_faster"};
  constexpr std::array kCapacities{"200 MB", "1 GB", "8 GB"};
  const std::string write = any_of(kWrites, rng);
  const bool shares = write != "write_back" && rng.below(3) == 0;
  const auto shared = [&] { return shares && rng.below(2) == 0 ? ", shared: true" : ""; };
  const bool has_second = rng.below(2) == 0;
  const bool exclusive = has_second && !shares && rng.below(2) == 0;
  std::int64_t positions = 1536;  // a multiple of 16, 48 and 512
  const auto block = [&](std::int64_t longer) {
    if (write == "write_back" || rng.below(3) > 0) return std::string();
    positions *= longer;
    return ", block: " + std::to_string(positions);
  };
  std::string out = std::string("{eviction_policy: ") + any_of(kEvictions, rng) +
                    ", tiers: [{tier: pool, capacity: " + any_of(kCapacities, rng) +
                    ", eviction_policy: " + any_of(kEvictions, rng) + shared() + block(1) +
                    draw_tier(rng) + "}";
  if (has_second)
    out += std::string(", {tier: nvme, capacity: ") + any_of(kCapacities, rng) +
           (exclusive ? ", exclusive: true" : block(2)) + shared() + draw_tier(rng) + "}";
  out += "], write_policy: " + write + ", load: " + any_of(kLoads, rng);
  if (has_second && !exclusive && write != "write_back" && rng.below(2) == 0) {
    out += ", prefetch: {into: nearest_tier, before_tool_ends: 50 ms}";
  } else if (rng.below(4) == 0) {
    out += ", keep_in_pool: false";
  } else {
    if (rng.below(2) == 0) out += ", prefetch: {before_tool_ends: 50 ms}";
    if (rng.below(3) == 0) out += ", ttl: 2 s";
  }
  if (rng.below(3) == 0) out += ", tool_calls: {time: 1 s, pool_share: 0.5}";
  if (rng.below(4) == 0) out += ", layerwise_load: true";
  if (rng.below(4) == 0) out += ", moved_by: kernel";
  return out + "}";
}

// Sessions that share prompts, fork and end early, on a server that mostly keeps their blocks.
RandomServer draw_with_sessions(Rng& rng) {
  constexpr std::array kTurns{"{count: 3}", "{distribution: geometric, mean: 4, max: 9}"};
  constexpr std::array kPrefixes{"conversation", "system_prompt"};
  const auto number = [&](std::uint64_t below) { return std::to_string(1 + rng.below(below)); };
  RandomServer out{any_of(kFiles, rng), {"workload.requests=~", "workload.input=~"}};
  while (out.file.find("prefix_cache") != std::string::npos) out.file = any_of(kFiles, rng);
  const char* const priorities =
      rng.below(3) == 0 ? ", priorities: [{priority: 0, weight: 1}, {priority: 7, weight: 2}]" : "";
  if (*priorities != 0) out.set.emplace_back("server.scheduler.order=priority");
  out.set.push_back("workload.sessions={count: " + number(12) + priorities +
                    ", turns: " + any_of(kTurns, rng) + ", system_prompt: " + number(300) +
                    ", groups: {count: 2, prompt: {tokens: " + number(300) +
                    "}}, first_prompt: {distribution: uniform, min: 1, max: 1500}, message: "
                    "{tokens: " +
                    number(200) +
                    "}, think_time: {time: 1 s}, tools: {probability: 0.5, time: {time: 100 ms}, "
                    "result: {tokens: " +
                    number(400) +
                    "}}, sub_agents: {probability: 0.3, count: {count: 2}, turns: "
                    "{count: 2}, prefix: " +
                    any_of(kPrefixes, rng) +
                    ", task: {tokens: 9}, result: {tokens: 30}}, abandonment: [0.05], "
                    "max_context: 6000}");
  if (rng.below(2) > 0) {
    out.set.emplace_back("system.base=systems/h100_cxl_pool.yaml");
    out.set.emplace_back(kNvme);
    out.set.push_back("server.prefix_cache=" + draw_cache(rng));
    if (rng.below(2) > 0) out.set.push_back("system.gpus.count=" + number(3));
    // Room for a few of the longest prompts, so that blocks are evicted.
    if (rng.below(2) > 0)
      out.set.push_back(std::string("server.kv.share=") +
                        any_of(std::array{"0.03", "0.06", "0.2"}, rng));
  } else if (rng.below(2) > 0) {
    out.set.emplace_back("server.prefix_cache={}");
  }
  if (rng.below(2) > 0)
    out.set.push_back("workload.prefix_block=" +
                      std::to_string(std::array{16, 48, 512}[rng.below(3)]));
  if (rng.below(4) == 0)
    out.set.emplace_back("speculation={draft: {kind: ngram}, tokens: 3, acceptance: {rate: 0.6}}");
  for (std::uint64_t left = rng.below(4); left > 0; --left) {
    const Setting& setting = any_of(kSettings, rng);
    if (std::string_view(setting.key) != "workload.input")
      out.set.push_back(setting.key + std::string("=") + any_of(setting.values, rng));
  }
  return out;
}

// Prompts in pieces that leave while they are read, for replicas with little room.
RandomServer draw_handing_over(Rng& rng) {
  constexpr std::array kSends{"at_end", "by_piece", "by_layer"};
  constexpr std::array kTokens{"prefill", "with_handover", "decode"};
  RandomServer out{"serving/llama3_8b_h100x4_disaggregated.yaml", {}};
  const auto set = [&](std::string text) { out.set.push_back(std::move(text)); };
  const auto one_of = [&](const std::vector<const char*>& values) {
    return std::string(any_of(values, rng));
  };
  set("workload.requests=" + std::to_string(1 + rng.below(60)));
  set("server.handover={send: " + std::string(any_of(kSends, rng)) +
      ", first_token: " + any_of(kTokens, rng) + "}");
  set("server.kv.share=" + one_of({"0.02", "0.05", "0.2", "1"}));
  set("server.kv.admission=" + one_of({"prompt", "whole"}));
  set("server.scheduler.max_batched_tokens=" + one_of({"300", "1000", "8192"}));
  set("server.scheduler.max_sequences=" + one_of({"2", "9", "256"}));
  set("workload.input={distribution: uniform, min: 1, max: " + one_of({"20", "3000"}) + "}");
  set("workload.output={distribution: uniform, min: 1, max: " + one_of({"3", "400"}) + "}");
  if (rng.below(2) == 0) set("workload.arrivals={process: at_once}");
  if (rng.below(3) == 0) set("server.kv.block=" + one_of({"1", "64", "512"}));
  if (rng.below(3) == 0) set("server.host.overlap=false");
  if (rng.below(3) == 0) set("server.disaggregation.prefill_replicas=3");
  return out;
}

void expect_whole(const RunRecord& record) {
  ASSERT_TRUE(record.serving);
  const ServingRecord& serving = *record.serving;
  EXPECT_GE(serving.counts.prefilled_tokens + serving.counts.cached_tokens,
            serving.counts.input_tokens);
  EXPECT_GE(serving.counts.output_tokens, serving.counts.requests);
  const auto moved = [&](std::string_view name) {
    for (const KvMove& move : serving.moves)
      if (move.name == name) return move.bytes;
    return std::int64_t{0};
  };
  EXPECT_EQ(moved("swap_out"), moved("swap_in"));
  double found = 0;
  for (const char* place : {"pool", "tier1", "tier2", "tier3"})
    if (const auto rate = record.metrics.find(std::string("prefix_hit_rate.") + place);
        rate != record.metrics.end())
      found += rate->second.value;
  if (found > 0) {
    EXPECT_NEAR(found, record.metrics.at("prefix_hit_rate").value, 1e-12);
  }
  if (const auto& by_place = serving.timeline.found_tokens_per_s) {
    const std::vector<double>& all = *serving.timeline.cached_tokens_per_s;
    for (std::size_t bin = 0; bin < all.size(); ++bin) {
      double sum = 0;
      for (const auto& [name, values] : *by_place) sum += values[bin];
      EXPECT_NEAR(sum, all[bin], 1e-9 * all[bin]) << bin;
    }
  }
  if (serving.priorities) {
    EXPECT_GE(serving.priorities->size(), 2U);
    std::int64_t requests = 0;
    double sum = 0;
    for (const ServedPriority& one : *serving.priorities) {
      requests += one.requests;
      sum += one.ttft_s.mean * static_cast<double>(one.requests);
    }
    EXPECT_EQ(requests, serving.counts.counted);
    const double all = record.metrics.at("ttft_s.mean").value;
    EXPECT_NEAR(sum / static_cast<double>(requests), all, 1e-9 * all);
  }
  for (const KvTierUse& tier : serving.tiers)
    EXPECT_LE(tier.max_bytes, tier.capacity_bytes) << tier.name;
  for (const auto& [name, metric] : record.metrics) {
    EXPECT_TRUE(std::isfinite(metric.value)) << name;
    EXPECT_NE(find_metric(name), nullptr) << name;
  }
}

// Draws servers by `draw` and runs them; at least this share of them must run. Returns how many had
// requests of several priorities.
template <class Draw>
int run_servers(const Draw& draw_one, int servers, double least) {
  constexpr std::uint64_t kSeed = 1;
  ::testing::Test::RecordProperty("seed", static_cast<int>(kSeed));
  Rng rng(kSeed, "random servers");
  const auto bases = std::make_shared<BaseFiles>();
  int served = 0;
  int ranked = 0;
  for (int i = 0; i < servers; ++i) {
    const RandomServer server = draw_one(rng);
    SCOPED_TRACE(server.text());
    std::cout << server.text() << std::endl;  // the last line shows the server of a broken contract
    Diagnostics diagnostics;
    const Document document = load_document(testing::configs() / server.file,
                                            {.overrides = server.set,
                                             .config_root = testing::configs(),
                                             .importers = make_all_importers(),
                                             .bases = bases},
                                            diagnostics);
    const auto config = read<ServingConfig>(document, "serving", diagnostics);
    if (!diagnostics.ok()) continue;  // settings that contradict each other
    const auto record = serve(config);
    if (!record) {
      EXPECT_NE(record.error(), "");
      continue;
    }
    ++served;
    ranked += record->serving->priorities ? 1 : 0;
    expect_whole(*record);
    if (i % 10 == 0) {
      EXPECT_EQ(to_json(*serve(config)), to_json(*record));
    }
  }
  EXPECT_GT(served, least * servers);  // else the test covers too little
  return ranked;
}

TEST(RandomServers, ServeAllOrSayWhatDoesNotFit) {
  EXPECT_EQ(run_servers(draw, testing::draws_of(250, 5000), 0.25), 0);
}

TEST(RandomServers, HandOverWhilePromptsAreReadOrSayWhatDoesNotFit) {
  EXPECT_EQ(run_servers(draw_handing_over, testing::draws_of(150, 5000), 0.25), 0);
}

TEST(RandomServers, ServeSessionsOrSayWhatDoesNotFit) {
  EXPECT_GT(run_servers(draw_with_sessions, testing::draws_of(100, 2000), 0.25), 0);
}

}  // namespace
}  // namespace tiersim::random_servers_test
