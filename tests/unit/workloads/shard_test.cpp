// The part of a model on one GPU, by hand from the published dimensions, and the error messages for
// invalid parallelism.
#include "workloads/llm/shard.hpp"

#include <gtest/gtest.h>

#include "tests/unit/workloads/parallel_models.hpp"

namespace tiersim::shard_test {
namespace {

using testing::deepseek_v3;
using testing::llama3_70b;
using testing::small_experts;
using testing::small_latent;

// Products of a layer of DeepSeek-V3, in weights.
constexpr std::int64_t kQueryDown = 7168 * 1536;
constexpr std::int64_t kQueryUp = 1536 * 128 * 192;
constexpr std::int64_t kLatentDown = 7168 * 512;
constexpr std::int64_t kRopeDown = 7168 * 64;
constexpr std::int64_t kKeyUp = 128 * 128 * 512;
constexpr std::int64_t kValueUp = 512 * 128 * 128;
constexpr std::int64_t kOutput = 128 * 128 * 7168;
constexpr std::int64_t kNorms = 2 * 7168 + 1536;  // without the latent's
constexpr std::int64_t kMlp = 3 * 7168 * 18'432;
constexpr std::int64_t kExpert = 3 * 7168 * 2048;
constexpr std::int64_t kRouter = 7168 * 256;

std::int64_t cached(const LlmConfig& m) {  // a position of a layer
  return m.cached_width() / m.layers;
}

LlmConfig gla(std::int64_t latents) {
  LlmConfig m = deepseek_v3();
  m.mla->latent_heads = latents;
  return m;
}

TEST(Shard, OneGpuHasTheWholeModel) {
  for (const LlmConfig& m : {deepseek_v3(), llama3_70b(), gla(2)}) EXPECT_EQ(shard_of(m, {}), m);
}

TEST(Shard, UnderMlaEveryGpuHasTheWholeLatentAndItsHeads) {
  for (const std::int64_t gpus : {2, 4, 8}) {
    const LlmConfig m = shard_of(deepseek_v3(), {.tensor = gpus});
    EXPECT_EQ(m.heads, 128 / gpus);
    EXPECT_EQ(cached(m), 512 + 64);
    EXPECT_EQ(m.layer_parameters(0), kQueryDown + kLatentDown + kRopeDown +
                                         (kQueryUp + kKeyUp + kValueUp + kOutput + kMlp) / gpus +
                                         kNorms + 512);
  }
}

TEST(Shard, UnderTplaEveryGpuHasASliceOfTheLatentAndAllHeads) {
  const LlmConfig m = shard_of(deepseek_v3(), {.tensor = 2, .latent_slices = 2});
  EXPECT_EQ(m.heads, 128);
  EXPECT_EQ(cached(m), 256 + 64);
  EXPECT_EQ(m.score_width(), 256 + 64);
  EXPECT_EQ(m.mix_width(), 256);
  EXPECT_EQ(m.layer_parameters(0), kQueryDown + kQueryUp + kLatentDown / 2 + kRopeDown +
                                       (kKeyUp + kValueUp) / 2 + kOutput + kMlp / 2 + kNorms + 256);
}

// g slices on d GPUs: h g / d heads and 512 / g elements (arXiv 2508.15881, section 4.4).
TEST(Shard, SlicesAreOnGroupsThatSplitTheHeads) {
  struct Case {
    std::int64_t gpus, slices, heads, latent;
  };
  for (const Case& c :
       {Case{4, 2, 64, 256}, Case{4, 4, 128, 128}, Case{8, 2, 32, 256}, Case{8, 4, 64, 128}}) {
    const LlmConfig m = shard_of(deepseek_v3(), {.tensor = c.gpus, .latent_slices = c.slices});
    EXPECT_EQ(m.heads, c.heads);
    EXPECT_EQ(cached(m), c.latent + 64);
    const std::int64_t groups = c.gpus / c.slices;
    EXPECT_EQ(m.layer_parameters(0), kQueryDown + kQueryUp / groups + kLatentDown / c.slices +
                                         kRopeDown + (kKeyUp + kValueUp + kMlp) / c.gpus +
                                         kOutput / groups + kNorms + c.latent);
  }
}

TEST(Shard, ASplitOutputProjectionIsNotReplicatedOverSlices) {
  const ParallelConfig p{
      .tensor = 4, .latent_slices = 2, .output_projection = OutputProjection::split};
  ParallelConfig whole = p;
  whole.output_projection = OutputProjection::replicated;
  const LlmConfig m = shard_of(deepseek_v3(), p);
  EXPECT_EQ(m.heads, 64);
  EXPECT_EQ(m.projections_out().back().in, 32 * 128);
  EXPECT_EQ(shard_of(deepseek_v3(), whole).layer_parameters(0) - m.layer_parameters(0),
            kOutput / 2 - kOutput / 4);
}

TEST(Shard, LatentHeadsAreSplitLikeHeads) {
  const LlmConfig two = shard_of(gla(2), {.tensor = 2});
  EXPECT_EQ(two.heads, 64);
  EXPECT_EQ(two.mla->latent_heads, 1);
  EXPECT_EQ(cached(two), 256 + 64);
  EXPECT_EQ(two.mix_width(), 256);
  const LlmConfig four = shard_of(gla(2), {.tensor = 4});  // two GPUs have the same latent
  EXPECT_EQ(four.heads, 32);
  EXPECT_EQ(cached(four), 256 + 64);
  const LlmConfig eight = shard_of(gla(8), {.tensor = 2});  // four latents of 64 each
  EXPECT_EQ(eight.mla->latent_heads, 4);
  EXPECT_EQ(cached(eight), 256 + 64);
  EXPECT_EQ(eight.mix_width(), 64);
  EXPECT_EQ(eight.key_groups(), 4);
}

TEST(Shard, KvHeadsAreSplitUntilEachGpuHasOne) {
  const LlmConfig four = shard_of(llama3_70b(), {.tensor = 4});
  EXPECT_EQ(four.heads, 16);
  EXPECT_EQ(cached(four), 512);  // 2 * 8 * 128 / 4
  const LlmConfig sixteen = shard_of(llama3_70b(), {.tensor = 16});
  EXPECT_EQ(sixteen.heads, 4);
  EXPECT_EQ(sixteen.kv_heads, 1);
  EXPECT_EQ(cached(sixteen), 2 * 128);
  EXPECT_EQ(sixteen.layer_parameters(0),
            8192 * (4 + 1 + 1) * 128 + 4 * 128 * 8192 + 3 * 8192 * 28'672 / 16 + 2 * 8192);
}

TEST(Shard, AttentionByDataIsWholeAndTheRestIsSplit) {
  const LlmConfig m = shard_of(deepseek_v3(), {.tensor = 8, .attention = AttentionSharing::data});
  EXPECT_EQ(m.heads, 128);
  EXPECT_EQ(cached(m), 576);
  EXPECT_EQ(m.vocabulary, 129'280 / 8);
  EXPECT_EQ(m.layer_parameters(0), kQueryDown + kQueryUp + kLatentDown + kRopeDown + kKeyUp +
                                       kValueUp + kOutput + kMlp / 8 + kNorms + 512);
}

TEST(Shard, GroupsThatAttendTogetherHavePartsOfHeads) {
  ParallelConfig p{.tensor = 8, .attention = AttentionSharing::data, .attention_tensor = 2};
  EXPECT_EQ(p.sequence_groups(), 4);
  const LlmConfig m = shard_of(deepseek_v3(), p);
  EXPECT_EQ(m.heads, 64);
  EXPECT_EQ(cached(m), 576);
  EXPECT_EQ(m.vocabulary, 129'280 / 8);
  p.dense = DenseSharing::data;
  EXPECT_EQ(shard_of(deepseek_v3(), p).vocabulary, 129'280 / 2);
  const LlmConfig grouped = shard_of(llama3_70b(), p);
  EXPECT_EQ(cached(grouped), 2 * 4 * 128);
  EXPECT_EQ(grouped.intermediate, 28'672 / 2);
}

// Routed and shared experts; the router is whole on every GPU.
TEST(Shard, ExpertsAreSplitInColumnsOrSpreadWhole) {
  const auto experts = [](const ParallelConfig& p) {
    const LlmConfig m = shard_of(deepseek_v3(), p);
    return m.layer_parameters(60) - (m.layer_parameters(0) - m.mlp_weights());
  };
  ParallelConfig p{.tensor = 8};
  EXPECT_EQ(experts(p), kRouter + (256 + 1) * kExpert / 8);
  p.experts = ExpertSharing::spread;
  EXPECT_EQ(experts(p), kRouter + 32 * kExpert + kExpert / 8);
  p.attention = AttentionSharing::data;  // each GPU has separate tokens for the shared expert
  EXPECT_EQ(experts(p), kRouter + 32 * kExpert + kExpert);
  p.experts = ExpertSharing::split;
  EXPECT_EQ(experts(p), kRouter + (256 + 1) * kExpert / 8);
}

TEST(Shard, AStageHasItsLayersAndTheLastOneTheHead) {
  const LlmConfig m = shard_of(deepseek_v3(), {.pipeline = 4});
  EXPECT_EQ(m.layers, 16);  // 61 = 15 + 15 + 15 + 16
  EXPECT_EQ(m.moe_layers(), 16);
  EXPECT_EQ(m.parameters(), 16 * m.layer_parameters(15) + 7168 + 129'280 * 7168);
  EXPECT_EQ(m.layer_parameters(15), deepseek_v3().layer_parameters(60));
  LlmConfig five = deepseek_v3();
  five.layers = 5;  // 2 with a plain MLP, then 1 and 2 with experts
  const LlmConfig last = shard_of(five, {.pipeline = 2});
  EXPECT_EQ(last.layers, 3);
  EXPECT_EQ(last.moe_layers(), 2);
}

TEST(Shard, UnequalPartsOfTheVocabularyAreTheLargest) {
  LlmConfig m = llama3_70b();
  m.vocabulary = 100;
  EXPECT_EQ(shard_of(m, {.tensor = 8}).vocabulary, 13);  // 4 * 13 + 4 * 12
}

// "key: message (hint)", each on a line.
std::string told(const LlmConfig& model, const ParallelConfig& parallel) {
  std::string out;
  for (const ShardProblem& p : shard_problems(model, parallel))
    out += p.key + ": " + p.message + " (" + p.hint + ")\n";
  return out;
}

TEST(ShardProblems, AreNoneWhereEveryGpuGetsAnEqualPart) {
  EXPECT_EQ(told(deepseek_v3(), {.tensor = 8, .latent_slices = 4, .pipeline = 61}), "");
  EXPECT_EQ(told(gla(2), {.tensor = 4}), "");
  EXPECT_EQ(told(llama3_70b(), {.tensor = 16}), "");
  EXPECT_EQ(told({}, {.tensor = 3}), "");  // a model that is not read yet
}

TEST(ShardProblems, OfHeadsAndColumns) {
  EXPECT_EQ(told(small_latent(), {.tensor = 3}),
            "tensor: 3 GPUs cannot have equal parts of 4 query heads (a number that divides 4)\n"
            "tensor: 3 GPUs cannot have equal parts of 64 columns of the MLP (a number that "
            "divides 64)\n");
  LlmConfig grouped = llama3_70b();
  grouped.kv_heads = 16;
  grouped.heads = 48;
  EXPECT_EQ(told(grouped, {.tensor = 6}).substr(0, 83),
            "tensor: 6 GPUs cannot share 16 KV heads (a multiple or a divisor of them)\n"
            "tensor: 6");
}

TEST(ShardProblems, OfSlices) {
  EXPECT_EQ(told(llama3_70b(), {.tensor = 2, .latent_slices = 2}),
            "latent_slices: model 'llama3-70b' has no latent (a model with mla, or 1)\n");
  EXPECT_EQ(told(gla(2), {.tensor = 2, .latent_slices = 2}),
            "latent_slices: model 'deepseek-v3' has latents of its own for groups of heads (GLA) "
            "(1: they are split like heads)\n");
  EXPECT_EQ(
      told(deepseek_v3(), {.tensor = 2, .latent_slices = 2, .attention = AttentionSharing::data}),
      "latent_slices: attention: data leaves nothing to slice (1, or attention: tensor)\n");
  EXPECT_EQ(told(deepseek_v3(), {.tensor = 4, .latent_slices = 3}),
            "latent_slices: 3 slices do not divide 4 tensor GPUs (each slice is on the same number "
            "of GPUs)\n"
            "latent_slices: 3 slices cannot be equal parts of 512 latent elements (a number that "
            "divides 512)\n");
  EXPECT_EQ(told(deepseek_v3(), {.tensor = 2, .latent_slices = 4}),
            "latent_slices: 4 slices do not divide 2 tensor GPUs (each slice is on the same number "
            "of GPUs)\n");
}

TEST(ShardProblems, OfTheOutputProjection) {
  EXPECT_EQ(told(deepseek_v3(), {.tensor = 2, .output_projection = OutputProjection::split}),
            "output_projection: there is one latent slice, so that nothing is replicated (leave it "
            "out, or more latent_slices)\n");
  LlmConfig m = small_latent();  // 4 heads cannot be 8 parts, though each slice has them all
  EXPECT_EQ(
      told(m, {.tensor = 8, .latent_slices = 8, .output_projection = OutputProjection::split}),
      "output_projection: 8 GPUs cannot have equal parts of 4 query heads (a number that "
      "divides 4)\n");
}

TEST(ShardProblems, OfLatentHeads) {
  LlmConfig m = gla(4);
  m.heads = m.kv_heads = 120;
  EXPECT_EQ(told(m, {.tensor = 6}).substr(0, 75),
            "tensor: 6 GPUs cannot share 4 latent heads (a multiple or a divisor of them");
}

TEST(ShardProblems, OfExperts) {
  EXPECT_EQ(told(llama3_70b(), {.tensor = 2, .experts = ExpertSharing::spread}),
            "experts: model 'llama3-70b' has no experts (leave it out)\n");
  LlmConfig m = small_experts();
  m.moe->experts = 9;
  EXPECT_EQ(told(m, {.tensor = 2, .experts = ExpertSharing::spread}),
            "experts: 2 GPUs cannot have equal parts of 9 experts (a number that divides 9)\n");
  m.moe->expert_intermediate = 15;
  EXPECT_EQ(told(m, {.tensor = 2}),
            "tensor: 2 GPUs cannot have equal parts of 15 columns of an expert (a number that "
            "divides 15)\n");
}

// Spread experts are whole, but not the shared one, unless each GPU has separate tokens.
TEST(ShardProblems, OfSharedExperts) {
  LlmConfig m = small_experts();
  m.moe->expert_intermediate = 15;
  ParallelConfig p{.tensor = 2, .experts = ExpertSharing::spread};
  EXPECT_EQ(told(m, p),
            "tensor: 2 GPUs cannot have equal parts of 15 columns of a shared expert (a number "
            "that divides 15)\n");
  p.attention = AttentionSharing::data;
  EXPECT_EQ(told(m, p), "");
}

TEST(ShardProblems, OfStages) {
  EXPECT_EQ(told(small_latent(), {.pipeline = 3}),
            "pipeline: 3 stages are more than the 2 layers (a layer or more on each stage)\n");
}

TEST(ShardProblems, OfAnEncoder) {
  LlmConfig m = llama3_70b();
  m.encoder = EncoderConfig{.layers = 2};
  EXPECT_EQ(told(m, {.tensor = 2}),
            "tensor: model 'llama3-70b' has an encoder, which is not split (more replicas "
            "(gpus.count) instead)\n");
}

}  // namespace
}  // namespace tiersim::shard_test
