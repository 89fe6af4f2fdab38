// ShadowKV, InfiniGen and NSA in a layer of small_step.hpp, by hand: 4 pairs of sequence and KV
// head, 64 positions, rows of 16 B, so that a position of all pairs has 64 B of keys and 64 B of
// values; 4 query heads over 2 KV heads of 8 elements, 2 sequences.
#include "tests/unit/workloads/small_step.hpp"

namespace tiersim::testing::sparse_offload_test {
namespace {

constexpr int kPairs = 4;
constexpr int kRow = 16;
constexpr int kHeads = 8;  // query heads of the batch

AttentionContext prompt(AttentionContext c = small_step()) {
  c.step.kind = StepKind::prefill;
  return c;
}

// 8 positions of one prompt after 56 that the cache has.
AttentionContext piece() {
  AttentionContext c = prompt();
  c.step.batch = 1;
  c.step.context = 8;
  c.chunks = {{8, 56}};
  return c;
}

const Op* only(const StepGraph& graph, int layer, Phase phase, OpKind kind) {
  const Op* found = nullptr;
  for (const Op& op : graph.ops)
    if (op.layer == layer && op.phase == phase && op.kind == kind) {
      EXPECT_EQ(found, nullptr);
      found = &op;
    }
  return found;
}

bool waits(const StepGraph& graph, const Op& op, const Op& before) {
  return std::ranges::any_of(op.after, [&](OpId id) { return &graph.ops[id.index()] == &before; });
}

// 3 of 8 chunks are near: 24 positions; 2 of the 5 others are chosen: 16 positions. A row of the
// factor has 6 elements, 12 B; the basis of a pair 6 rows of 16 B.
const std::string kShadow =
    "{name: shadowkv, budget: 0.25, rank: 6, chunk: 8, outliers: 1, local: 2}";
constexpr int kBasis = kPairs * 6 * kRow;

TEST(ShadowKv, FetchesValuesAndMakesKeys) {
  const StepGraph graph = build(kShadow);
  EXPECT_EQ(ledger(graph, 1), (Ledger{{"near read landmarks", kPairs * 5 * kRow},
                                      {"near write landmarks", kPairs * kRow},
                                      {"near write indices", kPairs * 2 * 2},
                                      {"near read indices", kPairs * 2 * 2},
                                      {"far read values", kPairs * 16 * kRow},
                                      {"far write values", kPairs * kRow},
                                      {"near read keys", kPairs * 16 * 12},
                                      {"near write keys", 2 * 12},
                                      {"near read states", 2 * kBasis + kPairs * 24 * 2 * kRow},
                                      {"near write states", kPairs * 2 * kRow},
                                      {"near write staging", kPairs * 16 * 2 * kRow},
                                      {"near read staging", kPairs * 16 * 2 * kRow}}));
  EXPECT_EQ(flops(graph, 1, Phase::screening), 2 * kHeads * 5 * 8);
  EXPECT_EQ(flops(graph, 1, Phase::gather), 2 * kPairs * 16 * 6 * 8);
  EXPECT_EQ(flops(graph, 1, Phase::write_back), 2 * 2 * 6 * 2 * 8);
  EXPECT_EQ(flops(graph, 1, Phase::attention), 4 * kHeads * (24 + 16) * 8);
  EXPECT_EQ(far_reads(graph, 1), 1);
  EXPECT_EQ(runs(graph, 1, kFar, TensorClass::values), std::vector<int>{8 * kRow});
  EXPECT_EQ(runs(graph, 1, kNear, TensorClass::keys), std::vector<int>{8 * 12});
}

// Two heads that choose 4 of the 5 chunks beside the outlier and the newest two name all 5
// together.
TEST(ShadowKv, ChoosesAmongTheChunksThatAreNotKeptNear) {
  const StepGraph graph = build(
      "{name: shadowkv, budget: 0.5, rank: 6, chunk: 8, outliers: 1, local: 2, fetch: "
      "{choose_per: query_head}}");
  EXPECT_EQ(ledger(graph, 1).at("far read values"), kPairs * 40 * kRow);
  EXPECT_EQ(flops(graph, 1, Phase::attention), 4 * kHeads * (24 + 32) * 8);
}

TEST(ShadowKv, KeepsFactorsLandmarksOutliersAndNewestChunksNear) {
  EXPECT_EQ(footprint(kShadow), (Ledger{{"near keys", 4 * 2 * 64 * 12},
                                        {"near landmarks", 4 * kPairs * 8 * kRow},
                                        {"near states", 4 * (kBasis + kPairs * 24 * 2 * kRow)},
                                        {"far values", 4 * kPairs * 64 * kRow},
                                        {"near staging", kPairs * 16 * 2 * kRow},
                                        {"near indices", kPairs * 2 * 2}}));
}

TEST(ShadowKv, MakesKeysBesideTheCopyAndAttendsAfterBoth) {
  const StepGraph graph = build(kShadow);
  const Op* copy = only(graph, 1, Phase::gather, OpKind::transfer);
  const Op* make = only(graph, 1, Phase::gather, OpKind::compute);
  const Op* attend = only(graph, 1, Phase::attention, OpKind::compute);
  ASSERT_TRUE(copy && make && attend);
  EXPECT_FALSE(waits(graph, *make, *copy));
  EXPECT_FALSE(waits(graph, *copy, *make));
  EXPECT_TRUE(waits(graph, *attend, *copy));
  EXPECT_TRUE(waits(graph, *attend, *make));
}

// One of two chosen chunks is in the cache, with its key.
TEST(ShadowKv, NeitherFetchesNorMakesWhatTheCacheHolds) {
  const std::string yaml =
      "{name: shadowkv, budget: 0.25, rank: 6, chunk: 8, outliers: 1, local: "
      "2, fetch: {hot_rows: {rows: 16, hit_rate: 0.5}}}";
  const StepGraph graph = build(yaml);
  const Ledger moved = ledger(graph, 1);
  EXPECT_EQ(moved.at("far read values"), kPairs * 8 * kRow);
  EXPECT_EQ(moved.at("near read keys"), kPairs * 8 * 12);
  EXPECT_EQ(moved.at("near read row_cache"), kPairs * 8 * 2 * kRow);
  EXPECT_EQ(moved.at("near read staging"), kPairs * 8 * 2 * kRow);
  EXPECT_EQ(flops(graph, 1, Phase::gather), 2 * kPairs * 8 * 6 * 8);
  EXPECT_EQ(footprint(yaml).at("near row_cache"), 4 * kPairs * 16 * 2 * kRow);
}

TEST(ShadowKv, OfAShortContextFetchesNothing) {
  AttentionContext c = small_step();
  c.step.context = 10;
  const StepGraph graph = build(kShadow, c);
  EXPECT_EQ(far_reads(graph, 1), 0);
  EXPECT_EQ(flops(graph, 1, Phase::screening) + flops(graph, 1, Phase::gather), 0);
  EXPECT_EQ(ledger(graph, 1).at("near read states"), kBasis + kPairs * 10 * 2 * kRow);
  EXPECT_EQ(flops(graph, 1, Phase::attention), 4 * kHeads * 10 * 8);
}

TEST(ShadowKv, DecomposesTheKeysOfAPrompt) {
  const StepGraph graph = build(kShadow, prompt());
  EXPECT_EQ(flops(graph, 1, Phase::write_back), 6 * 16 * 16 * 64 * 2);
  EXPECT_EQ(ledger(graph, 1).at("near write keys"), 2 * 64 * 12);
  EXPECT_EQ(ledger(graph, 1).at("near write landmarks"), kPairs * 8 * kRow);
  EXPECT_EQ(ledger(graph, 1).at("near write states"), kBasis + kPairs * 24 * 2 * kRow);
}

TEST(ShadowKv, MakesTheKeysOfEarlierPieces) {
  const StepGraph graph = build(kShadow, piece());
  const int rows = 2 * 56;  // of 2 KV heads
  EXPECT_EQ(ledger(graph, 1).at("near read keys"), 56 * 12);
  EXPECT_EQ(flops(graph, 1, Phase::gather), 2 * rows * 6 * 8);
  EXPECT_EQ(ledger(graph, 1).at("far read values"), rows * kRow);
  EXPECT_EQ(ledger(graph, 1).at("near write staging"), rows * 2 * kRow);
  EXPECT_EQ(ledger(graph, 1).at("near read staging"), rows * 2 * kRow);
}

TEST(ShadowKv, RefusesWhatItDoesNotKnow) {
  EXPECT_EQ(problems("{name: shadowkv, budget: 0.25, rank: 17}"),
            std::vector<std::string>{
                "rank: 17 exceeds the 16 elements of the model's keys of a position"});
  EXPECT_EQ(problems("{name: shadowkv, budget: 0.25, rank: 6, fetch: {page: 4}}"),
            std::vector<std::string>{
                "fetch.page: has no effect where chunks are chosen (set chunk instead)"});
  EXPECT_EQ(problems("{name: shadowkv, budget: 0.25, rank: 6, fetch: {near_share: 0.5}}").size(),
            1U);
}

// 2 of 8 elements of every key: 4 B. Partial weights: 32 x 4 heads x 2 elements of 2 B.
constexpr int kPartialWeights = 32 * 4 * 2 * 2;
const Ledger kInfiniGen{{"near read lowrank_keys", kPairs * 64 * 4},
                        {"near write lowrank_keys", kPairs * 4},
                        {"near write indices", kPairs * 16 * 2},
                        {"near read indices", kPairs * 16 * 2},
                        {"far read keys", kPairs * 16 * kRow},
                        {"far read values", kPairs * 16 * kRow},
                        {"near write staging", kPairs * 16 * 2 * kRow},
                        {"near read staging", kPairs * 16 * 2 * kRow},
                        {"far write keys", kPairs* kRow},
                        {"far write values", kPairs* kRow}};

TEST(InfiniGen, ScreensByPartOfEveryKeyThenFetchesRows) {
  const std::string yaml = "{name: infinigen, budget: 0.25}";
  const StepGraph graph = build(yaml);
  EXPECT_EQ(ledger(graph, 1), kInfiniGen);
  EXPECT_EQ(flops(graph, 1, Phase::screening), 2 * kHeads * 64 * 2);
  EXPECT_EQ(flops(graph, 1, Phase::attention), 4 * kHeads * 16 * 8);
  EXPECT_EQ(ledger(graph, 0).at("far read keys"), kPairs * 64 * kRow);
  EXPECT_EQ(flops(graph, 0, Phase::screening), 0);
  EXPECT_EQ(footprint(yaml), (Ledger{{"far keys", 4 * kPairs * 64 * kRow},
                                     {"far values", 4 * kPairs * 64 * kRow},
                                     {"near lowrank_keys", 4 * kPairs * 64 * 4},
                                     {"near weights", 4 * kPartialWeights},
                                     {"near staging", kPairs * 64 * 2 * kRow},
                                     {"near indices", kPairs * 16 * 2}}));
}

TEST(InfiniGen, GuessesByPartOfTheQueryWeights) {
  AttentionContext c = small_step();
  c.step.overlap = Overlap::prefetch_screening;
  const StepGraph graph = build("{name: infinigen, budget: 0.25}", c);
  Ledger expected = kInfiniGen;
  expected["near read weights"] = kPartialWeights;
  EXPECT_EQ(ledger(graph, 1), expected);
  EXPECT_EQ(flops(graph, 1, Phase::screening), 2 * 2 * 32 * 4 * 2 + 2 * kHeads * 64 * 2);
  const StepGraph maple = build("{name: maple, budget: 0.25, rank_ratio: 0.25, key_type: fp16}", c);
  EXPECT_EQ(ledger(maple, 1).at("near read lowrank_keys"), kPairs * 64 * 4);
  EXPECT_GT(flops(maple, 1, Phase::screening), flops(graph, 1, Phase::screening));
}

TEST(InfiniGen, ChoosesColumnsInAPrefill) {
  const StepGraph graph = build("{name: infinigen, budget: 0.25}", prompt());
  EXPECT_EQ(ledger(graph, 1).at("near read weights"), kPartialWeights);
  EXPECT_EQ(ledger(graph, 1).at("near write weights"), kPartialWeights);
  EXPECT_EQ(flops(graph, 1, Phase::screening), 2 * 64 * 4 * 8);
  EXPECT_EQ(ledger(graph, 1).at("near write lowrank_keys"), kPairs * 64 * 4);
}

TEST(InfiniGen, RefusesWhatItDoesNotKnow) {
  EXPECT_EQ(problems("{name: infinigen, budget: 0.25, partial: 0.1}"),
            std::vector<std::string>{"partial: 0.1 of 8 elements is none (a larger share)"});
  EXPECT_EQ(problems("{name: infinigen, budget: 0.25, dense_layers: 5}"),
            std::vector<std::string>{
                "dense_layers: 5 exceeds its layers: model has 4 (0 to the model's layers)"});
}

// 15 compressed rows of 8 positions, every 4; 4 of 8 blocks of 8 positions are selected, of which
// the first and the newest are fixed; a window of 12. The compressors have 8 * (8 * 8 + 8 * 8)
// weights, the other products 32 * (2 * 2 * 16 + 3 * 4).
const std::string kNsa =
    "{name: nsa, block: 8, stride: 4, chosen_block: 8, chosen: 4, fixed: 2, window: 12, kv_tier: ";
constexpr int kCompressor = 1024 * 2;
constexpr int kPositions = 15 + 32 + 12;

TEST(Nsa, FetchesTheBlocksThatCompressedRowsChoose) {
  const StepGraph graph = build(kNsa + "far}");
  const int pair = 2 * kRow;
  EXPECT_EQ(ledger(graph, 1), (Ledger{{"near read weights", kCompressor},
                                      {"near read compressed_rows", kPairs * 15 * (pair + kRow)},
                                      {"near write compressed_rows", kPairs * pair / 4},
                                      {"near read states", kPairs * pair * (8 / 4 + 12 + 16)},
                                      {"near write states", kPairs * pair * 3},
                                      {"near write indices", kPairs * 2 * 2},
                                      {"near read indices", kPairs * 2 * 2},
                                      {"far read keys", kPairs * 16 * kRow},
                                      {"far read values", kPairs * 16 * kRow},
                                      {"far write keys", kPairs * kRow},
                                      {"far write values", kPairs * kRow},
                                      {"near write staging", kPairs * 16 * pair},
                                      {"near read staging", kPairs * 16 * pair}}));
  EXPECT_EQ(flops(graph, 1, Phase::screening), 2 * kHeads * 15 * 8);
  EXPECT_EQ(flops(graph, 1, Phase::write_back), 2 * kPairs * 1024 / 4);
  EXPECT_EQ(flops(graph, 1, Phase::attention), 4 * kHeads * 8 * kPositions + 5 * kHeads * 8);
  EXPECT_EQ(far_reads(graph, 1), 1);
  EXPECT_EQ(runs(graph, 1, kFar, TensorClass::keys), std::vector<int>{8 * kRow});
  EXPECT_EQ(footprint(kNsa + "far}"), (Ledger{{"far keys", 4 * kPairs * 64 * kRow},
                                              {"far values", 4 * kPairs * 64 * kRow},
                                              {"near compressed_rows", 4 * kPairs * 15 * pair},
                                              {"near states", 4 * kPairs * pair * (12 + 8 + 16)},
                                              {"near weights", 4 * (32 * 76 * 2 + kCompressor)},
                                              {"near staging", kPairs * 16 * pair},
                                              {"near indices", kPairs * 2 * 2}}));
}

TEST(Nsa, FetchesNothingWhereAllChosenBlocksAreFixed) {
  const StepGraph graph = build(
      "{name: nsa, block: 8, stride: 4, chosen_block: 8, chosen: 2, fixed: 2, window: 12, kv_tier: "
      "far}");
  EXPECT_EQ(far_reads(graph, 1), 0);
  EXPECT_FALSE(ledger(graph, 1).contains("near read staging"));
}

TEST(Nsa, ReadsNearRowsWhereTheyAre) {
  const StepGraph graph = build(kNsa + "near}");
  const Ledger moved = ledger(graph, 1);
  EXPECT_EQ(moved.at("near read keys"), kPairs * 32 * kRow);
  EXPECT_EQ(moved.at("near read values"), kPairs * 32 * kRow);
  EXPECT_EQ(moved.at("near read states"), kPairs * 2 * kRow * (8 / 4 + 12));
  EXPECT_EQ(far_reads(graph, 1), 0);
  EXPECT_EQ(footprint(kNsa + "near}").at("near states"), 4 * kPairs * 2 * kRow * (12 + 8));
}

// 61 positions are 8 blocks, the newest of 5 positions, and 14 compressed rows.
TEST(Nsa, TheNewestBlockMayBeFilledInPart) {
  AttentionContext c = small_step();
  c.step.context = 61;
  const StepGraph graph = build(kNsa + "far}", c);
  EXPECT_EQ(ledger(graph, 1).at("far read keys"), kPairs * 16 * kRow);
  EXPECT_EQ(flops(graph, 1, Phase::attention),
            4 * kHeads * 8 * (14 + 8 + 5 + 16 + 12) + 5 * kHeads * 8);
}

// The paper's Table 4 counts a compressed row more, context / stride.
TEST(Nsa, ReadsAsManyPositionsAsPublished) {
  for (const auto& [context, published] : std::map<std::int64_t, std::int64_t>{
           {8192, 2048}, {16'384, 2560}, {32'768, 3584}, {65'536, 5632}}) {
    AttentionContext c = small_step();
    c.step.context = context;
    const StepGraph graph = build("{name: nsa}", c);
    EXPECT_EQ(flops(graph, 1, Phase::attention) - 5 * kHeads * 8, 4 * kHeads * 8 * (published - 1));
  }
}

TEST(Nsa, WindowAttentionRunsDuringTheCopy) {
  const StepGraph graph = build(kNsa + "far}");
  const Op* copy = only(graph, 1, Phase::gather, OpKind::transfer);
  ASSERT_NE(copy, nullptr);
  int after_copy = 0;
  for (const Op& op : graph.ops)
    if (op.layer == 1 && op.phase == Phase::attention && waits(graph, op, *copy)) ++after_copy;
  EXPECT_EQ(after_copy, 1);  // of the selected branch alone
}

// Of the position n, (n - 8) / 4 + 1 compressed rows are seen: 4 * (1 + ... + 14) + 15 pairs.
TEST(Nsa, APromptAttendsInThreeBranches) {
  const StepGraph graph = build(kNsa + "far}", prompt());
  const std::int64_t compressed = 4 * (14 * 15 / 2) + 15;
  const std::int64_t selected = 32 * 33 / 2 + 32 * 32;
  const std::int64_t windowed = 12 * 13 / 2 + 52 * 12;
  EXPECT_EQ(flops(graph, 1, Phase::attention),
            4 * kHeads * 8 * (compressed + selected + windowed) + 5 * kHeads * 64 * 8);
  EXPECT_EQ(flops(graph, 1, Phase::screening), 2 * kHeads * 8 * compressed);
  EXPECT_EQ(ledger(graph, 1).at("near write compressed_rows"), kPairs * 15 * 2 * kRow);
}

TEST(Nsa, RefusesWhatItDoesNotKnow) {
  EXPECT_EQ(problems(kNsa + "far, fetch: {page: 4}}"),
            std::vector<std::string>{
                "fetch.page: has no effect where blocks are chosen (set chosen_block instead)"});
  EXPECT_EQ(problems(kNsa + "near, fetch: {choose_per: query_head}}").size(), 1U);
}

}  // namespace
}  // namespace tiersim::testing::sparse_offload_test
