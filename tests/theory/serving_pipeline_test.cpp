// Pipeline stages of a server: their times against the time of the whole model, their order, and
// the laws of queues.
#include <fmt/format.h>

#include "tests/theory/serving_run.hpp"

namespace tiersim::serving_pipeline_test {
namespace {

using Settings = std::vector<std::string>;

// Llama-2 7B on H100s of one NVLink domain, without a CPU.
ServingConfig config_of(const std::string& parallel, std::int64_t gpus, Settings set) {
  Settings all{"server.base=servers/no_host.yaml", "measure.warm_up=0",
               "system.base=systems/h100_nvlink.yaml", fmt::format("system.gpus.count={}", gpus),
               "parallel=" + parallel};
  all.insert(all.end(), set.begin(), set.end());
  return testing::serving_config("serving/llama2_7b_h100.yaml", all);
}
ServingConfig piped(std::int64_t stages, Settings set) {
  return config_of(fmt::format("{{pipeline: {}}}", stages), stages, std::move(set));
}

const Settings kOneUser{"workload.requests=1", "workload.arrivals={process: at_once}",
                        "workload.input={tokens: 300}", "workload.output={tokens: 4}"};

// The time of the whole model on the GPUs of one stage, without transfers between stages.
Duration whole_time(const ServingConfig& config, const IterationWork& work) {
  const System system = build_stage_system(config.scenario);
  AttentionContext replica = context_of(config.scenario, system);
  replica.host_works = false;
  replica.parallel.pipeline = 1;
  const StepGraph graph =
      build_iteration(replica, *config.scenario.method.method, work, system.tier_names());
  return execute(graph, system, system.plan(graph)).time;
}

// The stages share out the layers, and nothing but the transfers comes on top, whether the layers
// divide or not.
TEST(Pipeline, OneUserPassesAllStagesOneAfterTheOther) {
  for (const std::int64_t stages : {2, 4, 5, 31}) {
    const ServingConfig config = piped(stages, kOneUser);
    const testing::Served run = testing::run_server(config);
    ASSERT_EQ(run.iterations.size(), 4U);
    for (std::size_t i = 1; i < 4; ++i) {
      const IterationSample& sample = run.iterations[i];
      const double whole = to_seconds(whole_time(
          config, {.decodes = 1, .context = 300 + static_cast<std::int64_t>(i), .logits = 1}));
      ASSERT_EQ(sample.stages.size(), static_cast<std::size_t>(stages));
      double sum = 0;
      for (const auto& [from, to] : sample.stages) sum += to_seconds(to - from);
      // 8 KiB of activations from stage to stage take some 10 us with their start-up.
      const auto transfers = static_cast<double>(stages - 1);
      EXPECT_GT(sum, whole + 1e-6 * transfers);
      EXPECT_LT(sum, whole + 20e-6 * transfers);
      EXPECT_EQ(sample.stages.front().first, sample.gpu);
      EXPECT_EQ(sample.stages.back().second, sample.end);
    }
  }
}

// Of 32 layers on three stages the first two have one more than the last, which has the head.
TEST(Pipeline, AStageHasItsShareOfTheLayers) {
  const testing::Served run = testing::run_server(piped(3, kOneUser));
  const auto length = [&](std::size_t stage) {
    const auto& [from, to] = run.iterations[1].stages[stage];
    return to_seconds(to - from);
  };
  EXPECT_NEAR(length(0) / length(1), 1, 0.01);  // the embedding of one token
  const double layer = (length(0) + length(1)) / 22;
  EXPECT_NEAR(length(2), 10 * layer,
              0.7 * layer);  // the head is 2 % of the weights: .65 of a layer
}

// With as many users as stages and prompts that are read one by one, each has an iteration of its
// own, and no stage is idle but while the first prompt comes in.
TEST(Pipeline, AsManyUsersAsStagesKeepAllOfThemBusy) {
  const Settings users{"workload.requests=2",
                       "workload.arrivals={process: at_once}",
                       "workload.input={tokens: 300}",
                       "workload.output={tokens: 200}",
                       "server.scheduler.max_batched_tokens=300",
                       "server.scheduler.policy=chunked"};
  const testing::Served run = testing::run_server(piped(2, users));
  Duration busy{};
  for (const IterationSample& sample : run.iterations) {
    EXPECT_LE(sample.decodes, 1);
    for (const auto& [from, to] : sample.stages) busy += to - from;
  }
  EXPECT_GT(to_seconds(busy) / (2 * to_seconds(run.end - SimTime{})), 0.95);
}

// Stages serve one iteration at a time, in the order in which iterations were planned.
TEST(Pipeline, IterationsPassInOrderAndNeverTogether) {
  const testing::Served run = testing::run_server(piped(
      4, {"workload.requests=200", "workload.arrivals={process: poisson, requests_per_s: 20}"}));
  std::vector<SimTime> free(4);
  for (const IterationSample& sample : run.iterations) {
    ASSERT_EQ(sample.stages.size(), 4U);
    SimTime before = sample.gpu;
    for (std::size_t s = 0; s < 4; ++s) {
      const auto& [from, to] = sample.stages[s];
      EXPECT_GE(from, free[s]);
      EXPECT_GE(from, before);
      before = to;
      free[s] = to;
    }
  }
}

// A prompt's pieces follow each other through the stages: four pieces over two stages take little
// more than five passes instead of eight.
TEST(Pipeline, PiecesOfAPromptFollowEachOther) {
  const Settings prompt{"workload.requests=1",
                        "workload.arrivals={process: at_once}",
                        "workload.input={tokens: 8192}",
                        "workload.output={tokens: 1}",
                        "server.scheduler.max_batched_tokens=2048",
                        "server.scheduler.policy=chunked"};
  const testing::Served run = testing::run_server(piped(2, prompt));
  ASSERT_EQ(run.iterations.size(), 4U);
  Duration once{};
  for (const IterationSample& sample : run.iterations)
    once += sample.stages[0].second - sample.stages[0].first;
  const Duration last = run.iterations[3].stages[1].second - run.iterations[3].stages[1].first;
  EXPECT_EQ(run.end - SimTime{}, once + last);
}

TEST(Pipeline, KeepsLittlesLaw) {
  for (const char* set : {"seed=1", "server.kv.watermark=0.3", "server.host.sync=2 ms"}) {
    const auto record =
        serve(piped(2, {set, "workload.requests=300",
                        "workload.arrivals={process: poisson, requests_per_s: 10}"}));
    ASSERT_TRUE(record) << record.error();
    EXPECT_NEAR(record->metrics.at("little_difference").value, 0, 1e-12);
    EXPECT_LE(record->metrics.at("gpu_busy_share").value, 1);
    EXPECT_GT(record->metrics.at("gpu_busy_share").value, 0.3);
  }
}

// A GPU of two stages holds half of the layers of a block, and a GPU of two tensor ranks half of
// its heads. Both move the same number of bytes for a block.
TEST(Pipeline, CopiesMoveThePartsOfAllStages) {
  const auto moved = [](const char* parallel) {
    const auto record = serve(testing::serving_config(
        "serving/llama2_7b_h100_swap.yaml",
        {"system.base=systems/h200_cxl_pool_nvlink_2gpu.yaml", std::string("parallel=") + parallel,
         "placement.near_share=0.1", "workload.requests=100"}));
    EXPECT_TRUE(record) << record.error();
    EXPECT_NEAR(record->metrics.at("little_difference").value, 0, 1e-12);
    std::map<std::string, std::pair<double, double>> out;  // bytes of a move's mean, count
    for (const auto& move : record->serving->moves) out[move.name] = {move.bytes, move.count};
    // The traffic of the pool equals the bytes of the moves.
    const auto swapped = record->traffic_bytes.at("pool");
    EXPECT_EQ(swapped.read, out.at("swap_in").first);
    EXPECT_EQ(swapped.write, out.at("swap_out").first);
    out["block"] = {2.0 * static_cast<double>(record->serving->capacity.block_bytes), 1};
    return out;
  };
  const auto stages = moved("{pipeline: 2}");
  const auto heads = moved("{tensor: 2}");
  for (const char* kind : {"swap_out", "swap_in"}) {
    ASSERT_TRUE(stages.contains(kind) && heads.contains(kind)) << kind;
    EXPECT_GT(stages.at(kind).second, 10);
  }
  EXPECT_EQ(stages.at("swap_out"), stages.at("swap_in"));
  // A block has half of the layers or half of the heads on each GPU.
  EXPECT_EQ(stages.at("swap_out").first / stages.at("block").first,
            std::floor(stages.at("swap_out").first / stages.at("block").first));
  EXPECT_EQ(stages.at("block").first, heads.at("block").first);
}

TEST(Pipeline, HandsCachesOverStageByStage) {
  const auto record = serve(testing::serving_config(
      "serving/llama3_8b_h100x4_disaggregated.yaml",
      {"parallel={pipeline: 2}", "server.disaggregation.prefill_replicas=1",
       "workload.requests=200", "workload.arrivals.requests_per_s=10", "measure.warm_up=0"}));
  ASSERT_TRUE(record) << record.error();
  EXPECT_NEAR(record->metrics.at("little_difference").value, 0, 1e-12);
  ASSERT_EQ(record->serving->moves.size(), 1U);
  EXPECT_EQ(record->serving->moves[0].name, "handover");
  EXPECT_EQ(record->serving->moves[0].count, 200);
}

}  // namespace
}  // namespace tiersim::serving_pipeline_test
