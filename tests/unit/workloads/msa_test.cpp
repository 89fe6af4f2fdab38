// MiniMax sparse attention in a small step, by hand: 2 sequences of 64 positions; 4 heads over 2 KV
// heads of 8 elements in fp16, so a row has 16 B; an index head for each KV head, of 8 elements, so
// an index key in bf16 has 16 B; each chooses 2 of 8 blocks of 8 positions.
#include "tests/unit/workloads/small_step.hpp"

namespace tiersim::testing::msa_test {
namespace {

constexpr const char* kMsa = "{name: msa}";

AttentionContext blocks() {
  AttentionContext c = small_step();
  c.model.indexer =
      IndexerConfig{.kind = IndexerKind::msa, .heads = 2, .head_dim = 8, .top_k = 16, .block = 8};
  return c;
}

// Every second layer reads all rows.
AttentionContext mixed() {
  AttentionContext c = blocks();
  c.model.layer_types = {LayerType::full_attention, LayerType::indexed_attention};
  return c;
}

AttentionContext prompt(AttentionContext c) {
  c.step.kind = StepKind::prefill;
  return c;
}

// One product of 32 x (1 key + `heads` queries) x 8.
std::int64_t indexer_flops(std::int64_t tokens, std::int64_t heads = 2) {
  return 2 * tokens * 32 * (1 + heads) * 8;
}

TEST(Msa, KeepsAnIndexKeyOfAllHeadsInLayersWithAnIndexer) {
  const Ledger all = footprint(kMsa, blocks());
  EXPECT_EQ(all.at("near keys"), 4 * 4 * 64 * 16);
  EXPECT_EQ(all.at("near values"), 4 * 4 * 64 * 16);
  EXPECT_EQ(all.at("near index_keys"), 4 * 2 * 64 * 16);
  const Ledger some = footprint(kMsa, mixed());
  EXPECT_EQ(some.at("near keys"), 4 * 4 * 64 * 16);
  EXPECT_EQ(some.at("near index_keys"), 2 * 2 * 64 * 16);
}

TEST(Msa, ADecodeStepScoresAllAndReadsBlocksOfEachKvHead) {
  const StepGraph graph = build(kMsa, blocks());
  const Ledger bytes = ledger(graph, 0);
  EXPECT_EQ(bytes.at("near read index_keys"), 2 * 64 * 16);
  EXPECT_EQ(bytes.at("near write index_keys"), 2 * 16);
  EXPECT_EQ(bytes.at("near read keys"), 2 * 2 * 16 * 16);
  EXPECT_EQ(bytes.at("near read values"), 2 * 2 * 16 * 16);
  EXPECT_EQ(bytes.at("near write indices"), 2 * 2 * 2 * 4);
  EXPECT_EQ(runs(graph, 0, kNear, TensorClass::keys), std::vector<int>{8 * 16});
  EXPECT_EQ(flops(graph, 0, Phase::screening), indexer_flops(2) + 2 * 2 * 8 * 2 * 64);
  EXPECT_EQ(flops(graph, 0, Phase::attention), 2 * (8 + 8) * 2 * 4 * 16);
}

TEST(Msa, LayersWithoutAnIndexerReadEverything) {
  const StepGraph graph = build(kMsa, mixed());
  EXPECT_EQ(ledger(graph, 0).at("near read keys"), 2 * 2 * 64 * 16);
  EXPECT_FALSE(ledger(graph, 0).contains("near read index_keys"));
  EXPECT_EQ(flops(graph, 0, Phase::screening), 0);
  EXPECT_EQ(ledger(graph, 1).at("near read keys"), 2 * 2 * 16 * 16);
  const StepGraph far = build("{name: msa, kv_tier: far}", mixed());
  EXPECT_EQ(ledger(far, 0).at("far read keys"), 2 * 2 * 64 * 16);
  EXPECT_EQ(ledger(far, 1).at("far read keys"), 2 * 2 * 16 * 16);
  EXPECT_EQ(far_reads(far, 0), 1);
  EXPECT_EQ(far_reads(far, 1), 1);
}

// A prompt of 64: 64 * 65 / 2 = 2080 pairs are scored; 16 * 17 / 2 + 48 * 16 = 904 are attended to.
// Its tokens see 8 * (1 + 2 + ... + 8) = 288 blocks together.
TEST(Msa, APromptChoosesForEachPositionAndReadsRowsOnce) {
  const StepGraph graph = build(kMsa, prompt(blocks()));
  EXPECT_EQ(flops(graph, 0, Phase::screening), indexer_flops(128) + 2 * 2 * 8 * 2 * 2080);
  EXPECT_EQ(flops(graph, 0, Phase::attention), 2 * (8 + 8) * 2 * 4 * 904);
  EXPECT_FALSE(ledger(graph, 0).contains("near read keys"));  // all were made by this step
  for (const Op& op : graph.ops) {
    if (op.layer != 0 || op.indexed.part != IndexedPart::choice) continue;
    EXPECT_EQ(op.accesses[0].payload.in_base(), 2 * 2 * 288 * 4);
    EXPECT_EQ(op.accesses[1].payload.in_base(), 2 * 64 * 2 * 2 * 4);
  }
}

// The second half of the prompt, after 32 cached positions: it sees 288 - 80 blocks, and reads the
// cached rows of 2 KV heads once.
TEST(Msa, AChunkReadsWhatWasCachedBeforeIt) {
  AttentionContext c = prompt(blocks());
  c.step.batch = 1;
  c.step.context = 32;
  c.chunks = {{32, 32}};
  const StepGraph graph = build(kMsa, c);
  EXPECT_EQ(ledger(graph, 0).at("near read keys"), 2 * 32 * 2 * 16);  // keys and values
  EXPECT_EQ(ledger(graph, 0).at("near read index_keys"), 64 * 16);
  for (const Op& op : graph.ops) {
    if (op.layer != 0 || op.indexed.part != IndexedPart::choice) continue;
    EXPECT_EQ(op.accesses[0].payload.in_base(), 2 * (288 - 80) * 4);
  }
}

TEST(Msa, GpusOfATensorGroupHaveTheIndexHeadsOfTheirKvHeads) {
  AttentionContext c = blocks();
  c.parallel.tensor = 2;
  const StepGraph half = build(kMsa, c);
  EXPECT_EQ(flops(half, 0, Phase::screening), indexer_flops(2, 1) + 2 * 8 * 2 * 64);
  EXPECT_EQ(ledger(half, 0).at("near read index_keys"), 2 * 64 * 16);
  EXPECT_EQ(ledger(half, 0).at("near read keys"), 2 * 16 * 16);
  EXPECT_EQ(ledger(half, 0).at("near write indices"), 2 * 2 * 4);
}

}  // namespace
}  // namespace tiersim::testing::msa_test
