// Bytes and FLOPs of a prefill that is cut over context ranks, by hand and summed over the ranks.
#include "workloads/attention/context_attention.hpp"

#include <gtest/gtest.h>

#include "tests/unit/workloads/parallel_models.hpp"
#include "workloads/attention/prefill.hpp"
#include "workloads/llm/device_step.hpp"

namespace tiersim::context_attention_test {
namespace {

using testing::collectives;
using testing::deepseek_v3;
using testing::dense_step;
using testing::flops_of;
using testing::kept;
using testing::moved;
using testing::replica;
using testing::small_experts;
using testing::small_latent;

LlmConfig llama3_8b() {
  return {.name = "llama3-8b",
          .layers = 32,
          .hidden = 4096,
          .heads = 32,
          .kv_heads = 8,
          .head_dim = 128,
          .intermediate = 14'336,
          .vocabulary = 128'256};
}

// 2 layers, 4 query heads over 2 KV heads of 8 elements: 64 B of a position's keys and values.
LlmConfig small() {
  LlmConfig m = testing::small_step().model;
  m.layers = 2;
  return m;
}

AttentionContext prefill(const LlmConfig& model, const ParallelConfig& p, std::int64_t context,
                         std::int64_t batch = 1) {
  return replica(model, p, {.kind = StepKind::prefill, .batch = batch, .context = context});
}

using Texts = std::vector<std::string>;

// A hop has a quarter of 65536 positions: 8 heads of keys and values of 128 elements, 4096 B each.
TEST(ContextRing, OfLlama3SendsKeysAndValuesOfTheRanksPositions) {
  const StepGraph graph = dense_step(prefill(llama3_8b(), {.context = 4}, 65'536));
  EXPECT_EQ(collectives(graph, 0), Texts(3, "send context 4 67108864 B"));
  EXPECT_EQ(exchanged_row(llama3_8b()).in_base(), 4096);
}

// The latent of 512 and the rotary key of 64 elements, 1152 B, whole on each tensor GPU.
TEST(ContextRing, OfDeepseekSendsLatents) {
  const StepGraph graph = dense_step(prefill(deepseek_v3(), {.context = 4}, 65'536));
  EXPECT_EQ(collectives(graph, 0), Texts(3, "send context 4 18874368 B"));
  EXPECT_EQ(exchanged_row(deepseek_v3()).in_base(), 1152);
  const StepGraph shared = dense_step(prefill(deepseek_v3(), {.tensor = 2, .context = 4}, 65'536));
  EXPECT_EQ(collectives(shared, 0)[0], "send context 4 18874368 B");
}

// Tensor parallelism parts the KV heads, and so the bytes of a hop: 4 of 8 heads.
TEST(ContextRing, OfATensorGpuHasItsHeads) {
  const StepGraph graph = dense_step(prefill(llama3_8b(), {.tensor = 2, .context = 4}, 65'536));
  EXPECT_EQ(collectives(graph, 0)[0], "send context 4 33554432 B");
}

// 64 positions in pieces of 8 on 4 ranks. The last rank has 16 queries, which meet 16 rows of its
// own in 136 pairs, then in each step 8 rows of an earlier rank in 128.
TEST(ContextRing, HasABlockOfAttentionForEachRank) {
  const StepGraph graph = dense_step(prefill(small(), {.context = 4}, 64));
  std::vector<std::int64_t> flops;
  Texts kinds;
  for (const Op& op : graph.ops) {
    if (op.layer != 0) continue;
    if (op.kind == OpKind::collective) kinds.emplace_back("hop");
    if (op.family == KernelFamily::prefill_attention) {
      kinds.emplace_back("attention");
      flops.push_back(op.flops.in_base());
    }
  }
  const std::int64_t pair = 2 * (8 + 8) * 4;
  EXPECT_EQ(flops, (std::vector<std::int64_t>{pair * 136, pair * 128, pair * 128, pair * 128}));
  EXPECT_EQ(kinds,
            (Texts{"hop", "attention", "hop", "attention", "hop", "attention", "attention"}));
}

// 16 new positions in bf16 and 8 of 32 cached ones in fp8, 64 and 32 B each. The rank's 16 queries
// meet 8 cached rows more in each step.
TEST(ContextRing, TakesCachedRowsAlong) {
  AttentionContext context = prefill(small(), {.context = 4}, 96);
  context.step.cached = 32;
  context.step.kv_type = DataType::fp8;
  const StepGraph graph = dense_step(context);
  EXPECT_EQ(collectives(graph, 0), Texts(3, "send context 4 1280 B"));
  std::vector<std::int64_t> pairs;
  for (const Op& op : graph.ops)
    if (op.layer == 0 && op.family == KernelFamily::prefill_attention)
      pairs.push_back(op.flops.in_base() / (2 * (8 + 8) * 4));
  EXPECT_EQ(pairs, (std::vector<std::int64_t>{136 + 128, 128 + 128, 128 + 128, 128 + 128}));
  EXPECT_EQ(kept(graph, TensorClass::keys), 2L * (16 + 8) * 16);
}

// Queries of 4 * 8 elements and results as many, of 16 positions in each of 4 blocks; rows of 16,
// then 3 * 8 positions; a sum of 4 B for each of 4 heads. The merge reads what the blocks wrote.
TEST(ContextRing, ReadsItsQueriesInEveryStepAndMergesTheResults) {
  const StepGraph graph = dense_step(prefill(small(), {.context = 4}, 64));
  const std::int64_t queries = 4 * 16 * 64;
  const std::int64_t rows = (16 + 3 * 8) * 64;
  const std::int64_t partial = 4 * 16 * (64 + 16);
  EXPECT_EQ(moved(graph, Phase::attention, Direction::read, TensorClass::activations),
            2 * (queries + rows + partial));
  EXPECT_EQ(moved(graph, Phase::attention, Direction::write, TensorClass::activations),
            2 * (partial + 16 * 64));
}

// The transfer of a step waits for the one before it and for the attention two steps back.
TEST(ContextRing, SendsWithTwoBuffers) {
  const StepGraph graph = dense_step(prefill(small(), {.context = 4}, 64));
  std::vector<std::size_t> hops;
  std::vector<std::size_t> blocks;
  for (std::size_t op = 0; op < graph.ops.size(); ++op) {
    if (graph.ops[op].layer != 0) continue;
    if (graph.ops[op].kind == OpKind::collective) hops.push_back(op);
    if (graph.ops[op].family == KernelFamily::prefill_attention) blocks.push_back(op);
  }
  ASSERT_EQ(hops.size(), 3U);
  ASSERT_EQ(blocks.size(), 4U);
  const auto waits = [&](std::size_t op, std::size_t before) {
    return std::ranges::count(graph.ops[op].after, OpId(before)) == 1;
  };
  EXPECT_TRUE(waits(hops[1], hops[0]) && waits(hops[1], blocks[0]));
  EXPECT_TRUE(waits(hops[2], hops[1]) && waits(hops[2], blocks[1]));
  EXPECT_TRUE(waits(blocks[2], hops[1]) && waits(blocks[3], hops[2]));
  EXPECT_FALSE(waits(hops[1], blocks[1]));
}

// Queries of 4 heads of 8 elements of 16 positions go round, 64 B each; of the visiting ones 16 and
// three times 8 meet rows of this rank, and their results go back with a sum of 4 B for each head.
// The pairs are those of the rank's own queries, as all ranks have equal work.
TEST(ContextRing, SendsQueriesAndTheirResultsInstead) {
  const StepGraph graph =
      dense_step(prefill(small(), {.context = 4, .context_ring = ContextRing::pass_q}, 64));
  EXPECT_EQ(collectives(graph, 0),
            (Texts{"send context 4 1024 B", "send context 4 1024 B", "send context 4 1024 B",
                   fmt::format("all_to_all context 4 {} B", (16 + 3 * 8) * (64 + 16))}));
  std::vector<std::int64_t> pairs;
  for (const Op& op : graph.ops)
    if (op.layer == 0 && op.family == KernelFamily::prefill_attention)
      pairs.push_back(op.flops.in_base() / (2 * (8 + 8) * 4));
  EXPECT_EQ(pairs, (std::vector<std::int64_t>{136, 128, 128, 128}));
  // Queries are read and results written by the blocks; the merge reads results of its own queries.
  const std::int64_t queries = (16 + 3 * 8) * 64;
  const std::int64_t rows = 4 * 16 * 64;
  const std::int64_t partial = 4 * 16 * (64 + 16);
  EXPECT_EQ(moved(graph, Phase::attention, Direction::read, TensorClass::activations),
            2 * (queries + rows + partial));
}

// 16 queries and results of 64 + 80 B against 16 new rows of 64 B and a quarter of the cached ones:
// equal at 80 cached positions.
TEST(ContextRing, ByBytesSendsWhatIsLess) {
  const auto first = [](std::int64_t found) {
    AttentionContext context =
        prefill(small(), {.context = 4, .context_ring = ContextRing::by_bytes}, 64 + found);
    if (found > 0) context.step.cached = found;
    return collectives(dense_step(context), 0);
  };
  EXPECT_EQ(first(0), Texts(3, "send context 4 1024 B"));
  EXPECT_EQ(first(80), Texts(3, "send context 4 2304 B"));
  EXPECT_EQ(first(84)[0], "send context 4 1024 B");
  EXPECT_EQ(first(84).size(), 4U);
}

// Each rank unpacks the cached latents that it has, and those of no other one.
TEST(ContextRing, OfQueriesUnpacksItsOwnLatents) {
  const auto projections = [](ContextRing ring, std::int64_t found) {
    AttentionContext context =
        prefill(small_latent(), {.context = 4, .context_ring = ring}, 64 + found);
    if (found > 0) context.step.cached = found;
    return flops_of(dense_step(context), Phase::projection);
  };
  const std::int64_t row = 2L * 2 * 8 * 4 * (4 + 4);  // layers, multiply and add, weights
  const std::int64_t own = projections(ContextRing::pass_q, 0);
  EXPECT_EQ(projections(ContextRing::pass_kv, 0), own + 48 * row);
  EXPECT_EQ(projections(ContextRing::pass_q, 32), own + 8 * row);
}

// All of what one GPU does, but for the head, which only the last position's rank has.
struct Sums {
  std::int64_t projection = 0;
  std::int64_t mlp = 0;
  std::int64_t attention = 0;
  std::int64_t stored = 0;  // bytes of keys and values that are written
  std::int64_t cache = 0;   // that stay
  std::int64_t activations = 0;
  friend bool operator==(const Sums&, const Sums&) = default;
  friend void PrintTo(const Sums& s, std::ostream* out) {
    *out << s.projection << ' ' << s.mlp << ' ' << s.attention << ' ' << s.stored << ' ' << s.cache
         << ' ' << s.activations;
  }
};
Sums sums_of(const AttentionContext& context) {
  const StepGraph graph = dense_step(context);
  Sums out{.projection = flops_of(graph, Phase::projection),
           .mlp = flops_of(graph, Phase::mlp),
           .stored = moved(graph, Phase::write_back, Direction::write, TensorClass::keys) +
                     moved(graph, Phase::write_back, Direction::write, TensorClass::values),
           .cache = kept(graph, TensorClass::keys) + kept(graph, TensorClass::values)};
  for (const Op& op : graph.ops)
    if (op.family == KernelFamily::prefill_attention) out.attention += op.flops.in_base();
  for (const Phase phase : {Phase::projection, Phase::mlp, Phase::embedding})
    out.activations += moved(graph, phase, Direction::read, TensorClass::activations) +
                       moved(graph, phase, Direction::write, TensorClass::activations);
  return out;
}
Sums sum_over_ranks(AttentionContext context) {
  Sums out;
  for (std::int64_t rank = 0; rank < context.parallel.context_ranks(); ++rank) {
    context.context_rank = rank;
    const Sums own = sums_of(context);
    out.projection += own.projection;
    out.mlp += own.mlp;
    out.attention += own.attention;
    out.stored += own.stored;
    out.cache += own.cache;
    out.activations += own.activations;
  }
  return out;
}

TEST(ContextRanks, TogetherDoWhatOneGpuDoes) {
  LlmConfig windowed = small();
  windowed.attention_window = 5;
  LlmConfig wide = small();
  wide.attention_window = 30;
  LlmConfig chunked = small();
  chunked.attention_chunk = 12;
  for (const ContextOrder order : {ContextOrder::zigzag, ContextOrder::contiguous})
    for (const auto& [exchange, ring] : {std::pair(ContextExchange::ring, ContextRing::pass_kv),
                                         {ContextExchange::ring, ContextRing::pass_q},
                                         {ContextExchange::all_gather, ContextRing::pass_kv}})
      for (const LlmConfig& model : {small(), windowed, wide, chunked})
        for (const std::int64_t positions : {64, 67}) {
          const ParallelConfig cut{.context = 4,
                                   .context_order = order,
                                   .context_exchange = exchange,
                                   .context_ring = ring};
          Sums one = sums_of(prefill(model, {}, positions, 2));
          Sums all = sum_over_ranks(prefill(model, cut, positions, 2));
          // Each rank keeps the newest positions of a window that it may have.
          if (model.attention_window || model.attention_chunk) one.cache = all.cache = 0;
          if (model.attention_window || model.attention_chunk) one.stored = all.stored = 0;
          EXPECT_EQ(all, one) << positions;
        }
}

// 64 new positions after 30 or 32 cached ones, of which ranks have 7 or 8.
TEST(ContextRanks, TogetherReadPromptsAfterCachedPositions) {
  LlmConfig windowed = small();
  windowed.attention_window = 5;
  LlmConfig chunked = small();
  chunked.attention_chunk = 12;
  for (const auto& [exchange, ring] : {std::pair(ContextExchange::ring, ContextRing::pass_kv),
                                       {ContextExchange::ring, ContextRing::pass_q},
                                       {ContextExchange::all_gather, ContextRing::pass_kv},
                                       {ContextExchange::all_to_all, ContextRing::pass_kv}})
    for (const LlmConfig& model : {small(), windowed, chunked})
      for (const std::int64_t found : {30, 32}) {
        AttentionContext alone = prefill(model, {}, 64 + found, 2);
        alone.step.cached = found;
        AttentionContext cut = alone;
        cut.parallel = {.context = 4, .context_exchange = exchange, .context_ring = ring};
        Sums one = sums_of(alone);
        Sums all = sum_over_ranks(cut);
        if (model.attention_window || model.attention_chunk) one.cache = all.cache = 0;
        if (model.attention_window || model.attention_chunk) one.stored = all.stored = 0;
        EXPECT_EQ(all, one) << found;
      }
}

// 64 positions on 4 ranks: each unpacks its own 16 and the 48 that it receives, 8 * 4 * (4 + 4)
// elements of weights, in 2 layers.
TEST(ContextRanks, UnpackLatentsOfAllPositionsEach) {
  const ParallelConfig cut{.context = 4};
  const Sums one = sums_of(prefill(small_latent(), {}, 64));
  const Sums all = sum_over_ranks(prefill(small_latent(), cut, 64));
  EXPECT_EQ(all.attention, one.attention);
  EXPECT_EQ(all.mlp, one.mlp);
  EXPECT_EQ(all.cache, one.cache);
  EXPECT_EQ(all.projection - one.projection, 2L * 2 * 4 * 48 * (8 * 4 * (4 + 4)));
  AttentionContext absorbed = prefill(small_latent(), cut, 64);
  absorbed.step.latent = LatentUnpacking::absorbed;
  AttentionContext alone = absorbed;
  alone.parallel = {};
  EXPECT_EQ(sum_over_ranks(absorbed).projection, sums_of(alone).projection);
}

TEST(ContextRanks, RouteTheirOwnTokensToExperts) {
  const ParallelConfig cut{.context = 2};
  EXPECT_EQ(sum_over_ranks(prefill(small_experts(), cut, 64)).mlp,
            sums_of(prefill(small_experts(), {}, 64)).mlp);
}

// One quarter of the pairs each: zigzag with 8 pieces of 8 and a diagonal of 8 * 9 / 2 in each.
TEST(ContextRanks, UnderZigzagHaveEqualAttention) {
  AttentionContext context = prefill(small(), {.context = 4}, 64);
  for (std::int64_t rank = 0; rank < 4; ++rank) {
    context.context_rank = rank;
    EXPECT_EQ(sums_of(context).attention, 2L * 2 * (8 + 8) * 4 * (64 * 65 / 2) / 4);
  }
}

TEST(ContextRanks, HoldAllWeights) {
  EXPECT_EQ(kept(dense_step(prefill(small(), {.context = 4}, 64)), TensorClass::weights),
            kept(dense_step(prefill(small(), {}, 64)), TensorClass::weights));
}

// A rank's 32 positions of 32 elements go to the next stage; each stage has a layer of the ring.
TEST(ContextRanks, AreStagesOfAPipeline) {
  const ParallelConfig p{.pipeline = 2, .context = 2};
  EXPECT_EQ(p.devices(), 4);
  const StepGraph graph = dense_step(prefill(small(), p, 64));
  EXPECT_EQ(collectives(graph), (Texts{"send pipeline 2 2048 B", "send context 2 2048 B"}));
}

// 64 positions of 64 B each; then one kernel for all rows.
TEST(ContextAllGather, BringsAllRowsBeforeOneKernel) {
  const StepGraph graph = dense_step(
      prefill(small(), {.context = 4, .context_exchange = ContextExchange::all_gather}, 64));
  EXPECT_EQ(collectives(graph, 0), Texts(1, "all_gather context 4 4096 B"));
  EXPECT_EQ(moved(graph, Phase::attention, Direction::read, TensorClass::activations),
            2 * (16 * 64 + 40 * 64));  // of 16 queries, the last of which sees 40 positions
}

// 16 positions with 4 query heads of 8; 2 KV heads go to 2 ranks each, as 4. Results: 4 heads.
TEST(ContextAllToAll, ChangesHeadsForPositions) {
  const ParallelConfig cut{.context = 4, .context_exchange = ContextExchange::all_to_all};
  const StepGraph graph = dense_step(prefill(small(), cut, 64));
  EXPECT_EQ(collectives(graph, 0), (Texts{"all_to_all context 4 3072 B",  // 16 * (32 + 64) * 2
                                          "all_to_all context 4 1024 B"}));
  EXPECT_EQ(flops_of(graph, Phase::attention), 2L * 2 * (8 + 8) * 1 * (64 * 65 / 2));
}

// A window of 5: each of two pieces of 8 takes 4 rows of the piece before it.
TEST(ContextWindows, TakeRowsOfNeighbours) {
  LlmConfig m = small();
  m.attention_window = 5;
  EXPECT_EQ(collectives(dense_step(prefill(m, {.context = 4}, 64)), 0),
            Texts(1, "send context 4 512 B"));
  // With two ranks the second has pieces 1 and 2, and the first 0 and 3: one has a neighbour.
  EXPECT_EQ(collectives(dense_step(prefill(m, {.context = 2}, 64)), 0),
            Texts(1, "send context 2 256 B"));
  m.attention_window = 10;  // reaches into the piece before the last one: 9 rows of 8
  EXPECT_EQ(collectives(dense_step(prefill(m, {.context = 4}, 64)), 0),
            Texts(1, "all_gather context 4 4096 B"));
}

// Chunks of 8 are the pieces; of 16, an odd piece takes the 8 rows before it.
TEST(ContextChunks, TakeRowsOfNeighbours) {
  LlmConfig m = small();
  m.attention_chunk = 8;
  EXPECT_EQ(collectives(dense_step(prefill(m, {.context = 4}, 64)), 0), Texts());
  m.attention_chunk = 16;
  EXPECT_EQ(collectives(dense_step(prefill(m, {.context = 4}, 64)), 0),
            Texts(1, "send context 4 512 B"));
}

// Two hops of 16 positions of 64 B, and of 16 queries in each of 4 steps results of 64 + 16 B.
TEST(ContextBuffers, AreThoseOfOneLayer) {
  const AttentionContext device = device_step(prefill(small(), {.context = 4}, 64, 3)).context;
  EXPECT_EQ(context_buffers(device).in_base(), 2 * 16 * 64 + 4 * 16 * (64 + 16));
  EXPECT_EQ(context_buffers(device_step(prefill(small(), {}, 64)).context).in_base(), 0);
}

}  // namespace
}  // namespace tiersim::context_attention_test
