// The part of one GPU in a replica's step: sequences, micro-batches, and the stretch of a pipeline.
#include "workloads/llm/device_step.hpp"

#include <numeric>

#include <gtest/gtest.h>

#include "tests/unit/workloads/parallel_models.hpp"
#include "workloads/attention/kv_ops.hpp"

namespace tiersim::device_step_test {
namespace {

using testing::deepseek_v3;
using testing::replica;
using testing::small_latent;

constexpr ParallelConfig by_data(std::int64_t gpus) {
  return {.tensor = gpus, .attention = AttentionSharing::data};
}

AttentionContext batch_of(std::int64_t batch, ParallelConfig parallel,
                          StepKind kind = StepKind::decode) {
  return replica(small_latent(), parallel, {.kind = kind, .batch = batch, .context = 10});
}

TEST(DeviceStep, EveryGpuOfATensorGroupHasAllSequences) {
  const DeviceStep step = device_step(batch_of(10, {.tensor = 4}));
  EXPECT_EQ(step.context.step.batch, 10);
  EXPECT_EQ(step.group_batch, 10);
  EXPECT_EQ(step.vocabulary, 100);
  EXPECT_EQ(step.context.model.vocabulary, 25);
}

TEST(DeviceStep, AttentionByDataSpreadsSequencesAsEvenlyAsTheyCanBe) {
  EXPECT_EQ(device_step(batch_of(8, by_data(4))).own_tokens(), 2);
  EXPECT_EQ(device_step(batch_of(9, by_data(4))).own_tokens(), 3);
  EXPECT_EQ(device_step(batch_of(9, by_data(4))).group_tokens(), 9);
  EXPECT_EQ(device_step(batch_of(1, by_data(4))).own_tokens(), 1);
  EXPECT_EQ(device_step(batch_of(3, by_data(1))).own_tokens(), 3);
}

TEST(DeviceStep, APrefillCountsEveryPosition) {
  const DeviceStep step = device_step(batch_of(9, by_data(4), StepKind::prefill));
  EXPECT_EQ(step.own_tokens(), 30);
  EXPECT_EQ(step.group_tokens(), 90);
}

// 128 heads with keys of 192 and values of 128 each, in place of 576 elements for all.
TEST(DeviceStep, ADecodeOfExplicitHeadsHasThemInItsCache) {
  AttentionContext context = replica(deepseek_v3(), {.tensor = 2});
  context.step.latent = LatentUnpacking::explicit_heads;
  const KvShape shape(device_step(context).context);
  EXPECT_EQ(shape.sequences, 4 * 64);
  EXPECT_EQ(shape.key_width, 192);
  EXPECT_EQ(shape.value_width, 128);
  EXPECT_EQ(shape.attention_flops(10).in_base(), 2L * (192 + 128) * 4 * 64 * 10);
  context.step.kind = StepKind::prefill;  // makes the heads, and caches the latent
  EXPECT_EQ(KvShape(device_step(context).context).key_width, 576);
}

TEST(MicroBatches, AreOneOrTwoHalvesOrOneForEachStage) {
  using Sizes = std::vector<std::int64_t>;
  EXPECT_EQ(micro_batches(batch_of(7, {.tensor = 4})), (Sizes{7}));
  AttentionContext halves = batch_of(7, {});
  halves.step.overlap = Overlap::micro_batches;
  EXPECT_EQ(micro_batches(halves), (Sizes{4, 3}));
  EXPECT_EQ(micro_batches(batch_of(7, {.pipeline = 2})), (Sizes{4, 3}));
  LlmConfig deep = small_latent();
  deep.layers = 4;
  EXPECT_EQ(micro_batches(replica(deep, {.pipeline = 4}, {.batch = 10, .context = 10})),
            (Sizes{3, 3, 2, 2}));
  EXPECT_EQ(micro_batches(batch_of(1, {.pipeline = 2})), (Sizes{1}));
}

// For any split, a GPU attends to each of its sequences once.
TEST(MicroBatches, HoldAGpusSequencesOnce) {
  for (const std::int64_t stages : {1, 2, 3, 4})
    for (const std::int64_t gpus : {1, 2, 4})
      for (std::int64_t batch = 1; batch < 40; ++batch) {
        AttentionContext context = batch_of(batch, by_data(gpus));
        context.parallel.pipeline = stages;
        std::int64_t own = 0;
        std::int64_t all = 0;
        for (const std::int64_t part : micro_batches(context)) {
          AttentionContext of_part = context;
          of_part.step.batch = part;
          own += device_step(of_part).own_tokens();
          all += part;
          EXPECT_GT(part, 0);
        }
        EXPECT_EQ(all, batch);
        EXPECT_EQ(own, device_step(context).own_tokens())
            << batch << " on " << gpus << " GPUs, " << stages << " stages";
      }
}

TEST(PipelineStretch, IsOneWithoutStages) {
  EXPECT_EQ(pipeline_stretch(batch_of(7, {.tensor = 2})), 1.0);
}

// A GPU works on as many micro-batches as there are stages, one after the other: it never waits.
// With fewer of them, it waits for those that are missing.
TEST(PipelineStretch, OfADecodeStepIsStagesOverMicroBatches) {
  LlmConfig deep = small_latent();
  deep.layers = 4;
  const auto stretch = [&](std::int64_t batch) {
    return pipeline_stretch(replica(deep, {.pipeline = 4}, {.batch = batch, .context = 10}));
  };
  EXPECT_EQ(stretch(8), 1.0);
  EXPECT_EQ(stretch(2), 2.0);
  EXPECT_EQ(stretch(1), 4.0);
}

// The last of m micro-batches enters after m - 1 passes and then crosses all s stages.
TEST(PipelineStretch, OfAPrefillHasTheTimeToFill) {
  LlmConfig deep = small_latent();
  deep.layers = 4;
  const auto stretch = [&](std::int64_t batch) {
    return pipeline_stretch(
        replica(deep, {.pipeline = 4}, {.kind = StepKind::prefill, .batch = batch, .context = 10}));
  };
  EXPECT_EQ(stretch(8), 7.0 / 4);
  EXPECT_EQ(stretch(2), 5.0 / 2);
  EXPECT_EQ(stretch(1), 4.0);
}

}  // namespace
}  // namespace tiersim::device_step_test
