// Compressed attention (DeepSeek-V4) in a small step, by hand: 2 sequences of 64 positions; 4 heads
// read one row of 16 elements in fp16, 32 B; a window of 8 positions; layers with a window alone,
// with rows of 4 positions (16 rows, 5 of which an indexer with 3 heads of 128 elements chooses by
// keys of 132 B), with rows of 16 positions (4 rows), and with rows of 4 again.
#include <algorithm>

#include "tests/unit/workloads/small_step.hpp"
#include "workloads/attention/csa.hpp"
#include "workloads/attention/layer_contexts.hpp"
#include "workloads/llm/weight_parts.hpp"

namespace tiersim::testing::csa_test {
namespace {

constexpr const char* kCsa = "{name: csa}";
constexpr LayerType kSparse = LayerType::compressed_sparse_attention;
constexpr LayerType kHeavy = LayerType::heavily_compressed_attention;

AttentionContext compressed(std::int64_t top_k = 5) {
  AttentionContext c = small_step();
  c.model.head_dim = 16;
  c.model.kv_heads = 1;
  c.model.attention_window = 8;
  c.model.layer_types = {LayerType::sliding_attention, kSparse, kHeavy, kSparse};
  c.model.compression = CompressionConfig{.sparse = 4, .heavy = 16};
  c.model.shared_kv =
      SharedKvConfig{.q_lora_rank = 12, .rope_head_dim = 4, .output_groups = 2, .output_rank = 6};
  c.model.indexer =
      IndexerConfig{.kind = IndexerKind::csa, .heads = 3, .head_dim = 128, .top_k = top_k};
  return c;
}

AttentionContext prompt(AttentionContext c) {
  c.step.kind = StepKind::prefill;
  return c;
}

// Inputs and gates of two overlapping groups: 2 * 2 * 128 outputs.
std::int64_t indexer_flops(std::int64_t tokens) {
  return 2 * tokens * (32 * 4 * 128 + 32 * 3 + 12 * 3 * 128);
}

// A state has inputs and gates in fp32: of 2 x 4 positions, 2 * 2 * 16 elements each (2048 B), and
// of the index keys 2 * 2 * 128 (16384 B); of 16 positions 2 * 16 each (2048 B).
TEST(Csa, KeepsRowsAndStatesOfAFixedSize) {
  const Ledger kept = footprint(kCsa, compressed());
  EXPECT_EQ(kept.at("near keys"), 2 * 2 * 16 * 32 + 2 * 4 * 32);
  EXPECT_EQ(kept.at("near index_keys"), 2 * 2 * 16 * 132);
  const int ring = 8 * 32;
  EXPECT_EQ(kept.at("near states"), 2 * (ring + 2 * (ring + 2048 + 16'384) + (ring + 2048)));
  EXPECT_EQ(kept.at("near indices"), 2 * 5 * 4);
  AttentionContext longer = compressed();
  longer.step.context = 640;
  EXPECT_EQ(footprint(kCsa, longer).at("near keys"), 10 * kept.at("near keys"));
  EXPECT_EQ(footprint(kCsa, longer).at("near states"), kept.at("near states"));
  EXPECT_EQ(footprint(kCsa, prompt(compressed())).at("near indices"), 64 * 5 * 4);
}

// Keys of 128 elements in MXFP4 have 64 B and a byte of scale for 32 elements, and as many rows.
TEST(Csa, KeepsIndexKeysInTheirType) {
  AttentionContext four = compressed();
  four.model.indexer->key_type = DataType::mxfp4;
  EXPECT_EQ(footprint(kCsa, four).at("near index_keys"), 2 * 2 * 16 * 68);
  EXPECT_EQ(footprint(kCsa, four).at("near keys"), footprint(kCsa, compressed()).at("near keys"));
  EXPECT_EQ(footprint(kCsa, four).at("near states"),
            footprint(kCsa, compressed()).at("near states"));
  const auto read = [](const AttentionContext& c) {
    return ledger(build(kCsa, c), 1).at("near read index_keys");
  };
  EXPECT_EQ(read(four) * 132, read(compressed()) * 68);
  four.model.indexer->key_type = DataType::nvfp4;
  EXPECT_EQ(four.model.indexer->key().in_base(), 64 + 8);
  const auto scores = [](const AttentionContext& c) {
    const StepGraph graph = build(kCsa, c);
    const auto score = std::ranges::find_if(
        graph.ops, [](const Op& op) { return op.family == KernelFamily::screening; });
    return score->arithmetic;
  };
  EXPECT_EQ(scores(four), Arithmetic::fp8);
  four.model.indexer->key_type = DataType::bf16;
  EXPECT_EQ(scores(four), Arithmetic::bf16);
}

TEST(Csa, ALayerWithAWindowAloneReadsItsRing) {
  const StepGraph graph = build(kCsa, compressed());
  EXPECT_EQ(ledger(graph, 0),
            (Ledger{{"near read states", 2 * 8 * 32}, {"near write states", 2 * 32}}));
  EXPECT_EQ(flops(graph, 0, Phase::attention), 2 * (16 + 16) * 2 * 4 * 8);
}

// A quarter of a row and of an index key in the mean of the steps.
TEST(Csa, ASparseLayerScoresAllRowsAndReadsTheBest) {
  const StepGraph graph = build(kCsa, compressed());
  const Ledger bytes = ledger(graph, 1);
  EXPECT_EQ(bytes.at("near read index_keys"), 2 * 16 * 132);
  EXPECT_EQ(bytes.at("near read keys"), 2 * 5 * 32);
  EXPECT_EQ(runs(graph, 1, kNear, TensorClass::keys), std::vector<int>{32});
  EXPECT_EQ(bytes.at("near write keys"), 2 * 32 / 4);
  EXPECT_EQ(bytes.at("near write index_keys"), 2 * 132 / 4);
  EXPECT_EQ(bytes.at("near write indices"), 2 * 5 * 4);
  const int inputs = 2 * (4 * 16 + 4 * 128) * 4;
  EXPECT_EQ(bytes.at("near read states"), inputs + 2 * 8 * 32);
  EXPECT_EQ(bytes.at("near write states"), inputs + 2 * 32);
  EXPECT_EQ(flops(graph, 1, Phase::screening), indexer_flops(2) + 2 * 3 * 128 * 2 * 16);
  EXPECT_EQ(flops(graph, 1, Phase::attention), 2 * (16 + 16) * 2 * 4 * (8 + 5));
}

TEST(Csa, AHeavyLayerReadsEveryRow) {
  const StepGraph graph = build(kCsa, compressed());
  const Ledger bytes = ledger(graph, 2);
  EXPECT_EQ(bytes.at("near read keys"), 2 * 4 * 32);
  EXPECT_EQ(runs(graph, 2, kNear, TensorClass::keys), std::vector<int>{2 * 4 * 32});
  EXPECT_EQ(bytes.at("near write keys"), 2 * 32 / 16);
  EXPECT_EQ(bytes.at("near read states"), 2 * 2 * 16 * 4 + 2 * 8 * 32);
  EXPECT_FALSE(bytes.contains("near read index_keys"));
  EXPECT_EQ(flops(graph, 2, Phase::screening), 0);
  EXPECT_EQ(flops(graph, 2, Phase::attention), 2 * (16 + 16) * 2 * 4 * (8 + 4));
}

// Before the first whole group of positions there is no row.
TEST(Csa, AShortSequenceHasNoRows) {
  AttentionContext c = compressed();
  c.step.context = 3;
  const StepGraph graph = build(kCsa, c);
  EXPECT_FALSE(ledger(graph, 1).contains("near read keys"));
  EXPECT_FALSE(ledger(graph, 1).contains("near read index_keys"));
  EXPECT_EQ(flops(graph, 1, Phase::attention), 2 * (16 + 16) * 2 * 4 * 3);
}

// Of the prompt's 64 queries the n-th sees min(n, 8) positions, floor(n / 4) or floor(n / 16) rows.
TEST(Csa, APromptSeesTheRowsBeforeEachPosition) {
  std::int64_t window = 0;
  std::int64_t scored = 0;
  std::int64_t chosen = 0;
  std::int64_t heavy = 0;
  for (std::int64_t n = 1; n <= 64; ++n) {
    window += std::min<std::int64_t>(n, 8);
    scored += n / 4;
    chosen += std::min<std::int64_t>(n / 4, 5);
    heavy += n / 16;
  }
  const StepGraph graph = build(kCsa, prompt(compressed()));
  EXPECT_EQ(flops(graph, 0, Phase::attention), 2 * 32 * 2 * 4 * window);
  EXPECT_EQ(flops(graph, 1, Phase::attention), 2 * 32 * 2 * 4 * (window + chosen));
  EXPECT_EQ(flops(graph, 2, Phase::attention), 2 * 32 * 2 * 4 * (window + heavy));
  EXPECT_EQ(flops(graph, 1, Phase::screening), indexer_flops(128) + 2 * 3 * 128 * 2 * scored);
  const Ledger sparse = ledger(graph, 1);
  EXPECT_EQ(sparse.at("near read keys"), 2 * chosen * 32);
  EXPECT_EQ(sparse.at("near read index_keys"), 2 * 16 * 132);
  EXPECT_EQ(sparse.at("near write keys"), 2 * 16 * 32);
  EXPECT_EQ(sparse.at("near write index_keys"), 2 * 16 * 132);
  EXPECT_EQ(sparse.at("near write states"), 2 * (8 * 32 + 2048 + 16'384));
  EXPECT_FALSE(sparse.contains("near read states"));
  EXPECT_EQ(ledger(graph, 2).at("near read keys"), 2 * 4 * 32);
}

// Three new positions of each sequence, the 62nd to the 64th: each reads rows of its own, 15, 15
// and 16 of them, or the 5 best; the window of the first begins two positions earlier.
TEST(Csa, EachDraftReadsRowsOfItsOwn) {
  for (const std::int64_t top_k : {5, 1000}) {
    AttentionContext c = compressed(top_k);
    c.drafts = 2;
    const LayerContexts contexts(c);
    StepGraph graph{.tier_names = {"near", "far"}};
    const OpId projected = graph.add({.flops = {}});
    method(kCsa)->add_layer(contexts.of(1),
                            {.layer = 1, .projected = projected, .screen_after = projected}, graph);
    const int rows = top_k == 5 ? 3 * 5 : 15 + 15 + 16;
    const Ledger bytes = ledger(graph, 1);
    EXPECT_EQ(bytes.at("near read keys"), 2 * rows * 32);
    EXPECT_EQ(bytes.at("near read index_keys"), 2 * 16 * 132);
    EXPECT_EQ(bytes.at("near read states"), 2 * 3 * (4 * 16 + 4 * 128) * 4 + 2 * (8 + 2) * 32);
    EXPECT_EQ(flops(graph, 1, Phase::attention), 2 * (16 + 16) * 2 * 4 * (3 * 8 + rows));
  }
}

// The pieces of a prompt have the pairs of the whole one, and continue from its state.
TEST(Csa, PiecesOfAPromptHaveThePairsOfTheWhole) {
  const StepGraph whole = build(kCsa, prompt(compressed()));
  std::int64_t attention = 0;
  for (const PromptChunk& chunk : {PromptChunk{23, 0}, PromptChunk{41, 23}}) {
    AttentionContext c = prompt(compressed());
    c.step.batch = 1;
    c.step.context = chunk.tokens;
    c.chunks = {chunk};
    const StepGraph graph = build(kCsa, c);
    attention += 2 * flops(graph, 1, Phase::attention);
    if (chunk.before == 0) continue;
    EXPECT_EQ(ledger(graph, 1).at("near read states"), 2048 + 16'384 + 8 * 32);
  }
  EXPECT_EQ(attention, flops(whole, 1, Phase::attention));
}

TEST(Csa, RowsReadAreTheSumOverQueries) {
  for (const std::int64_t positions : {1, 3, 4, 128})
    for (const std::int64_t most : {1, 2, 7, 1000}) {
      const CompressionConfig rows{.positions = positions};
      std::int64_t sum = 0;
      for (std::int64_t n = 1; n <= 600; ++n) {
        sum += std::min(n / positions, most);
        EXPECT_EQ(rows.rows_read(n, most), sum) << n << ' ' << positions << ' ' << most;
      }
    }
}

// 448 elements of fp8, 64 of bf16, 7 scales of a byte and one of padding.
TEST(Csa, RowsWithScales) {
  EXPECT_EQ(shared_row(512, 64, DataType::fp8_block).in_base(), 584);
  EXPECT_EQ(shared_row(512, 64, DataType::bf16).in_base(), 1024);
}

// Of 2 GPUs each has 2 heads and one group of the output projection, and every row.
TEST(Csa, GpusOfATensorGroupShareHeadsAndKeepEveryRow) {
  AttentionContext c = compressed();
  c.parallel.tensor = 2;
  const StepGraph half = build(kCsa, c);
  const StepGraph whole = build(kCsa, compressed());
  for (int layer = 0; layer < 4; ++layer) {
    EXPECT_EQ(ledger(half, layer), ledger(whole, layer));
    EXPECT_EQ(flops(half, layer, Phase::attention) * 2, flops(whole, layer, Phase::attention));
    EXPECT_EQ(flops(half, layer, Phase::screening), flops(whole, layer, Phase::screening));
  }
  const auto projected = [](const StepGraph& graph) { return flops(graph, 2, Phase::projection); };
  // Not shared: the query's latent, the row and the compressor of 2 tokens.
  const std::int64_t all = 2 * 2 * (32 * 12 + 32 * 16 + 32 * 32);
  EXPECT_EQ(2 * (projected(half) - all), projected(whole) - all);
}

TEST(Csa, WeightsByPurposeAreAllOfThem) {
  for (const bool hyper : {false, true}) {
    LlmConfig model = compressed().model;
    if (hyper) model.hyper = HyperConfig{.streams = 4};
    const WeightParts parts = weight_parts(model);
    std::int64_t sum = 0;
    for (const std::int64_t part : parts) sum += part;
    EXPECT_EQ(sum, model.parameters());
  }
}

// Two sublayers in each of 4 layers mix 4 streams of 32: a product of 128 x 24, 24 biases, 3
// scales; before the head one of 128 x 4, 4 biases and a scale.
TEST(Csa, HyperConnectionsReadAndWriteAllStreams) {
  AttentionContext c = compressed();
  const std::int64_t without = c.model.parameters();
  c.model.hyper = HyperConfig{.streams = 4};
  EXPECT_EQ(c.model.parameters() - without, 8 * (128 * 24 + 24 + 3) + 128 * 4 + 4 + 1);
  const StepGraph graph = build(kCsa, c);
  const auto first = std::ranges::find_if(graph.ops, [](const Op& op) {
    return op.layer == 0 && op.family == KernelFamily::elementwise;
  });
  ASSERT_NE(first, graph.ops.end());
  EXPECT_EQ(first->flops.in_base(), 2 * 2 * (128 * 24 + (4 + 4 + 16) * 32));
  ASSERT_EQ(first->accesses.size(), 3U);
  EXPECT_EQ(first->accesses[0].payload.in_base(), 2 * 5 * 32 * 2);
  EXPECT_EQ(first->accesses[1].payload.in_base(), 2 * 5 * 32 * 2);
  EXPECT_EQ(first->accesses[2].payload.in_base(), 128 * 24 * 2);
}

}  // namespace
}  // namespace tiersim::testing::csa_test
