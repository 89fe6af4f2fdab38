// A server whose MLPs are on GPUs of their own: the same step as a scenario, the same tokens in its
// micro-batches, and what one kind sends arrives at the other.
#include <cstdint>
#include <string>
#include <vector>

#include <fmt/format.h>
#include <gtest/gtest.h>

#include "sim/serving/iteration_cost.hpp"
#include "sim/step/simulate.hpp"
#include "tests/theory/serving_run.hpp"
#include "workloads/llm/ffn_share.hpp"

namespace tiersim::served_afd_test {
namespace {

constexpr auto kServer = "serving/fabric/qwen3_235b_gb200_afd.yaml";
using Settings = std::vector<std::string>;
using testing::metric_of;

double step_time(const Settings& set) {
  Diagnostics diagnostics;
  const Document document = load_document(
      testing::configs() / "scenarios/afd/qwen3_235b_gb200_5a1f.yaml",
      {.overrides = set, .config_root = testing::configs(), .importers = make_all_importers()},
      diagnostics);
  const auto config = read<ScenarioConfig>(document, "scenario", diagnostics);
  EXPECT_TRUE(diagnostics.ok()) << diagnostics.text();
  const auto sim = simulate(config, Evaluation::times);
  EXPECT_TRUE(sim) << sim.error();
  return sim ? sim->record.metrics.at("step_time_s").value : 0;
}

// One iteration of the shipped server.
struct Iterations {
  explicit Iterations(const Settings& set = {})
      : config(testing::serving_config(kServer, set)),
        system(build_stage_system(config.scenario)),
        cost(config, system) {}

  Bytes busy(const Demand& demand, const std::string& channel) const {
    for (std::size_t c = 0; c < system.channels().size(); ++c)
      if (system.channels()[c].name == channel) return demand.busy(ChannelId(c));
    ADD_FAILURE() << channel;
    return {};
  }

  ServingConfig config;
  System system;
  IterationCost cost;
};

// 20 GPUs with 96 sequences each, as twenty groups of a step or as one replica of a server. A
// server's CPU is not in its iterations.
TEST(ServedAfd, DecodesInTheTimeOfAStep) {
  Iterations server;
  const double groups = step_time({"system.host=~"});
  const double replica = step_time(
      {"system.host=~", "parallel={tensor: 20, attention: data, dense: data}", "step.batch=1920"});
  EXPECT_NEAR(replica, groups, 1e-9 * groups);
  const Demand& demand =
      server.cost.of({.decodes = 1920, .positions = 1920 * 8192, .logits = 1920});
  EXPECT_NEAR(to_seconds(demand.time()), groups, 1e-9 * groups);
}

// One micro-batch is at one kind at a time, so that the two together compute for less than the
// iteration. Two overlap; still neither kind computes for longer than the iteration.
TEST(ServedAfd, TwoMicroBatchesOverlap) {
  const auto shares = [](const Settings& set) {
    Iterations server(set);
    const Demand demand =
        server.cost.of({.decodes = 1920, .positions = 1920 * 8192, .logits = 1920});
    const double all = to_seconds(demand.time());
    return std::pair(to_seconds(demand.computing(GpuRole::main)) / all,
                     to_seconds(demand.computing(GpuRole::ffn)) / all);
  };
  const auto [attends, computes] = shares({"ffn.micro_batches=1"});
  EXPECT_LT(attends + computes, 1);
  const auto [attend, compute] = shares({});
  EXPECT_GT(attend + compute, 1);
  EXPECT_LE(std::max(attend, compute), 1);
}

// Twenty ports send what four receive, and the other way round, where experts are chosen equally.
TEST(ServedAfd, WhatIsSentArrives) {
  Iterations server({"step.expert_load={law: even}"});
  const Demand demand = server.cost.of({.decodes = 1920, .positions = 1920 * 1024, .logits = 1920});
  const auto bytes = [&](const std::string& channel, double gpus) {
    return static_cast<double>(server.busy(demand, channel).in_base()) * gpus;
  };
  EXPECT_GT(bytes("nvlink.injection", 20), 0);
  // Rows of a micro-batch's 48 sequences, of which each GPU sends a whole number.
  const double row = 1 / (48 * gpus_of_token(128, 8, 4));
  EXPECT_NEAR(bytes("nvlink.injection", 20) / bytes("ffn.nvlink.ejection", 4), 1, row);
  EXPECT_NEAR(bytes("nvlink.ejection", 20) / bytes("ffn.nvlink.injection", 4), 1, row);
}

TEST(ServedAfd, MicroBatchesShareTheWorkOfAnIteration) {
  Iterations server({"ffn.micro_batches=3"});
  const AttentionContext replica = context_of(server.config.scenario, server.system);
  for (const std::int64_t decodes : {0, 1, 7, 59, 60, 61, 400})
    for (const std::int64_t chunks : {0, 1, 19, 21, 70}) {
      if (decodes + chunks == 0) continue;
      IterationWork work{.decodes = decodes, .context = 100, .padding = decodes % 5, .chunks = {}};
      for (std::int64_t i = 0; i < chunks; ++i) work.chunks.push_back({1 + 37 * i % 500, 16 * i});
      work.logits = decodes + chunks / 2;
      const std::vector<IterationWork> parts = micro_works(replica, work);
      ASSERT_FALSE(parts.empty());
      EXPECT_LE(parts.size(), 3U);
      IterationWork sum;
      std::size_t pieces = 0;
      for (const IterationWork& part : parts) {
        sum.decodes += part.decodes;
        sum.padding += part.padding;
        sum.logits += part.logits;
        pieces += part.chunks.size();
        EXPECT_EQ(part.context, work.context);
        // A GPU has the same number of sequences in each, or one more.
        EXPECT_LE(replica.parallel.own_sequences(part.decodes),
                  (replica.parallel.own_sequences(decodes) + 2) / 3 + 1);
      }
      if (chunks >= 3) {  // pieces in every micro-batch
        EXPECT_EQ(parts.size(), 3U);
        for (const IterationWork& part : parts) EXPECT_FALSE(part.chunks.empty());
      }
      EXPECT_EQ(sum.decodes, decodes);
      EXPECT_EQ(sum.padding, work.padding);
      EXPECT_EQ(sum.logits, work.logits);
      EXPECT_EQ(pieces, work.chunks.size());
    }
}

// A graph of 4 rows for each of 20 GPUs stays one of 80 rows in two micro-batches of 40.
TEST(ServedAfd, PaddedRowsAreTheSameOnEveryGpu) {
  Iterations server;
  const AttentionContext replica = context_of(server.config.scenario, server.system);
  for (const std::int64_t decodes : {41, 45, 60, 79}) {
    const IterationWork work{.decodes = decodes, .context = 100, .padding = 80 - decodes};
    for (const IterationWork& part : micro_works(replica, work))
      EXPECT_EQ(part.decodes + part.padding, 40) << decodes;
  }
}

// The bytes of a cache that is handed over are those of the attention, wherever the MLPs are.
TEST(ServedAfd, ReceivesTheCachesOfAPoolThatReadsPrompts) {
  const std::string transfer =
      "{collective: {base: devices/collective_one_sided_nvlink5.yaml}, path: [nvlink, nvswitch]}";
  const Settings set{
      "system.fabrics.transfer=" + transfer, "workload.requests=40", "workload.arrivals.users=40",
      "workload.output.tokens=20",
      fmt::format("prefill={{system: {{base: systems/gb200_nvlink_ffn.yaml, gpus: {{count: 4, "
                  "hosts: 1}}, fabrics: {{transfer: {}}}}}, parallel: {{tensor: 4, attention: "
                  "data, experts: spread}}}}",
                  transfer)};
  const RunRecord record = testing::record_of(kServer, set);
  ASSERT_TRUE(record.ffn_gpus);
  EXPECT_EQ(*record.ffn_gpus, 4);
  EXPECT_EQ(record.gpus, 24);
  ASSERT_EQ(record.serving->moves.size(), 1U);
  const std::int64_t position = 94 * 2 * 4 * 128 * 2;  // layers, keys and values of 4 heads in bf16
  EXPECT_EQ(record.serving->moves.front().bytes, 40 * 4000 * position);
  for (const std::string name : {"attention_gpu_busy", "ffn_gpu_busy"}) {
    EXPECT_GT(metric_of(record, name), 0);
    EXPECT_LE(metric_of(record, name), 1);
  }
}

TEST(ServedAfd, WeightsFitIntoTheGpusThatHaveThem) {
  const auto record = serve(testing::serving_config(kServer, {"ffn.system.gpus.count=1"}));
  ASSERT_FALSE(record);
  EXPECT_TRUE(record.error().starts_with("ffn: ")) << record.error();
}

// Activations of more tokens than fit beside the weights.
TEST(ServedAfd, ActivationsFitBesideTheWeights) {
  const auto record = serve(testing::serving_config(
      kServer, {"server.scheduler.max_batched_tokens=10000000", "workload.requests=10"}));
  ASSERT_FALSE(record);
  EXPECT_TRUE(record.error().starts_with("ffn: ")) << record.error();
}

// Energy is that of both kinds: with no work of the FFN GPUs priced, less by what theirs takes.
TEST(ServedAfd, PaysForBothKinds) {
  // Without the most that a board takes, which these GPUs would reach.
  const Settings load{"workload.requests=40", "workload.arrivals.users=40",
                      "workload.output.tokens=20", "ffn.system.gpu.board_power=~"};
  const RunRecord both = testing::record_of(kServer, load);
  Settings idle = load;
  idle.emplace_back("ffn.system.gpu.idle_power={value: 0 W, class: assumed, source: test}");
  const RunRecord without = testing::record_of(kServer, idle);
  const double window = metric_of(both, "window_s");
  const double tokens = metric_of(both, "throughput_tokens_per_s") * window;
  const ServingConfig config = testing::serving_config(kServer, load);
  const double watts = to_watts(config.scenario.ffn->system.gpu.costs.idle_power->value);
  EXPECT_NEAR(
      (metric_of(both, "energy_j_per_token") - metric_of(without, "energy_j_per_token")) * tokens,
      4 * watts * window, 1e-6 * 4 * watts * window);
}

}  // namespace
}  // namespace tiersim::served_afd_test
