// Scenarios with GPUs that share a model, from configuration to record: the definition of each
// metric. DeepSeek-V3 without experts on NVLink, as shipped; every expected number is worked out
// here.
#include <gtest/gtest.h>

#include <cmath>

#include "sim/step/costs.hpp"
#include "sim/step/simulate.hpp"
#include "sim/step/time_split.hpp"
#include "tests/support/shipped.hpp"

namespace tiersim::shared_model_test {
namespace {

using testing::scenario;
using Settings = std::vector<std::string>;

const std::string kMla = "scenarios/tpla/deepseek_v3_mla.yaml";
const std::string kTpla = "scenarios/tpla/deepseek_v3_tpla.yaml";

Simulation run(const std::string& path, const Settings& set = {},
               Evaluation readings = Evaluation::times) {
  auto sim = simulate(scenario(path, set), readings);
  if (!sim) throw std::runtime_error(sim.error());
  return *std::move(sim);
}
double metric(const Simulation& sim, const std::string& name) {
  return sim.record.metrics.at(name).value;
}

// 16 sequences of 32768 positions in 61 layers, 2 B an element.
constexpr double kRows = 61.0 * 16 * 32'768 * 2;

TEST(SharedModel, TheFootprintIsOfOneGpu) {
  for (const auto& [path, set, width] :
       {std::tuple{kMla, Settings{}, 576.0}, std::tuple{kTpla, Settings{}, 320.0},
        std::tuple{kTpla, Settings{"parallel.tensor=4", "system.gpus.count=4"}, 320.0},
        std::tuple{kMla, Settings{"parallel.attention=data"}, 576.0 / 2}})
    EXPECT_EQ(metric(run(path, set), "kv_footprint_bytes"), kRows * width) << path;
}

TEST(SharedModel, ReplicasAddUpTheirTokens) {
  const Simulation one = run(kTpla);
  const Simulation two = run(kTpla, {"system.gpus.count=4"});
  EXPECT_EQ(metric(two, "step_time_s"), metric(one, "step_time_s"));
  EXPECT_DOUBLE_EQ(metric(two, "throughput_tokens_per_s"),
                   2 * metric(one, "throughput_tokens_per_s"));
  EXPECT_DOUBLE_EQ(metric(one, "throughput_tokens_per_s"), 16 / metric(one, "step_time_s"));
}

// The largest batch of a replica fits and one more does not, for any number of GPUs.
TEST(SharedModel, TheLargestBatchIsOfAReplica) {
  for (const Settings& set : {Settings{}, Settings{"parallel.attention=data"},
                              Settings{"parallel={tensor: 1, pipeline: 2}"}}) {
    const auto batch = metric(run(kMla, set, Evaluation::accounting), "max_batch");
    ASSERT_GT(batch, 16);
    const auto with = [&](double sequences) {
      Settings all = set;
      all.push_back("step.batch=" + std::to_string(static_cast<int>(sequences)));
      return simulate(scenario(kMla, all), Evaluation::times).has_value();
    };
    EXPECT_TRUE(with(batch));
    EXPECT_FALSE(with(batch + 1));
  }
}

// By data, either GPU holds its sequences alone: 2 * as many fit as with weights of one GPU.
TEST(SharedModel, AttentionByDataHoldsNoSequenceTwice) {
  const auto free = [](const Simulation& sim) {
    const double weights =
        static_cast<double>(sim.record.footprint_by_class.at("hbm").at("weights"));
    return 0.9 * 80e9 - weights;
  };
  const Simulation mla = run(kMla, {}, Evaluation::accounting);
  const Simulation data = run(kMla, {"parallel.attention=data"}, Evaluation::accounting);
  constexpr double kSequence = kRows / 16 * 576;
  // Activations and buffers take less than one sequence.
  EXPECT_NEAR(metric(mla, "max_batch"), free(mla) / kSequence, 1);
  EXPECT_NEAR(metric(data, "max_batch"), 2 * free(data) / kSequence, 2);
}

const Settings kPrefill{
    "step.kind=prefill", "step.batch=2", "step.context=1000",
    "system.fabrics.transfer={collective: {model: bytes_only}, path: [nvlink]}"};

Settings with(Settings set, const Settings& more) {
  set.insert(set.end(), more.begin(), more.end());
  return set;
}

TEST(Handover, SendsTheCacheOnceItIsThere) {
  const Simulation none = run(kMla, kPrefill);
  EXPECT_EQ(none.record.metrics.count("handover_s"), 0U);
  EXPECT_EQ(metric(none, "ttft_s"), metric(none, "step_time_s"));
  for (const auto& [to, width] : {std::pair{std::string("{tensor: 2}"), 576.0},
                                  std::pair{std::string("{tensor: 2, latent_slices: 2}"), 320.0}}) {
    const Simulation end = run(kMla, with(kPrefill, {"handover={when: at_end, to: " + to + "}"}));
    const double bytes = 61.0 * 2 * 1000 * 2 * width;
    EXPECT_EQ(metric(end, "handover_bytes"), bytes);
    EXPECT_EQ(metric(end, "ttft_s"), metric(none, "ttft_s"));
    EXPECT_DOUBLE_EQ(metric(end, "step_time_s"), metric(end, "ttft_s") + metric(end, "handover_s"));
    // 450 GB/s * 0.888 with 16 B headers on 256 B; a little more for the way of the first byte.
    const double least = bytes * (256.0 + 16) / 256 / (450e9 * 0.888);
    EXPECT_GE(metric(end, "handover_s"), least);
    EXPECT_LE(metric(end, "handover_s"), least + 2e-6);
    const Simulation layers =
        run(kMla, with(kPrefill, {"handover={when: layer_by_layer, to: " + to + "}"}));
    EXPECT_EQ(metric(layers, "handover_bytes"), bytes);
    EXPECT_LT(metric(layers, "handover_s"), metric(end, "handover_s") / 10);
    EXPECT_GE(metric(layers, "ttft_s"), metric(none, "ttft_s"));
  }
}

TEST(SharedModel, CostsAreOfAllGpusOfAReplica) {
  for (const auto& [parallel, batch] : {std::pair{std::string("{tensor: 2}"), 16},
                                        std::pair{std::string("{tensor: 1, pipeline: 2}"), 1}}) {
    const Settings set{"parallel=" + parallel, "step.batch=" + std::to_string(batch)};
    const Simulation sim = run(kMla, set);
    const ScenarioConfig config = scenario(kMla, set);
    const auto time =
        Duration(static_cast<std::int64_t>(std::llround(metric(sim, "step_time_s") * 1e12)));
    const StepCosts costs = costs_of(config.system, *sim.system, sim.accounting, time);
    ASSERT_TRUE(costs.joules && costs.usd);
    EXPECT_NEAR(metric(sim, "energy_j_per_token") / (2 * *costs.joules / batch), 1, 1e-9);
    EXPECT_NEAR(metric(sim, "cost_usd_per_mtoken") / (2 * *costs.usd / batch * 1e6), 1, 1e-9);
  }
}

// Both stages send their layers at the end: the first token is as early as without, and each GPU
// sends half of the layers, in one go.
TEST(Handover, OfAPipelineFollowsTheFirstToken) {
  const Settings stages = with(kPrefill, {"parallel={tensor: 1, pipeline: 2}", "step.batch=1"});
  const Simulation none = run(kMla, stages);
  const Simulation end = run(kMla, with(stages, {"handover={when: at_end, to: {tensor: 2}}"}));
  EXPECT_DOUBLE_EQ(metric(end, "ttft_s"), metric(none, "ttft_s"));
  EXPECT_DOUBLE_EQ(metric(end, "step_time_s"), metric(end, "ttft_s") + metric(end, "handover_s"));
  EXPECT_LE(metric(end, "bound_s"), metric(end, "step_time_s"));
}

TEST(Regions, TakeNoLongerThanWhatTheyArePartOf) {
  for (const std::string& path : {kMla, kTpla}) {
    double before = 1e9;
    for (const char* region : {"step", "layers", "attention_block", "attention"}) {
      const double time = metric(run(path, {std::string("step.region=") + region}), "step_time_s");
      EXPECT_LT(time, before) << region;
      before = time;
    }
  }
}

TEST(Regions, OfTheHostAreTheWholeStep) {
  const std::string host = "system.host={step: {value: 5 ms, class: assumed, source: test}}";
  const double without = metric(run(kTpla), "step_time_s");
  EXPECT_NEAR(metric(run(kTpla, {host}), "step_time_s"), without + 5e-3, 1e-12);
  EXPECT_EQ(metric(run(kTpla, {host, "step.region=layers"}), "step_time_s"),
            metric(run(kTpla, {"step.region=layers"}), "step_time_s"));
}

// Two stages, two micro-batches: no GPU waits, and each has half of the layers of each.
TEST(Pipeline, ADecodeStepOfAsManyMicroBatchesHasNoBubble) {
  const Settings two{"parallel={tensor: 1, pipeline: 2}"};
  const Simulation full = run(kMla, two);
  EXPECT_EQ(metric(full, "step_time_s"), to_seconds(full.execution.time));
  const Simulation one = run(kMla, with(two, {"step.batch=1"}));
  EXPECT_EQ(metric(one, "step_time_s"), 2 * to_seconds(one.execution.time));
  EXPECT_EQ(metric(one, "tpot_s"), metric(one, "step_time_s"));
  EXPECT_EQ(metric(one, "throughput_tokens_per_s"), 1 / metric(one, "step_time_s"));
  EXPECT_LE(metric(one, "bound_s"), metric(one, "step_time_s"));
}

// 8 sequences, then 8 more: a stage works on one micro-batch at a time, beside nothing.
TEST(Pipeline, MicroBatchesPassAStageOneAfterAnother) {
  const Settings two{"parallel={tensor: 1, pipeline: 2}"};
  for (const char* region : {"step", "layers", "attention_block", "attention"}) {
    const Settings set = with(two, {std::string("step.region=") + region});
    const Simulation sixteen = run(kMla, with(set, {"step.batch=16"}));
    Duration sum{};
    for (std::size_t op = 0; op < sixteen.plans.size(); ++op)
      sum += sixteen.plans[op].uncontended(sixteen.system->channels());
    EXPECT_EQ(sixteen.execution.time, sum) << region;
  }
}

// The CPU works once a step, before the first micro-batch.
TEST(Pipeline, TheHostWorksOnce) {
  const Settings two{"parallel={tensor: 1, pipeline: 2}"};
  const std::string host = "system.host={step: {value: 5 ms, class: assumed, source: test}}";
  EXPECT_NEAR(to_seconds(run(kMla, with(two, {host})).execution.time),
              to_seconds(run(kMla, two).execution.time) + 5e-3, 1e-12);
}

// The stages take the next batch meanwhile: the rate is that of one GPU's work.
TEST(Pipeline, APrefillFillsTheStagesOnce) {
  Settings set{"parallel={tensor: 1, pipeline: 2}", "step.kind=prefill", "step.batch=2",
               "step.context=1000"};
  const Simulation sim = run(kMla, set);
  EXPECT_DOUBLE_EQ(metric(sim, "ttft_s"), 1.5 * to_seconds(sim.execution.time));
  EXPECT_DOUBLE_EQ(metric(sim, "throughput_tokens_per_s"), 2000 / to_seconds(sim.execution.time));
}

}  // namespace
}  // namespace tiersim::shared_model_test
