// DeepSeek sparse attention in a small step, by hand: 2 sequences of 64 positions; 4 heads over a
// latent of 16 + 4 elements in fp16, so a row has 40 B; 3 index heads of 128 elements, so an index
// key has 128 + 4 = 132 B; 16 positions are read.
#include "tests/unit/workloads/small_step.hpp"
#include "workloads/attention/kv_ops.hpp"

namespace tiersim::testing::dsa_test {
namespace {

constexpr const char* kDsa = "{name: dsa}";

AttentionContext sparse(std::int64_t top_k = 16) {
  AttentionContext c = small_step();
  c.model.mla = small_mla();
  c.model.head_dim = 12;
  c.model.kv_heads = 4;
  c.model.indexer = IndexerConfig{.heads = 3, .head_dim = 128, .top_k = top_k};
  c.step.latent = LatentUnpacking::absorbed;
  return c;
}

AttentionContext prompt(AttentionContext c) {
  c.step.kind = StepKind::prefill;
  return c;
}

std::int64_t indexer_flops(std::int64_t tokens) {
  return 2 * tokens * (32 * 128 + 32 * 3 + 12 * 3 * 128);
}

TEST(Dsa, KeepsAnIndexKeyBesideEachRow) {
  const Ledger kept = footprint(kDsa, sparse());
  EXPECT_EQ(kept.at("near keys"), 4 * 2 * 64 * 40);
  EXPECT_EQ(kept.at("near index_keys"), 4 * 2 * 64 * 132);
}

TEST(Dsa, ADecodeStepScoresAllAndReadsTheBest) {
  const StepGraph graph = build(kDsa, sparse());
  const Ledger bytes = ledger(graph, 0);
  EXPECT_EQ(bytes.at("near read index_keys"), 2 * 64 * 132);
  EXPECT_EQ(bytes.at("near read keys"), 2 * 16 * 40);
  EXPECT_EQ(bytes.at("near write keys"), 2 * 40);
  EXPECT_EQ(bytes.at("near write index_keys"), 2 * 132);
  EXPECT_EQ(bytes.at("near write indices"), 2 * 16 * 4);
  EXPECT_EQ(runs(graph, 0, kNear, TensorClass::keys), std::vector<int>{40});
  EXPECT_EQ(flops(graph, 0, Phase::screening), indexer_flops(2) + 2 * 3 * 128 * 2 * 64);
  EXPECT_EQ(flops(graph, 0, Phase::attention), 2 * (20 + 16) * 2 * 4 * 16);
}

// Two drafts beside the next position: three queries of a sequence, each with its own 16 rows.
AttentionContext drafting() {
  AttentionContext c = sparse();
  c.drafts = 2;
  return c;
}

// The attention of one layer.
StepGraph layer_of(const std::string& yaml, const AttentionContext& c) {
  StepGraph graph{.tier_names = {"near", "far"}};
  const OpId projected = graph.add({.flops = {}});
  method(yaml)->add_layer(c, {.projected = projected, .screen_after = projected}, graph);
  return graph;
}

TEST(Dsa, EachDraftScoresAllAndReadsItsOwnRows) {
  const StepGraph graph = layer_of(kDsa, drafting());
  const Ledger bytes = ledger(graph, 0);
  EXPECT_EQ(bytes.at("near read index_keys"), 2 * 64 * 132);
  EXPECT_EQ(bytes.at("near read keys"), 2 * 3 * 16 * 40);
  EXPECT_EQ(bytes.at("near write keys"), 2 * 3 * 40);
  EXPECT_EQ(bytes.at("near write indices"), 2 * 3 * 16 * 4);
  EXPECT_EQ(flops(graph, 0, Phase::screening), indexer_flops(2 * 3) + 2 * 3 * 128 * 2 * 3 * 64);
  EXPECT_EQ(flops(graph, 0, Phase::attention), 2 * (20 + 16) * 2 * 3 * 4 * 16);
}

// Half of a choice is repeated: the three count as two that are independent, whose union has
// 64 (1 - (1 - 16 / 64)^2) = 28 rows. Of the same choice it has 16, of independent ones 37.
TEST(Dsa, TheUnionOfTheDraftsRowsIsFetchedOnce) {
  const auto far_keys = [](const std::string& rest, const AttentionContext& c) {
    return ledger(layer_of("{name: dsa, kv_tier: far" + rest + "}", c), 0).at("far read keys");
  };
  EXPECT_EQ(far_keys(", draft_overlap: 0.5", drafting()), 2 * 28 * 40);
  EXPECT_EQ(far_keys(", draft_overlap: 1", drafting()), 2 * 16 * 40);
  EXPECT_EQ(far_keys("", drafting()), 2 * 37 * 40);
  EXPECT_EQ(far_keys("", sparse()), 2 * 16 * 40);
}

// Of 32 kept rows the first position hits 16 (1/2 + 1/2 * 16 / 48) and the other 12 rows of the
// union 12 * 16 / 48: 14 in whole rows. The 48 rows that are read are 28 different ones.
TEST(Dsa, DraftsFindRowsInTheBufferAsNewChoices) {
  const Ledger bytes =
      ledger(layer_of("{name: dsa, kv_tier: far, fetch: {hot_rows: {rows: 32, overlap: 0.5}}}",
                      drafting()),
             0);
  EXPECT_EQ(bytes.at("far read keys"), 2 * 14 * 40);
  EXPECT_EQ(bytes.at("near read row_cache"), 2 * 24 * 40);
  EXPECT_EQ(bytes.at("near read staging"), 2 * 24 * 40);
}

// A hit rate of 3/4 is of the first position's 16 rows; of the other 21 of the union (32 - 16) of
// 48 lie among the kept ones.
TEST(Dsa, DraftsOfAMeasuredHitRateFindOthersByChance) {
  const Ledger bytes =
      ledger(layer_of("{name: dsa, kv_tier: far, fetch: {hot_rows: {rows: 32, hit_rate: 0.75}}}",
                      drafting()),
             0);
  EXPECT_EQ(bytes.at("far read keys"), 2 * (37 - (12 + 7)) * 40);
}

TEST(Dsa, ReadsEverythingUpToTopK) {
  const Ledger bytes = ledger(build(kDsa, sparse(1000)), 0);
  EXPECT_EQ(bytes.at("near read keys"), 2 * 64 * 40);
  EXPECT_EQ(bytes.at("near read index_keys"), 2 * 64 * 132);
}

TEST(Dsa, ReadsTheSameHoweverLongTheContext) {
  AttentionContext c = sparse();
  c.step.context = 64'000;
  const Ledger bytes = ledger(build(kDsa, c), 0);
  EXPECT_EQ(bytes.at("near read keys"), 2 * 16 * 40);
  EXPECT_EQ(bytes.at("near read index_keys"), 2 * 64'000 * 132);
}

// A latent of 512 + 64: 512 in fp8 with 4 scales, the rotary key in bf16.
TEST(Dsa, RowsWithScales) {
  EXPECT_EQ(cached_row(576, 64, DataType::fp8_block).in_base(), 656);
  EXPECT_EQ(cached_row(576, 64, DataType::fp8).in_base(), 576);
  EXPECT_EQ(cached_row(576, 64, DataType::bf16).in_base(), 1152);
  EXPECT_EQ(cached_row(128, 0, DataType::fp8_block).in_base(), 132);
  EXPECT_EQ(cached_row(128, 0, DataType::nvfp4).in_base(), 72);
}

TEST(Dsa, FetchesFarRows) {
  const StepGraph graph = build("{name: dsa, kv_tier: far}", sparse());
  const Ledger bytes = ledger(graph, 0);
  EXPECT_EQ(bytes.at("far read keys"), 2 * 16 * 40);
  EXPECT_FALSE(bytes.contains("near read keys"));
  EXPECT_EQ(far_reads(graph, 0), 1);
}

// A prompt of 64: 64 * 65 / 2 = 2080 pairs are scored; 16 * 17 / 2 + 48 * 16 = 904 are attended to,
// and their rows read one by one.
TEST(Dsa, APromptChoosesForEachPosition) {
  const StepGraph graph = build(kDsa, prompt(sparse()));
  EXPECT_EQ(flops(graph, 0, Phase::screening), indexer_flops(128) + 2 * 3 * 128 * 2 * 2080);
  EXPECT_EQ(flops(graph, 0, Phase::attention), 2 * (20 + 16) * 2 * 4 * 904);
  EXPECT_EQ(ledger(graph, 0).at("near read keys"), 2 * 904 * 40);
  EXPECT_EQ(runs(graph, 0, kNear, TensorClass::keys), std::vector<int>{40});
}

TEST(Dsa, GpusOfATensorGroupEachRunTheIndexer) {
  AttentionContext c = sparse();
  c.parallel.tensor = 2;
  const StepGraph half = build(kDsa, c);
  EXPECT_EQ(flops(half, 0, Phase::screening), indexer_flops(2) + 2 * 3 * 128 * 2 * 64);
  EXPECT_EQ(ledger(half, 0).at("near read index_keys"), 2 * 64 * 132);
  EXPECT_EQ(flops(half, 0, Phase::attention) * 2,
            flops(build(kDsa, sparse()), 0, Phase::attention));
}

// Every second layer reads those of its own rows that the layer before it chose.
TEST(Dsa, LayersThatShareAnIndexerKeepNoKeysAndChooseNothing) {
  AttentionContext c = sparse();
  c.model.layer_types = {LayerType::indexed_attention, LayerType::shared_index};
  const Ledger kept = footprint(kDsa, c);
  EXPECT_EQ(kept.at("near keys"), 4 * 2 * 64 * 40);
  EXPECT_EQ(kept.at("near index_keys"), 2 * 2 * 64 * 132);
  for (const AttentionContext& each : {c, prompt(c)}) {
    const StepGraph graph = build(kDsa, each);
    const StepGraph own =
        build(kDsa, each.step.kind == StepKind::decode ? sparse() : prompt(sparse()));
    EXPECT_EQ(ledger(graph, 0), ledger(own, 0));
    EXPECT_EQ(flops(graph, 1, Phase::screening), 0);
    EXPECT_EQ(flops(graph, 1, Phase::attention), flops(own, 1, Phase::attention));
    EXPECT_EQ(ledger(graph, 1).at("near read keys"), ledger(own, 1).at("near read keys"));
    EXPECT_FALSE(ledger(graph, 1).contains("near read index_keys"));
    EXPECT_FALSE(ledger(graph, 1).contains("near write index_keys"));
  }
}

// The matrices of an indexer, and scale and bias of its key's norm, in every second layer.
TEST(Dsa, LayersThatShareAnIndexerHaveNoWeightsOfOne) {
  LlmConfig model = sparse().model;
  const std::int64_t all = model.parameters();
  model.layer_types = {LayerType::indexed_attention, LayerType::shared_index};
  EXPECT_EQ(all - model.parameters(), 2 * (32 * 128 + 32 * 3 + 12 * 3 * 128 + 2 * 128));
  EXPECT_EQ(model.index_keys().in_base(), 2 * 132);
}

}  // namespace
}  // namespace tiersim::testing::dsa_test
