// Each method's bytes, FLOPs, footprint and round trips in a layer of small_step.hpp, by hand:
// 4 pairs of sequence and KV head, 64 positions, rows of 16 B. A new row is 4 * 16 B = 64 B of keys
// and 64 B of values; 16 positions are 1024 B of each, 64 are 4096 B.
#include "tests/unit/workloads/small_step.hpp"

namespace tiersim::testing::methods_test {
namespace {

constexpr int kDenseFlops = 4 * 8 * 64 * 8;  // query heads of the batch, positions, width

TEST(Dense, NearReadsEveryRow) {
  const std::string yaml = "{name: dense, kv_tier: near}";
  const StepGraph graph = build(yaml);
  EXPECT_EQ(ledger(graph, 1), (Ledger{{"near read keys", 4096},
                                      {"near read values", 4096},
                                      {"near write keys", 64},
                                      {"near write values", 64}}));
  EXPECT_EQ(flops(graph, 1, Phase::attention), kDenseFlops);
  EXPECT_EQ(far_reads(graph, 1), 0);
  EXPECT_EQ(footprint(yaml), (Ledger{{"near keys", 4 * 4096}, {"near values", 4 * 4096}}));
}

const Ledger kDenseFar{{"far read keys", 4096},      {"far read values", 4096},
                       {"near write staging", 8192}, {"near read staging", 8192},
                       {"far write keys", 64},       {"far write values", 64}};

TEST(Dense, FarCopiesEveryRowToStagingOnce) {
  const std::string yaml = "{name: dense, kv_tier: far}";
  const StepGraph graph = build(yaml);
  EXPECT_EQ(ledger(graph, 1), kDenseFar);
  EXPECT_EQ(flops(graph, 1, Phase::attention), kDenseFlops);
  EXPECT_EQ(far_reads(graph, 1), 1);
  EXPECT_EQ(runs(graph, 1, kFar, TensorClass::keys), (std::vector<int>{64 * 16}));
  EXPECT_EQ(footprint(yaml),
            (Ledger{{"far keys", 4 * 4096}, {"far values", 4 * 4096}, {"near staging", 8192}}));
}

TEST(LayerPrefetch, MovesWhatDenseMovesAndPaysWithStaging) {
  const std::string yaml = "{name: layer_prefetch, buffers: 3}";
  const StepGraph graph = build(yaml);
  EXPECT_EQ(ledger(graph, 1), kDenseFar);
  EXPECT_EQ(flops(graph, 1, Phase::attention), kDenseFlops);
  EXPECT_EQ(footprint(yaml),
            (Ledger{{"far keys", 4 * 4096}, {"far values", 4 * 4096}, {"near staging", 3 * 8192}}));
}

TEST(LayerPrefetch, StagesNoMoreLayersThanThereAre) {
  EXPECT_EQ(footprint("{name: layer_prefetch, buffers: 64}").at("near staging"), 4 * 8192);
}

// Two columns of 2 B elements: 4 pairs * 2 * 64 * 2 B = 1024 B. Index lists: 4 * 16 * 2 B.
TEST(Sparq, ScreensByColumnsOfTheFarTierThenFetchesRows) {
  const std::string yaml = "{name: sparq, budget: 0.25, rank: 2}";
  const StepGraph graph = build(yaml);
  EXPECT_EQ(ledger(graph, 1), (Ledger{{"far read key_copy", 1024},
                                      {"far read keys", 1024},
                                      {"far read values", 1024},
                                      {"near write staging", 1024 + 2048},
                                      {"near read staging", 1024 + 2048},
                                      {"near write indices", 128},
                                      {"near read indices", 128},
                                      {"far write keys", 64},
                                      {"far write values", 64},
                                      {"far write key_copy", 64}}));
  EXPECT_EQ(flops(graph, 1, Phase::screening), 2 * 8 * 64 * 2);
  EXPECT_EQ(flops(graph, 1, Phase::attention), kDenseFlops / 4);
  EXPECT_EQ(far_reads(graph, 1), 2);
  EXPECT_EQ(runs(graph, 1, kFar, TensorClass::keys), (std::vector<int>{16}));
  EXPECT_EQ(runs(graph, 1, kFar, TensorClass::key_copy), (std::vector<int>{64 * 2}));
  EXPECT_EQ(footprint(yaml), (Ledger{{"far keys", 4 * 4096},
                                     {"far values", 4 * 4096},
                                     {"far key_copy", 4 * 4096},
                                     {"near staging", 1024 + 2048},
                                     {"near indices", 128}}));
}

// Half a byte an element: a quarter of the fp16 sizes, the transposed copy included.
TEST(Sparq, KeepsAKeyCopyAsLargeAsTheKeysInFourBits) {
  AttentionContext c = small_step();
  c.step.kv_type = DataType::int4;
  const auto sparq = method("{name: sparq, budget: 0.25, rank: 2}");
  std::map<TensorClass, Bytes> all;
  for (const CachedTensor& tensor : sparq->cached(c)) all[tensor.tensor_class] = tensor.all();
  EXPECT_EQ(all.at(TensorClass::keys), Bytes::from_base(1024));
  EXPECT_EQ(all.at(TensorClass::key_copy), Bytes::from_base(1024));
}

// Two sectors of 32 B are more than half of a row of 16 B, so that whole rows are read.
TEST(Sparq, OneCopyReadsTheKeysThemselves) {
  const StepGraph graph = build("{name: sparq, budget: 0.25, rank: 2, key_copies: 1}");
  EXPECT_EQ(ledger(graph, 1).at("far read keys"), 4096 + 1024);
  EXPECT_FALSE(ledger(graph, 1).contains("far write key_copy"));
  EXPECT_EQ(far_reads(graph, 1), 2);
}

// Rank 2 of 8, a byte each: 4 * 64 * 2 B = 512 B. Projections: k = 2 heads * 2 = 4, q = 4 * 2 = 8;
// 32 * 4 + 4 * 4 + 4 * 8 = 176.
TEST(Maple, ScreensInTheNearTierThenFetchesRows) {
  const std::string yaml = "{name: maple, budget: 0.25, rank_ratio: 0.25, key_type: int8}";
  const StepGraph graph = build(yaml);
  EXPECT_EQ(ledger(graph, 1), (Ledger{{"near read weights", 176},
                                      {"near write lowrank_keys", 8},
                                      {"near read lowrank_keys", 512},
                                      {"near write indices", 128},
                                      {"near read indices", 128},
                                      {"far read keys", 1024},
                                      {"far read values", 1024},
                                      {"near write staging", 2048},
                                      {"near read staging", 2048},
                                      {"far write keys", 64},
                                      {"far write values", 64}}));
  EXPECT_EQ(flops(graph, 1, Phase::screening), 2 * 2 * 176 + 2 * 8 * 64 * 2);
  EXPECT_EQ(flops(graph, 1, Phase::attention), kDenseFlops / 4);
  EXPECT_EQ(far_reads(graph, 1), 1);
  EXPECT_EQ(footprint(yaml), (Ledger{{"far keys", 4 * 4096},
                                     {"far values", 4 * 4096},
                                     {"near lowrank_keys", 4 * 512},
                                     {"near weights", 4 * 176},
                                     {"near staging", 2048},
                                     {"near indices", 128}}));
}

// The same 512 B come over the link first, and the 8 B of the new position leave over it.
TEST(Maple, LowRankKeysInTheFarTierCrossTheLinkBeforeTheRows) {
  const std::string yaml =
      "{name: maple, budget: 0.25, rank_ratio: 0.25, key_type: int8, lowrank_tier: far}";
  const StepGraph graph = build(yaml);
  EXPECT_EQ(ledger(graph, 1), (Ledger{{"near read weights", 176},
                                      {"far read lowrank_keys", 512},
                                      {"far write lowrank_keys", 8},
                                      {"near write indices", 128},
                                      {"near read indices", 128},
                                      {"far read keys", 1024},
                                      {"far read values", 1024},
                                      {"near write staging", 2048 + 512},
                                      {"near read staging", 2048 + 512},
                                      {"far write keys", 64},
                                      {"far write values", 64}}));
  EXPECT_EQ(far_reads(graph, 1), 2);
  EXPECT_EQ(footprint(yaml), (Ledger{{"far keys", 4 * 4096},
                                     {"far values", 4 * 4096},
                                     {"far lowrank_keys", 4 * 512},
                                     {"near weights", 4 * 176},
                                     {"near staging", 2048 + 512},
                                     {"near indices", 128}}));
}

// 4 pages of 16; bounds of one are two keys, 32 B: 4 pairs * 4 * 32 B = 512 B. One page is chosen,
// an index of 2 B for each pair.
const Ledger kQuest{{"near read page_bounds", 512}, {"near write page_bounds", 128},
                    {"near write indices", 8},      {"near read indices", 8},
                    {"far read keys", 1024},        {"far read values", 1024},
                    {"near write staging", 2048},   {"near read staging", 2048},
                    {"far write keys", 64},         {"far write values", 64}};

TEST(Quest, ScreensByBoundsThenFetchesWholePages) {
  const std::string yaml = "{name: quest, budget: 0.25, page: 16, dense_layers: 1}";
  const StepGraph graph = build(yaml);
  EXPECT_EQ(ledger(graph, 0).at("far read keys"), 4096);
  EXPECT_EQ(ledger(graph, 0).at("near write page_bounds"), 128);
  EXPECT_EQ(flops(graph, 0, Phase::screening), 0);
  EXPECT_EQ(ledger(graph, 1), kQuest);
  EXPECT_EQ(flops(graph, 1, Phase::screening), 4 * 8 * 4 * 8);
  EXPECT_EQ(flops(graph, 1, Phase::attention), kDenseFlops / 4);
  EXPECT_EQ(far_reads(graph, 1), 1);
  EXPECT_EQ(runs(graph, 1, kFar, TensorClass::keys), (std::vector<int>{16 * 16}));
  EXPECT_EQ(footprint(yaml), (Ledger{{"far keys", 4 * 4096},
                                     {"far values", 4 * 4096},
                                     {"near page_bounds", 4 * 512},
                                     {"near staging", 8192},  // of the dense layer
                                     {"near indices", 8}}));
  EXPECT_EQ(footprint("{name: quest, budget: 0.25, dense_layers: 0}").at("near staging"), 2048);
}

TEST(Quest, FarBoundsAreASecondCrossing) {
  const StepGraph graph = build("{name: quest, budget: 0.25, bounds_tier: far, dense_layers: 1}");
  Ledger expected = kQuest;
  expected.erase("near read page_bounds");
  expected.erase("near write page_bounds");
  expected["far read page_bounds"] = 512;
  expected["far write page_bounds"] = 128;
  expected["near write staging"] += 512;
  expected["near read staging"] += 512;
  EXPECT_EQ(ledger(graph, 1), expected);
  EXPECT_EQ(far_reads(graph, 1), 2);
}

TEST(Quest, NearRowsAreReadWhereTheyAre) {
  const StepGraph graph = build("{name: quest, budget: 0.25, kv_tier: near, dense_layers: 1}");
  EXPECT_EQ(ledger(graph, 1), (Ledger{{"near read page_bounds", 512},
                                      {"near write page_bounds", 128},
                                      {"near write indices", 8},
                                      {"near read keys", 1024},
                                      {"near read values", 1024},
                                      {"near write keys", 64},
                                      {"near write values", 64}}));
  EXPECT_EQ(runs(graph, 1, kNear, TensorClass::keys), (std::vector<int>{16 * 16}));
}

// 17 positions are two pages of 16, the second of one position: a budget of one row reads a page.
TEST(Quest, ThePartOfAPageAtTheEndIsAPage) {
  AttentionContext c = small_step();
  c.step.context = 17;
  const StepGraph graph = build("{name: quest, budget: 0.01, dense_layers: 0}", c);
  EXPECT_EQ(ledger(graph, 1).at("near read page_bounds"), 4 * 2 * 32);
  EXPECT_EQ(ledger(graph, 1).at("far read keys"), 4 * 16 * 16);
  const StepGraph all = build("{name: quest, budget: 1, dense_layers: 0}", c);
  EXPECT_EQ(ledger(all, 1).at("far read keys"), 4 * 17 * 16);
}

// 2 of 8 elements of every key: 4 * 64 * 4 B = 1024 B. A matrix of 8 x 8 for each of 2 KV heads:
// 256 B; 4 queries and 2 keys are turned for each of 2 tokens.
TEST(Loki, ScreensByPartOfEveryKeyThenFetchesRows) {
  const std::string yaml = "{name: loki, budget: 0.25, rank: 2}";
  const StepGraph graph = build(yaml);
  EXPECT_EQ(ledger(graph, 1), (Ledger{{"near read weights", 256},
                                      {"far read keys", 1024 + 1024},
                                      {"far read values", 1024},
                                      {"near write staging", 1024 + 2048},
                                      {"near read staging", 1024 + 2048},
                                      {"near write indices", 128},
                                      {"near read indices", 128},
                                      {"far write keys", 64},
                                      {"far write values", 64}}));
  EXPECT_EQ(flops(graph, 1, Phase::screening), 2 * 64 * (4 + 2) * 2 + 2 * 8 * 64 * 2);
  EXPECT_EQ(flops(graph, 1, Phase::attention), kDenseFlops / 4);
  EXPECT_EQ(far_reads(graph, 1), 2);
  EXPECT_EQ(runs(graph, 1, kFar, TensorClass::keys), (std::vector<int>{4, 16}));
  EXPECT_EQ(footprint(yaml), (Ledger{{"far keys", 4 * 4096},
                                     {"far values", 4 * 4096},
                                     {"near weights", 4 * 256},
                                     {"near staging", 1024 + 2048},
                                     {"near indices", 128}}));
}

TEST(Loki, NearKeysAreReadWhereTheyAre) {
  const StepGraph graph = build("{name: loki, budget: 0.25, rank: 2, kv_tier: near}");
  EXPECT_EQ(ledger(graph, 1), (Ledger{{"near read weights", 256},
                                      {"near read keys", 1024 + 1024},
                                      {"near read values", 1024},
                                      {"near write indices", 128},
                                      {"near write keys", 64},
                                      {"near write values", 64}}));
  EXPECT_EQ(runs(graph, 1, kNear, TensorClass::keys), (std::vector<int>{4, 16}));
}

// 8 heavy and 8 recent positions; a score of 4 B for each of 4 * 16 rows.
TEST(H2o, ReadsWhatItKeepsAndItsScores) {
  const std::string yaml = "{name: h2o, heavy: 0.125, recent: 0.125}";
  const StepGraph graph = build(yaml);
  EXPECT_EQ(ledger(graph, 1), (Ledger{{"near read keys", 1024},
                                      {"near read values", 1024},
                                      {"near read scores", 256},
                                      {"near write scores", 256},
                                      {"near write keys", 64},
                                      {"near write values", 64}}));
  EXPECT_EQ(flops(graph, 1, Phase::attention), kDenseFlops / 4);
  EXPECT_EQ(footprint(yaml),
            (Ledger{{"near keys", 4 * 1024}, {"near values", 4 * 1024}, {"near scores", 4 * 256}}));
}

TEST(StreamingLlm, ReadsSinksAndWindow) {
  const std::string yaml = "{name: streaming_llm, sinks: 4, window: 12}";
  const StepGraph graph = build(yaml);
  EXPECT_EQ(ledger(graph, 1), (Ledger{{"near read keys", 1024},
                                      {"near read values", 1024},
                                      {"near write keys", 64},
                                      {"near write values", 64}}));
  EXPECT_EQ(flops(graph, 1, Phase::attention), kDenseFlops / 4);
  EXPECT_EQ(footprint(yaml), (Ledger{{"near keys", 4 * 1024}, {"near values", 4 * 1024}}));
}

TEST(StreamingLlm, KeepsAShortContextWhole) {
  AttentionContext c = small_step();
  c.step.context = 10;
  const StepGraph graph = build("{name: streaming_llm, window: 12}", c);
  EXPECT_EQ(ledger(graph, 1).at("near read keys"), 4 * 10 * 16);
}

// The latent is the key of one head, 12 + 4 elements, 32 B, for each of 2 sequences; it has no
// values.
TEST(Methods, UnderLatentAttentionReadTheLatentOnly) {
  AttentionContext c = small_step();
  c.model.kv_heads = 4;
  c.model.mla =
      MlaConfig{.kv_lora_rank = 12, .qk_nope_head_dim = 4, .qk_rope_head_dim = 4, .v_head_dim = 8};
  const int row = 2 * 32;
  const StepGraph maple = build("{name: maple, budget: 0.25, rank_ratio: 0.25, key_type: int8}", c);
  EXPECT_EQ(ledger(maple, 1).at("far read keys"), 16 * row);
  EXPECT_FALSE(ledger(maple, 1).contains("far read values"));
  EXPECT_EQ(ledger(maple, 1).at("near read staging"), 16 * row);
  EXPECT_EQ(flops(maple, 1, Phase::attention), 2 * (16 + 12) * 8 * 16);
  const StepGraph quest = build("{name: quest, budget: 0.25, dense_layers: 0}", c);
  EXPECT_EQ(ledger(quest, 1).at("near read page_bounds"), 4 * 2 * row);
  const StepGraph h2o = build("{name: h2o, heavy: 0.125, recent: 0.125}", c);
  EXPECT_EQ(ledger(h2o, 1).at("near read scores"), 2 * 16 * 4);
  EXPECT_EQ(ledger(h2o, 1).at("near read keys"), 16 * row);
}

TEST(Methods, AttendWithinTheModelsWindow) {
  AttentionContext c = small_step();
  c.model.attention_window = 32;
  EXPECT_EQ(ledger(build("{name: sparq, budget: 0.25, rank: 2}", c), 1).at("far read keys"), 512);
  EXPECT_EQ(ledger(build("{name: streaming_llm, window: 60}", c), 1).at("near read keys"), 2048);
  EXPECT_EQ(footprint("{name: h2o, heavy: 0.5, recent: 0.25}", c).at("near keys"), 4 * 24 * 64);
}

}  // namespace
}  // namespace tiersim::testing::methods_test
