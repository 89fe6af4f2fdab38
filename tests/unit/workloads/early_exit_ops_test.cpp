// The operations of early exit, against the formulas of the kernels
// (kernels/device/*_work.hpp; that these are true is held in tests/kernels).
#include <gtest/gtest.h>

#include "kernels/device/kv_fill_work.hpp"
#include "kernels/device/residual_vote_work.hpp"
#include "tests/unit/workloads/small_step.hpp"
#include "workloads/early_exit/exit_iteration.hpp"

namespace tiersim::early_exit_ops_test {
namespace {

using kernels::Work;
using testing::kFar;
using testing::kNear;

// T5 v1.1 base: 12 heads of 64, hidden 768, vocabulary 32128.
AttentionContext t5_base() {
  return {.model = {.layers = 12,
                    .hidden = 768,
                    .heads = 12,
                    .kv_heads = 12,
                    .head_dim = 64,
                    .intermediate = 2048,
                    .vocabulary = 32128},
          .step = {.batch = 8, .context = 64},
          .placement = {kNear, kFar}};
}

StepGraph empty() {
  StepGraph graph;
  graph.tier_names = {"near", "far"};
  return graph;
}

Work work_of(const StepGraph& graph) {
  Work work;
  for (const Op& op : graph.ops) {
    work.flops += op.flops.in_base();
    for (const Access& a : op.accesses)
      (a.direction == Direction::read ? work.read_bytes : work.written_bytes) +=
          a.payload.in_base();
  }
  return work;
}

void expect_same(const StepGraph& graph, const Work& kernel) {
  const Work work = work_of(graph);
  EXPECT_EQ(work.read_bytes, kernel.read_bytes);
  EXPECT_EQ(work.written_bytes, kernel.written_bytes);
  EXPECT_EQ(work.flops, kernel.flops);
}

TEST(AddConfidence, SoftmaxIsTheHeadKernelItsVoteAndTheGate) {
  for (const std::int64_t rows : {1, 8, 200})
    for (const int layer : {0, 3}) {
      StepGraph graph = empty();
      add_confidence(graph, t5_base(), ExitTechnique::softmax, layer, rows, OpId());
      EXPECT_EQ(graph.ops.size(), 3U);
      const std::int64_t tiles = 251;  // 32128 / 128
      expect_same(graph, kernels::lm_head_work(32128, rows, 768, 128, 8) +
                             kernels::lm_head_combine_work(tiles, rows, layer == 0) +
                             kernels::exit_gate_work());
    }
}

TEST(AddConfidence, StateAndClassifierAreTheResidualKernelAndTheGate) {
  for (const ExitTechnique technique : {ExitTechnique::state, ExitTechnique::classifier})
    for (const std::int64_t rows : {1, 64})
      for (const int layer : {0, 5}) {
        StepGraph graph = empty();
        add_confidence(graph, t5_base(), technique, layer, rows, OpId());
        expect_same(graph, kernels::residual_vote_work(rows, 768, technique == ExitTechnique::state,
                                                       layer == 0) +
                               kernels::exit_gate_work());
      }
}

TEST(AddConfidence, OfAFixedTechniqueIsNothing) {
  StepGraph graph = empty();
  add_confidence(graph, t5_base(), ExitTechnique::full, 2, 8, OpId());
  add_confidence(graph, t5_base(), ExitTechnique::static_half, 2, 8, OpId());
  EXPECT_TRUE(graph.ops.empty());
}

// Each of two GPUs has half of the vocabulary and sends the best two of each row, 16 B.
TEST(AddConfidence, OnTwoGpusExchangesTheBestTwo) {
  AttentionContext c = t5_base();
  c.model.vocabulary /= 2;
  c.parallel.tensor = 2;
  StepGraph graph = empty();
  add_confidence(graph, c, ExitTechnique::softmax, 1, 8, OpId());
  ASSERT_EQ(graph.ops.size(), 4U);
  EXPECT_EQ(graph.ops[1].kind, OpKind::collective);
  EXPECT_EQ(graph.ops[1].collective.size, Bytes::from_base(16 * 8 * 2));
}

TEST(AddFill, IsTheGroupedKernel) {
  const auto dense = testing::method("{name: dense, kv_tier: near}");
  for (const std::int64_t layers : {1, 6, 11})
    for (const std::int64_t rows : {1, 8, 256}) {
      StepGraph graph = empty();
      add_fill(graph, t5_base(), *dense, {.layers = layers, .rows = rows, .pairs = layers * rows},
               OpId());
      EXPECT_EQ(graph.ops.size(), 1U);
      expect_same(graph, kernels::kv_fill_work(layers, 768, 768, rows, 4));
    }
}

// 7 of 3 x 3 pairs: the weights of three layers, 7 pairs' keys and values.
TEST(AddFill, OfSequencesThatLeftAtDifferentLayersWritesTheirPairs) {
  const auto dense = testing::method("{name: dense, kv_tier: near}");
  StepGraph graph = empty();
  add_fill(graph, t5_base(), *dense, {.layers = 3, .rows = 3, .pairs = 7}, OpId());
  const Work work = work_of(graph);
  EXPECT_EQ(work.written_bytes, 7 * 2 * 768 * 2);
  EXPECT_EQ(work.read_bytes, 3 * 2 * 768 * 768 * 2 + 3 * 768 * 2 + 3 * 8);
  EXPECT_EQ(work.flops, 2 * 7 * 2 * 768 * 768);
}

TEST(AddFill, BesideALayerReadsNoWeights) {
  const auto dense = testing::method("{name: dense, kv_tier: near}");
  StepGraph graph = empty();
  add_fill_beside(graph, t5_base(), *dense, 4, 5, OpId());
  const Work work = work_of(graph);
  EXPECT_EQ(work.read_bytes, 5 * 768 * 2 + 5 * 8);
  EXPECT_EQ(work.written_bytes, 5 * 2 * 768 * 2);
  EXPECT_EQ(graph.ops.front().layer, 4);
}

// MAPLE keeps keys and values in the far tier and low-rank keys, here 16 bytes a head, in the near.
TEST(AddFill, StoresWhereTheMethodCaches) {
  const auto maple =
      testing::method("{name: maple, budget: 0.25, rank_ratio: 0.25, key_type: int8}");
  StepGraph graph = empty();
  const OpId made =
      add_fill(graph, t5_base(), *maple, {.layers = 2, .rows = 3, .pairs = 6}, OpId());
  ASSERT_EQ(graph.ops.size(), 2U);
  const std::int64_t rows = 6 * 2 * 768 * 2;
  std::int64_t far = 0;
  for (const Access& a : graph.ops[1].accesses)
    if (a.tier == kFar) far += a.payload.in_base();
  EXPECT_EQ(far, rows);
  EXPECT_EQ(graph.ops[1].after, OpIds{made});
  std::int64_t lowrank = 0;
  for (const Access& a : graph.ops[0].accesses)
    if (a.tensor_class == TensorClass::lowrank_keys) lowrank += a.payload.in_base();
  EXPECT_EQ(lowrank, 6 * 12 * 16);
}

// A latent of 512 and a rotary key of 64 are one product of the hidden state, and all that is kept.
TEST(AddFill, OfALatentModelMakesTheLatent) {
  AttentionContext c = t5_base();
  c.model.mla = MlaConfig{.q_lora_rank = 1536,
                          .kv_lora_rank = 512,
                          .qk_nope_head_dim = 128,
                          .qk_rope_head_dim = 64,
                          .v_head_dim = 128};
  c.model.head_dim = 192;
  const auto dense = testing::method("{name: dense, kv_tier: near}");
  StepGraph graph = empty();
  add_fill(graph, c, *dense, {.layers = 2, .rows = 4, .pairs = 8}, OpId());
  const Work work = work_of(graph);
  EXPECT_EQ(work.written_bytes, 8 * 576 * 2);
  EXPECT_EQ(work.read_bytes, 2 * 768 * 576 * 2 + 4 * (768 * 2 + 8));
}

const std::vector<std::string> kMethods{
    "{name: dense, kv_tier: near}", "{name: dense, kv_tier: far}",
    "{name: maple, budget: 0.25, rank_ratio: 0.25, key_type: int8}", "{name: layer_prefetch}"};

// Without an exit the iteration is build_iteration()'s, whatever overlaps in it.
TEST(BuildExitIteration, ThatNobodyLeavesIsTheIteration) {
  for (const std::string& yaml : kMethods) {
    const auto method = testing::method(yaml);
    const AttentionContext replica = testing::small_step();
    const IterationWork work{.decodes = 3, .context = 64, .logits = 3};
    const EarlyExitConfig full{.technique = ExitTechnique::full};
    const StepGraph got = build_exit_iteration(replica, *method, work,
                                               plan_exits(full, 4, std::vector<std::int64_t>(3)),
                                               full.technique, {"near", "far"});
    const StepGraph want = build_iteration(replica, *method, work, {"near", "far"});
    ASSERT_EQ(got.ops.size(), want.ops.size()) << yaml;
    for (std::size_t i = 0; i < got.ops.size(); ++i) {
      EXPECT_TRUE(same_work(got.ops[i], want.ops[i])) << yaml << ' ' << describe_op(want.ops[i]);
      EXPECT_EQ(got.ops[i].layer, want.ops[i].layer);
      EXPECT_EQ(got.ops[i].after, want.ops[i].after) << yaml << ' ' << describe_op(want.ops[i]);
    }
  }
}

// Two of three leave after layer 1, the third after 3: keys and values of 12 (sequence, layer)
// pairs are written once each, wherever they are made.
TEST(BuildExitIteration, WritesEachPairOfSequenceAndLayerOnce) {
  for (const std::string& yaml : kMethods)
    for (const ExitRule rule : {ExitRule::all_rows, ExitRule::per_sequence, ExitRule::bucketed,
                                ExitRule::parallel_fill}) {
      const auto method = testing::method(yaml);
      const EarlyExitConfig config{.technique = ExitTechnique::state, .rule = rule};
      const std::vector<std::int64_t> depths{1, 3, 1};
      const StepGraph graph = build_exit_iteration(
          testing::small_step(), *method, {.decodes = 3, .context = 64, .logits = 3},
          plan_exits(config, 4, depths), config.technique, {"near", "far"});
      std::int64_t keys = 0;
      for (const Op& op : graph.ops)
        for (const Access& a : op.accesses)
          if (a.direction == Direction::write && a.tensor_class == TensorClass::keys)
            keys += a.payload.in_base();
      EXPECT_EQ(keys, 12 * 2 * 16) << yaml << ' ' << static_cast<int>(rule);  // 2 heads of 16 B
    }
}

// The next layer waits for the vote on this one, and the head for the last of them.
TEST(BuildExitIteration, WaitsForEachDecision) {
  const auto method = testing::method("{name: dense, kv_tier: near}");
  const EarlyExitConfig config{.technique = ExitTechnique::classifier};
  const StepGraph graph = build_exit_iteration(
      testing::small_step(), *method, {.decodes = 2, .context = 64, .logits = 2},
      plan_exits(config, 4, std::vector<std::int64_t>{2, 2}), config.technique, {"near", "far"});
  for (std::size_t i = 1; i < graph.ops.size(); ++i)
    EXPECT_EQ(graph.ops[i].after.back(), OpId(i - 1)) << describe_op(graph.ops[i]);
  EXPECT_EQ(graph.ops.back().phase, Phase::head);
}

}  // namespace
}  // namespace tiersim::early_exit_ops_test
