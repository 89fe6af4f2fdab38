// The CUDA kernels and the simulator's methods state the bytes and FLOPs of the same operations,
// each by its own formula. This test compares them: the bytes of the cache and the FLOPs of a
// kernel equal those of a layer in the step graph. (tests/kernels checks the formulas of the
// kernels with the counts of the emulator.) Differences by design are named: a kernel also reads
// its queries and lengths.
#include <gtest/gtest.h>

#include "kernels/device/dense_decode_work.hpp"
#include "kernels/device/hot_gather_work.hpp"
#include "kernels/device/indexer_scores_work.hpp"
#include "kernels/device/latent_wgmma_work.hpp"
#include "kernels/device/lm_head_work.hpp"
#include "kernels/device/maple_screen_work.hpp"
#include "kernels/device/selected_attention_work.hpp"
#include "kernels/device/sparq_work.hpp"
#include "kernels/device/sparse_latent_work.hpp"
#include "kernels/device/topk_long_work.hpp"
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

// DeepSeek sparse attention: 64 index heads of 128, rows of 512 + 64 in 656 B for 128 heads.
AttentionContext sparse_step() {
  AttentionContext c = step(128);
  c.model.heads = 128;
  c.model.mla = MlaConfig{.q_lora_rank = 64,
                          .kv_lora_rank = 512,
                          .qk_nope_head_dim = 128,
                          .qk_rope_head_dim = 64,
                          .v_head_dim = 128};
  c.model.indexer = IndexerConfig{.heads = 64, .head_dim = 128, .top_k = kChosen};
  c.step.kv_type = DataType::fp8_block;
  c.step.latent = LatentUnpacking::absorbed;
  return c;
}

/// Bytes of activations of the operation that reads or writes this class as well.
std::int64_t activations_beside(const StepGraph& graph, TensorClass tensor_class, Direction own,
                                Direction beside) {
  std::int64_t sum = 0;
  for (const Op& op : graph.ops) {
    const bool found = std::ranges::any_of(op.accesses, [&](const Access& a) {
      return a.tensor_class == tensor_class && a.direction == own;
    });
    if (op.layer != 1 || !found || op.phase != Phase::screening) continue;
    for (const Access& a : op.accesses) {
      const bool counts = a.tensor_class == TensorClass::activations && a.direction == beside;
      if (counts) sum += a.payload.in_base();
    }
  }
  return sum;
}

// By design a kernel also reads weights of heads and page tables, and multiplies each product by
// the weight of its head.
TEST(KernelWork, AnIndexerAndItsChoiceAreWhatDsaSays) {
  constexpr std::int64_t kIndexHeads = 64;
  const StepGraph graph = testing::build("{name: dsa}", sparse_step());
  const testing::Ledger ledger = testing::ledger(graph, 1);
  const Work scores = kernels::indexer_scores_work(lengths(), kIndexHeads, 1);
  const std::int64_t queries = kIndexHeads * kDim * kBatch;
  EXPECT_EQ(queries,
            activations_beside(graph, TensorClass::index_keys, Direction::read, Direction::read));
  EXPECT_EQ(scores.read_bytes - queries - 4 * kIndexHeads * kBatch - kLengthBytes -
                4 * kBatch * kTokens / 64,
            ledger.at("near read index_keys"));
  EXPECT_EQ(scores.written_bytes,
            activations_beside(graph, TensorClass::index_keys, Direction::read, Direction::write));
  EXPECT_EQ(scores.flops - 2 * kIndexHeads * kBatch * kTokens,
            flops_reading(graph, TensorClass::index_keys));
  const Work choice = kernels::topk_long_work(lengths(), kChosen);
  EXPECT_EQ(choice.read_bytes - kLengthBytes,
            activations_beside(graph, TensorClass::indices, Direction::write, Direction::read));
  EXPECT_EQ(choice.written_bytes, ledger.at("near write indices"));
}

TEST(KernelWork, SparseLatentAttentionIsWhatDsaSays) {
  constexpr std::int64_t kLatentHeads = 128;
  const StepGraph graph = testing::build("{name: dsa}", sparse_step());
  const Work work = kernels::sparse_latent_work({.heads = kLatentHeads,
                                                 .k = kChosen,
                                                 .splits = 1,
                                                 .block_heads = 64,
                                                 .threads = 256,
                                                 .tile = 64},
                                                lengths());
  const std::int64_t queries = std::int64_t{2} * 576 * kLatentHeads * kBatch;
  const std::int64_t lists = 4 * kChosen * kBatch;
  EXPECT_EQ(work.read_bytes - queries - lists - kLengthBytes,
            testing::ledger(graph, 1).at("near read keys"));
  EXPECT_EQ(work.flops, testing::flops(graph, 1, Phase::attention));
  EXPECT_EQ(work.issued_flops, work.flops);  // whole tiles of rows
}

// Of 128 chosen rows a quarter misses a buffer of 256. A fetched row crosses the link once and is
// written to its slot; attention reads it there, as it does those that were found.
TEST(KernelWork, RowsOfAHotBufferAreWhatDsaSays) {
  const StepGraph graph = testing::build(
      "{name: dsa, kv_tier: far, fetch: {hot_rows: {rows: 256, hit_rate: 0.75}}}", sparse_step());
  const testing::Ledger ledger = testing::ledger(graph, 1);
  const std::vector<int> misses(kBatch, kChosen / 4);
  const Work gather =
      kernels::hot_gather_work({.k = kChosen, .row_units = 41, .blocks = 1}, misses, lengths());
  EXPECT_EQ(gather.link_read_bytes, ledger.at("far read keys"));
  EXPECT_EQ(gather.written_bytes, ledger.at("near write staging"));
  EXPECT_EQ(ledger.at("near read row_cache") + ledger.at("near read staging"),
            kBatch * kChosen * kernels::LatentRow::kBytes);
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
