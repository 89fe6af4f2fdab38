// The CUDA kernels and the simulator's methods state the bytes and FLOPs of the same operations,
// each by its own formula. This test compares them: the bytes of the cache and the FLOPs of a
// kernel equal those of a layer in the step graph. (tests/kernels checks the formulas of the
// kernels with the counts of the emulator.) Differences by design are named: a kernel also reads
// its queries and lengths.
#include <gtest/gtest.h>

#include "kernels/device/dense_decode_work.hpp"
#include "kernels/device/latent_wgmma_work.hpp"
#include "kernels/device/lm_head_work.hpp"
#include "kernels/device/maple_screen_work.hpp"
#include "kernels/device/selected_attention_work.hpp"
#include "kernels/device/sparq_work.hpp"
#include "tests/unit/workloads/small_step.hpp"
#include "workloads/attention/kv_ops.hpp"

namespace tiersim::kernel_work_test {
namespace {

using kernels::Work;

constexpr std::int64_t kBatch = 3;
constexpr std::int64_t kTokens = 512;  // a multiple of every tile
constexpr std::int64_t kHeads = 8;
constexpr std::int64_t kDim = 128;
constexpr std::int64_t kChosen = kTokens / 4;
constexpr std::int64_t kLengthBytes = 4 * kBatch;

AttentionContext step(std::int64_t kv_heads) {
  AttentionContext c = testing::small_step();
  c.model.heads = kHeads;
  c.model.kv_heads = kv_heads;
  c.model.head_dim = kDim;
  c.model.hidden = kHeads * kDim;
  c.step.batch = kBatch;
  c.step.context = kTokens;
  return c;
}

std::vector<int> lengths() {
  return std::vector<int>(static_cast<std::size_t>(kBatch), static_cast<int>(kTokens));
}

/// FLOPs of the operation of a layer that reads this class.
std::int64_t flops_reading(const StepGraph& graph, TensorClass tensor_class) {
  std::int64_t sum = 0;
  for (const Op& op : graph.ops) {
    const bool reads = std::ranges::any_of(op.accesses, [&](const Access& a) {
      return a.tensor_class == tensor_class && a.direction == Direction::read;
    });
    if (op.layer == 1 && reads && op.kind == OpKind::compute) sum += op.flops.in_base();
  }
  return sum;
}

TEST(KernelWork, DenseDecodeIsWhatDenseSays) {
  for (const std::int64_t kv_heads : {kHeads, std::int64_t{2}}) {
    const AttentionContext c = step(kv_heads);
    const StepGraph graph = testing::build("{name: dense, kv_tier: near}", c);
    const testing::Ledger ledger = testing::ledger(graph, 1);
    const Work work = kernels::dense_decode_work({kv_heads, kHeads / kv_heads, kDim, 1}, lengths(),
                                                 kHeads / kv_heads);
    const std::int64_t queries = 2 * kDim * kHeads * kBatch;
    EXPECT_EQ(work.read_bytes - queries - kLengthBytes,
              ledger.at("near read keys") + ledger.at("near read values"));
    EXPECT_EQ(work.flops, testing::flops(graph, 1, Phase::attention));
    EXPECT_EQ(work.written_bytes, KvShape(c).outputs().in_base());
  }
}

TEST(KernelWork, ScreeningAndSelectedAttentionAreWhatMapleSays) {
  constexpr int kRank = 32;  // a quarter of 128
  const StepGraph graph =
      testing::build("{name: maple, budget: 0.25, rank_ratio: 0.25, key_type: int8}", step(kHeads));
  const testing::Ledger ledger = testing::ledger(graph, 1);
  const Work screen = kernels::maple_screen_work<kRank>(lengths(), kHeads, kChosen, 2);
  EXPECT_EQ(screen.read_bytes - kRank * kHeads * kBatch - kLengthBytes,
            ledger.at("near read lowrank_keys"));
  EXPECT_EQ(screen.written_bytes, ledger.at("near write indices"));
  EXPECT_EQ(screen.flops, flops_reading(graph, TensorClass::lowrank_keys));

  const Work attend = kernels::selected_attention_work<kDim>(lengths(), kHeads, kChosen, 1, 2);
  const std::int64_t queries = 2 * kDim * kHeads * kBatch;
  EXPECT_EQ(attend.read_bytes - queries - kLengthBytes - ledger.at("near read indices"),
            ledger.at("near read staging"));
  EXPECT_EQ(attend.read_bytes - queries - kLengthBytes - ledger.at("near read indices"),
            ledger.at("far read keys") + ledger.at("far read values"));
  EXPECT_EQ(attend.flops, testing::flops(graph, 1, Phase::attention));
}

TEST(KernelWork, ColumnsOfTheKeyCopyAreWhatSparqSays) {
  constexpr int kRank = 32;
  const StepGraph graph = testing::build("{name: sparq, budget: 0.25, rank: 32}", step(kHeads));
  const Work work = kernels::sparq_scores_work(lengths(), kHeads, kTokens, kDim, kRank, true);
  const std::int64_t queries = 2 * kDim * kHeads * kBatch;
  EXPECT_EQ(work.read_bytes - queries - kLengthBytes,
            testing::ledger(graph, 1).at("far read key_copy"));
  EXPECT_EQ(work.flops, testing::flops(graph, 1, Phase::screening));
}

TEST(KernelWork, LatentDecodeIsWhatDenseSaysUnderLatentAttention) {
  AttentionContext c = step(kHeads);
  constexpr std::int64_t kLatentHeads = 128;
  c.model.heads = kLatentHeads;
  c.model.kv_heads = kLatentHeads;
  c.model.mla = MlaConfig{
      .kv_lora_rank = 512, .qk_nope_head_dim = 128, .qk_rope_head_dim = 64, .v_head_dim = 128};
  const StepGraph graph = testing::build("{name: dense, kv_tier: near}", c);
  const Work work = kernels::latent_decode_wgmma_work({kLatentHeads, 64, 512, 64, 1},
                                                      std::vector<std::int64_t>(kBatch, kTokens));
  const std::int64_t queries = std::int64_t{2} * 576 * kLatentHeads * kBatch;
  EXPECT_EQ(work.read_bytes - queries - kLengthBytes,
            testing::ledger(graph, 1).at("near read keys"));
  EXPECT_EQ(work.flops, testing::flops(graph, 1, Phase::attention));
  EXPECT_EQ(work.issued_flops, work.flops);  // whole tiles of tokens, 64 heads at a time
}

TEST(KernelWork, TheHeadIsWhatTheStepSays) {
  AttentionContext c = step(kHeads);
  c.model.vocabulary = 32128;
  const StepGraph graph = testing::build("{name: dense, kv_tier: near}", c);
  const Work work = kernels::lm_head_work(32128, kBatch, kHeads * kDim, 64, 8);
  EXPECT_EQ(work.flops, testing::flops(graph, -1, Phase::head));
  std::int64_t weights = 0;
  for (const Op& op : graph.ops) {
    for (const Access& a : op.accesses) {
      if (op.phase == Phase::head && a.tensor_class == TensorClass::weights) {
        weights += a.payload.in_base();
      }
    }
  }
  EXPECT_EQ(work.read_bytes - 2 * kHeads * kDim * kBatch, weights);
}

}  // namespace
}  // namespace tiersim::kernel_work_test
