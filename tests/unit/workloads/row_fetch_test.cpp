// Effects of the settings under `fetch`, on small_step.hpp: 64 positions of which 16 are chosen, 2
// query heads for each KV head, 4 (sequence, KV head) pairs, rows of 16 B.
#include "workloads/attention/row_fetch.hpp"

#include <algorithm>
#include <chrono>
#include <list>
#include <numeric>
#include <random>
#include <vector>

#include "tests/unit/workloads/small_step.hpp"

namespace tiersim::testing::row_fetch_test {
namespace {

std::string maple(const std::string& fetch) {
  return "{name: maple, budget: 0.25, rank_ratio: 0.25, key_type: int8, fetch: {" + fetch + "}}";
}

TEST(RowFetch, ReadsOnceWhatAGroupOfQueryHeadsChooses) {
  const StepGraph alone = build(maple(""));
  const StepGraph apart = build(maple("choose_per: query_head"));
  // 64 * (1 - (3/4)^2) = 28
  EXPECT_EQ(ledger(apart, 1).at("far read keys"), 4 * 28 * 16);
  EXPECT_EQ(ledger(apart, 1).at("near read staging"), 4 * 28 * 32);
  EXPECT_EQ(ledger(apart, 1).at("near write indices"), 4 * 28 * 2);
  EXPECT_EQ(flops(apart, 1, Phase::attention), flops(alone, 1, Phase::attention));
  // 1.5 heads: 64 * (1 - (3/4)^1.5) = 22.4
  const StepGraph half = build(maple("choose_per: query_head, head_overlap: 0.5"));
  EXPECT_EQ(ledger(half, 1).at("far read keys"), 4 * 23 * 16);
  const StepGraph same = build(maple("choose_per: query_head, head_overlap: 1"));
  EXPECT_EQ(ledger(same, 1), ledger(alone, 1));
}

// 16 pages of 4; one is missed with (48 47 46 45) / (64 63 62 61) = 0.306, so that 11.1 are
// touched.
TEST(RowFetch, CopiesWholePagesAndReadsTheChosenRowsOfThem) {
  const StepGraph graph = build(maple("page: 4"));
  EXPECT_EQ(ledger(graph, 1).at("far read keys"), 4 * 12 * 4 * 16);
  EXPECT_EQ(ledger(graph, 1).at("near write staging"), 4 * 12 * 4 * 32);
  EXPECT_EQ(ledger(graph, 1).at("near read staging"), 4 * 16 * 32);
  EXPECT_EQ(runs(graph, 1, kFar, TensorClass::keys), (std::vector<int>{4 * 16}));
  EXPECT_EQ(runs(graph, 1, kNear, TensorClass::staging), (std::vector<int>{16}));
  EXPECT_EQ(footprint(maple("page: 4")).at("near staging"), 4 * 12 * 4 * 32);
}

TEST(RowFetch, APageLargerThanTheContextIsTheContext) {
  EXPECT_EQ(ledger(build(maple("page: 100")), 1).at("far read keys"), 4096);
}

TEST(RowFetch, ReadsHotRowsNear) {
  const std::string yaml = maple("hot_rows: {share: 0.25, hit_rate: 0.5}");
  const Ledger moved = ledger(build(yaml), 1);
  EXPECT_EQ(moved.at("far read keys"), 4 * 8 * 16);
  EXPECT_EQ(moved.at("near write staging"), 4 * 8 * 32);
  EXPECT_EQ(moved.at("near read staging"), 4 * 8 * 32);
  EXPECT_EQ(moved.at("near read row_cache"), 4 * 8 * 32);
  EXPECT_FALSE(moved.contains("near write row_cache"));
  EXPECT_EQ(footprint(yaml).at("near row_cache"), 4 * 4 * 16 * 32);  // layers, pairs, rows
  EXPECT_EQ(footprint(yaml).at("near staging"), 4 * 8 * 32);
}

// Half of the 64 positions are near, and so are 8 of the 16 that are chosen.
TEST(RowFetch, ReadsInPlaceWhatIsNear) {
  const Ledger moved = ledger(build(maple("near_share: 0.5")), 1);
  EXPECT_EQ(moved.at("far read keys"), 4 * 8 * 16);
  EXPECT_EQ(moved.at("near read keys"), 4 * 8 * 16);
  EXPECT_EQ(moved.at("near read values"), 4 * 8 * 16);
  EXPECT_EQ(moved.at("near read staging"), 4 * 8 * 32);
  // The new row is stored near, and the one that it displaces far.
  EXPECT_EQ(moved.at("near write keys"), 4 * 16);
  EXPECT_EQ(moved.at("far write keys"), 4 * 16);
  const Ledger held = footprint(maple("near_share: 0.5"));
  EXPECT_EQ(held.at("near keys"), 4 * 4 * 32 * 16);  // layers, pairs, rows
  EXPECT_EQ(held.at("far keys"), 4 * 4 * 32 * 16);
  EXPECT_EQ(held.at("near staging"), 4 * 8 * 32);
}

TEST(RowFetch, AllNearFetchesNothing) {
  const Ledger moved = ledger(build(maple("near_share: 1")), 1);
  EXPECT_FALSE(moved.contains("far read keys"));
  EXPECT_FALSE(moved.contains("far write keys"));
  EXPECT_EQ(moved.at("near read keys"), 4 * 16 * 16);
  EXPECT_FALSE(footprint(maple("near_share: 1")).contains("near staging"));
}

// 48 rows of two sequences together are 24 of each one's 64: of 16 that are chosen, 6 in whole
// rows.
TEST(RowFetch, OnlyRowsBeyondANumberSpill) {
  const Ledger moved = ledger(build(maple("near_rows: 48")), 1);
  EXPECT_EQ(moved.at("near read keys"), 4 * 6 * 16);
  EXPECT_EQ(moved.at("far read keys"), 4 * 10 * 16);
  EXPECT_EQ(footprint(maple("near_rows: 48")).at("near keys"), 4 * 4 * 24 * 16);
  EXPECT_EQ(ledger(build(maple("near_rows: 128")), 1), ledger(build(maple("near_share: 1")), 1));
}

// Of 16 chosen rows 4 are near, of whose 16 rows none lies in the cache: it keeps 24 of the 48 far
// ones, and of the 12 far rows of a choice half is repeated and (24 - 12) / (48 - 12) of the rest
// found.
TEST(RowFetch, AnOverlapBesideNearRowsIsOfTheFarOnes) {
  const Ledger moved =
      ledger(build(maple("near_share: 0.25, hot_rows: {rows: 24, overlap: 0.5}")), 1);
  EXPECT_EQ(moved.at("near read keys"), 4 * 4 * 16);
  EXPECT_EQ(moved.at("near read row_cache"), 4 * 8 * 32);
  EXPECT_EQ(moved.at("far read keys"), 4 * 4 * 16);
}

// Four of 16 pages are chosen, two of them near; a dense layer reads 32 rows of each pair in place.
TEST(RowFetch, PagesAndDenseLayersAreSplitToo) {
  const StepGraph graph =
      build("{name: quest, budget: 0.25, page: 4, dense_layers: 1, fetch: {near_share: 0.5}}");
  EXPECT_EQ(ledger(graph, 0).at("far read keys"), 4 * 32 * 16);
  EXPECT_EQ(ledger(graph, 0).at("near read keys"), 4 * 32 * 16);
  EXPECT_EQ(ledger(graph, 1).at("far read keys"), 4 * 2 * 4 * 16);
  EXPECT_EQ(ledger(graph, 1).at("near read keys"), 4 * 2 * 4 * 16);
}

TEST(RowFetch, HitsAreRoundedDownAndMissesUp) {
  const Ledger moved = ledger(build(maple("hot_rows: {share: 0.25, hit_rate: 0.34}")), 1);
  EXPECT_EQ(moved.at("near read row_cache"), 4 * 5 * 32);  // 5.44
  EXPECT_EQ(moved.at("far read keys"), 4 * 11 * 16);
}

TEST(RowFetch, WhatIsAllCachedIsNotFetched) {
  const StepGraph graph = build(maple("hot_rows: {share: 0.25, hit_rate: 1}"));
  EXPECT_EQ(far_reads(graph, 1), 0);
  EXPECT_EQ(ledger(graph, 1).at("near read row_cache"), 4 * 16 * 32);
}

TEST(RowFetch, MeasuredReuseIsLinearBetweenItsPoints) {
  const std::string curve =
      "reuse: [{share: 0.125, hit_rate: 0.25}, {share: 0.375, hit_rate: 0.75}]";
  EXPECT_EQ(ledger(build(maple("hot_rows: {share: 0.25, " + curve + "}")), 1),
            ledger(build(maple("hot_rows: {share: 0.25, hit_rate: 0.5}")), 1));
  const HotRows at_a_point{
      .share = 0.375,
      .reuse = {{.share = 0.125, .hit_rate = 0.25}, {.share = 0.375, .hit_rate = 0.75}}};
  EXPECT_EQ(at_a_point.hits(0, 0, 0), 0.75);
}

// A curve over numbers of rows, whose points may name a share, too.
TEST(RowFetch, MeasuredReuseOfANumberOfRows) {
  const std::string curve =
      "reuse: [{rows: 16, hit_rate: 0.25}, {rows: 48, share: 1, hit_rate: 0.75}]";
  EXPECT_EQ(ledger(build(maple("hot_rows: {rows: 32, " + curve + "}")), 1),
            ledger(build(maple("hot_rows: {rows: 32, hit_rate: 0.5}")), 1));
  const HotRows repeated{.reuse = {{.hit_rate = 0, .rows = 0},
                                   {.hit_rate = 0.5, .rows = 1},
                                   {.hit_rate = 0.5, .rows = 1},
                                   {.hit_rate = 0.75, .rows = 2}}};
  const auto hits = [&](std::int64_t rows) {
    HotRows kept = repeated;
    kept.rows = rows;
    return kept.hits(rows, 0, 0);
  };
  EXPECT_EQ(hits(0), 0.0);
  EXPECT_EQ(hits(1), 0.5);
  EXPECT_EQ(hits(2), 0.75);
}

// 64 positions of which 16 are chosen and 40 are kept: half of the choice is repeated, and of the
// other half (40 - 16) / (64 - 16) is found, together three quarters.
TEST(RowFetch, AnOverlapOfStepsAndANumberOfRowsGiveTheHitRate) {
  const std::string yaml = maple("hot_rows: {rows: 40, overlap: 0.5}");
  const Ledger moved = ledger(build(yaml), 1);
  EXPECT_EQ(moved.at("near read row_cache"), 4 * 12 * 32);
  EXPECT_EQ(moved.at("far read keys"), 4 * 4 * 16);
  EXPECT_EQ(footprint(yaml).at("near row_cache"), 4 * 4 * 40 * 32);  // layers, pairs, rows
  EXPECT_EQ(moved, ledger(build(maple("hot_rows: {rows: 40, hit_rate: 0.75}")), 1));
}

TEST(RowFetch, ACacheOfAllRowsMissesNoneAndIsReservedWhole) {
  const std::string yaml = maple("hot_rows: {rows: 100, overlap: 0}");
  EXPECT_EQ(far_reads(build(yaml), 1), 0);
  EXPECT_EQ(footprint(yaml).at("near row_cache"), 4 * 4 * 100 * 32);
}

// The law against an LRU cache that is simulated: of 200 rows a step chooses 20, of which 16 stay,
// and the other 4 are drawn from the 180 that it did not choose. The cache keeps 60.
TEST(HotRows, TheLawOfAnOverlapIsThatOfAnLruCache) {
  constexpr std::size_t kRows = 200;
  constexpr std::size_t kChosen = 20;
  constexpr std::size_t kStay = 16;
  constexpr std::size_t kKept = 60;
  constexpr std::size_t kSteps = 20'000;
  constexpr unsigned kSeed = 7;
  std::mt19937 random(kSeed);
  std::vector<int> rows(kRows);  // the first kChosen are chosen
  std::iota(rows.begin(), rows.end(), 0);
  std::list<int> cache(rows.begin(), rows.begin() + kKept);  // most recently used first
  const auto below = [&](std::size_t limit) { return random() % limit; };
  std::int64_t hits = 0;
  for (std::size_t step = 0; step < kSteps; ++step) {
    // To the end of the chosen ones go those that leave.
    for (std::size_t last = kChosen - 1; last >= kStay; --last)
      std::swap(rows[below(last + 1)], rows[last]);
    for (std::size_t i = 0; i < kChosen - kStay; ++i) {
      const std::size_t drawn = kChosen + i + below(kRows - kChosen - i);
      std::swap(rows[drawn], rows[kChosen + i]);
    }
    for (std::size_t i = 0; i < kChosen - kStay; ++i) std::swap(rows[kStay + i], rows[kChosen + i]);
    for (std::size_t i = 0; i < kChosen; ++i) {
      const int row = rows[i];
      const auto at = std::ranges::find(cache, row);
      if (at != cache.end()) {
        ++hits;
        cache.erase(at);
      }
      cache.push_front(row);
    }
    while (cache.size() > kKept) cache.pop_back();
  }
  const HotRows law{.rows = kKept, .overlap = 0.8};
  EXPECT_DOUBLE_EQ(law.hits(kKept, kChosen, kRows), 0.8 + 0.2 * 40.0 / 180.0);
  // Hits of the 80'000 drawn rows are nearly binomial with a share of 2/9: five standard deviations
  // of their share of all 400'000 are 0.0015.
  EXPECT_NEAR(static_cast<double>(hits) / (kSteps * kChosen), law.hits(kKept, kChosen, kRows),
              0.0015)
      << "seed " << kSeed;
}

// Quest caches and misses whole pages: 2 of 4 are chosen, and 1 of 2 is in a cache of 2.
// Four (sequence, KV head) pairs, each with a block of threads of its own.
TEST(RowFetch, BytesInFlightAreThoseOfAllSequences) {
  const auto windows = [](const std::string& yaml) {
    std::vector<std::int64_t> out;
    for (const Op& op : build(yaml).ops)
      if (op.layer == 1 && op.kind == OpKind::transfer && op.phase == Phase::gather)
        for (const Access& access : op.accesses)
          if (access.tier == kFar) out.push_back(access.window.in_base());
    return out;
  };
  EXPECT_EQ(windows(maple("in_flight: 1 KiB")), (std::vector<std::int64_t>{4096, 4096}));
  EXPECT_EQ(windows(maple("")), (std::vector<std::int64_t>{0, 0}));
}

// Of every copy, and where every row hits, too: the kernel runs to find that out.
TEST(RowFetch, ALookupIsThatOfEveryLayerWithARowCache) {
  const auto lookups = [](const std::string& yaml) {
    std::vector<Duration> out;
    for (const Op& op : build(yaml).ops)
      if (op.kind == OpKind::transfer && op.phase == Phase::gather) out.push_back(op.lookup);
    return out;
  };
  const std::vector<Duration> each(4, std::chrono::microseconds(3));
  EXPECT_EQ(lookups(maple("lookup: 3 us, hot_rows: {share: 0.25, hit_rate: 0.5}")), each);
  EXPECT_EQ(lookups(maple("lookup: 3 us, hot_rows: {share: 1, hit_rate: 1}")), each);
  EXPECT_TRUE(lookups(maple("hot_rows: {share: 1, hit_rate: 1}")).empty());
}

TEST(RowFetch, BlocksAreCachedWhole) {
  const std::string yaml =
      "{name: quest, budget: 0.5, dense_layers: 0, fetch: {hot_rows: {share: 0.5, hit_rate: 0.6}}}";
  EXPECT_EQ(ledger(build(yaml), 1).at("near read row_cache"), 4 * 16 * 32);
  EXPECT_EQ(ledger(build(yaml), 1).at("far read keys"), 4 * 16 * 16);
  EXPECT_EQ(footprint(yaml).at("near row_cache"), 4 * 4 * 32 * 32);
}

AttentionContext guessed() {
  AttentionContext c = small_step();
  c.step.overlap = Overlap::prefetch_screening;
  return c;
}

TEST(GuessedQuery, MovesWhatTheTrueOneMoves) {
  for (const char* yaml : {"{name: sparq, budget: 0.25, rank: 2}",
                           "{name: maple, budget: 0.25, rank_ratio: 0.25, key_type: int8}",
                           "{name: quest, budget: 0.25, dense_layers: 0}"}) {
    const Ledger moved = ledger(build(yaml, guessed()), 1);
    // The guessed query is a separate product of 32 x 32 weights, counted where it is used.
    Ledger expected = ledger(build(yaml), 1);
    expected["near read weights"] += 32 * 32 * 2;
    EXPECT_EQ(moved, expected) << yaml;
  }
}

// The cache was filled by whole choices, 16 of 64 rows: of 30 kept rows a step without overlap hits
// 14 of 48. The second fetch, of the half that was guessed wrong, hits with the same rate.
TEST(GuessedQuery, HitsTheRowsOfAnOverlapAsTheWholeChoiceDoes) {
  const auto moved = [](const std::string& rate) {
    return ledger(build(maple("guess_miss: 0.5, hot_rows: {rows: 30, " + rate + "}"), guessed()),
                  1);
  };
  EXPECT_EQ(moved("overlap: 0"), moved("hit_rate: 0.2917"));
  EXPECT_NE(moved("overlap: 0"), moved("hit_rate: 0.393"));  // 22 of 56, as of a choice of 8
}

// 32 -> 6 -> 4 heads * 8, and each head's 4 elements -> 12: what makes the cached latent is left
// out.
TEST(GuessedQuery, UnderLatentAttentionPassesTheQueriesLatent) {
  AttentionContext c = guessed();
  c.model.kv_heads = 4;
  c.model.mla = MlaConfig{.q_lora_rank = 6,
                          .kv_lora_rank = 12,
                          .qk_nope_head_dim = 4,
                          .qk_rope_head_dim = 4,
                          .v_head_dim = 8};
  const std::string yaml = "{name: sparq, budget: 0.25, rank: 2}";
  EXPECT_EQ(ledger(build(yaml, c), 1).at("near read weights"), 2 * (32 * 6 + 6 * 32 + 4 * 4 * 12));
}

TEST(GuessedQuery, ThatMissesScreensAndFetchesAgain) {
  const StepGraph graph = build(maple("guess_miss: 0.25"), guessed());
  const Ledger moved = ledger(graph, 1);
  EXPECT_EQ(far_reads(graph, 0), 1);  // nothing before it to guess from
  EXPECT_EQ(far_reads(graph, 1), 2);
  EXPECT_EQ(moved.at("far read keys"), 4 * (16 + 4) * 16);
  EXPECT_EQ(moved.at("near write staging"), 4 * (16 + 4) * 32);
  EXPECT_EQ(moved.at("near read staging"), 4 * 16 * 32);
  EXPECT_EQ(moved.at("near read lowrank_keys"), 2 * 512);
  EXPECT_EQ(moved.at("near read indices"), 4 * (16 + 4) * 2);
  // Two layers are in flight: one attends while the next one's rows arrive.
  EXPECT_EQ(footprint(maple("guess_miss: 0.25"), guessed()).at("near staging"),
            2 * 4 * (16 + 4) * 32);
}

std::vector<std::size_t> ops_of(const StepGraph& graph, int layer, OpKind kind, Phase phase) {
  std::vector<std::size_t> out;
  for (std::size_t i = 0; i < graph.ops.size(); ++i)
    if (graph.ops[i].layer == layer && graph.ops[i].kind == kind && graph.ops[i].phase == phase)
      out.push_back(i);
  return out;
}

TEST(GuessedQuery, CopiesStayInOrderAndAttentionWaitsForTheTrueOne) {
  const StepGraph graph = build(maple("guess_miss: 0.25"), guessed());
  const auto first = ops_of(graph, 1, OpKind::transfer, Phase::gather);
  const auto second = ops_of(graph, 2, OpKind::transfer, Phase::gather);
  ASSERT_EQ(first.size(), 2U);
  ASSERT_EQ(second.size(), 2U);
  const auto waits_for = [&](std::size_t op, std::size_t before) {
    const auto& after = graph.ops[op].after;
    return std::ranges::find(after, OpId(before)) != after.end();
  };
  EXPECT_TRUE(waits_for(first[1], first[0]));
  EXPECT_TRUE(waits_for(second[0], first[1]));
  const auto attention = ops_of(graph, 2, OpKind::compute, Phase::attention);
  EXPECT_TRUE(waits_for(attention.front(), second[1]));
  const auto projected = ops_of(graph, 2, OpKind::compute, Phase::projection).front();
  const StepGraph trusted = build(maple(""), guessed());
  const auto attends = ops_of(trusted, 2, OpKind::compute, Phase::attention).front();
  EXPECT_NE(std::ranges::find(trusted.ops[attends].after,
                              OpId(ops_of(trusted, 2, OpKind::compute, Phase::projection).front())),
            trusted.ops[attends].after.end());
  // Screened again by the query of this layer: the second of its projections to low rank.
  std::size_t again = 0;
  for (const std::size_t op : ops_of(graph, 2, OpKind::compute, Phase::screening))
    if (waits_for(op, projected)) ++again;
  EXPECT_EQ(again, 1U);
}

TEST(LayerPrefetch, CopiesAsSoonAsABufferIsFree) {
  const StepGraph graph = build("{name: layer_prefetch, buffers: 2}");
  std::vector<OpId> copies;
  std::vector<OpId> attended;
  for (int layer = 0; layer < 4; ++layer) {
    copies.emplace_back(ops_of(graph, layer, OpKind::transfer, Phase::gather).front());
    attended.emplace_back(ops_of(graph, layer, OpKind::compute, Phase::attention).front());
  }
  const auto after = [&](std::size_t layer) { return graph.ops[copies[layer].index()].after; };
  EXPECT_EQ(after(0), (OpIds{}));
  EXPECT_EQ(after(1), (OpIds{copies[0]}));
  EXPECT_EQ(after(2), (OpIds{copies[1], attended[0]}));
  EXPECT_EQ(after(3), (OpIds{copies[2], attended[1]}));
  EXPECT_EQ(graph.ops[attended[3].index()].after.front(), copies[3]);
}

using Problems = std::vector<std::string>;

TEST(Problems, NearRowsAreOneOfEachSequenceAtLeast) {
  EXPECT_EQ(problems(maple("near_rows: 1")),
            Problems{"fetch.near_rows: has no effect below one row of each sequence (step.batch or "
                     "more, or leave it out)"});
  EXPECT_EQ(problems(maple("near_rows: 2")), Problems{});
}

TEST(Problems, OfACacheBesideNearRowsAreOfTheFarOnes) {
  EXPECT_EQ(problems(maple("near_share: 0.25, hot_rows: {rows: 12, overlap: 0.5}")), Problems{});
  EXPECT_EQ(problems(maple("near_share: 0.25, hot_rows: {rows: 11, overlap: 0.5}")),
            Problems{"fetch.hot_rows.rows: keeps 11 of a sequence's rows, fewer than the 12 far "
                     "ones that a step chooses (as many or more)"});
}

TEST(Problems, NameSettingsWithoutEffect) {
  EXPECT_EQ(problems(maple("guess_miss: 0.1"), guessed()), Problems{});
  EXPECT_EQ(problems(maple("guess_miss: 0.1")),
            (Problems{"fetch.guess_miss: has no effect where no query is guessed (leave it out, or "
                      "set step.overlap: prefetch_screening)"}));
  EXPECT_EQ(
      problems("{name: loki, budget: 0.25, rank: 2, kv_tier: near, fetch: {page: 4, hot_rows: "
               "{share: 0.5, hit_rate: 0}}}"),
      (Problems{"fetch.page: has no effect on rows in the near tier (leave it out, or set "
                "kv_tier: far)",
                "fetch.hot_rows: has no effect on rows in the near tier (leave it out, or set "
                "kv_tier: far)"}));
  EXPECT_EQ(
      problems("{name: loki, budget: 0.25, rank: 2, kv_tier: near, fetch: {in_flight: 1 KiB}}"),
      Problems{"fetch.in_flight: has no effect on rows in the near tier (leave it out, or set "
               "kv_tier: far)"});
  EXPECT_EQ(
      problems(maple("lookup: 3 us")),
      Problems{"fetch.lookup: has no effect without a row cache (leave it out, or give hot_rows)"});
  EXPECT_EQ(problems(maple("in_flight: 1 KiB, by: copy_engine")),
            Problems{"fetch.in_flight: has no effect on copies of an engine (leave it out, or set "
                     "by: sm)"});
  EXPECT_EQ(problems("{name: quest, budget: 0.25, fetch: {page: 4}}"),
            Problems{"fetch.page: has no effect where pages are chosen (set page instead)"});
}

TEST(Problems, NameWhatCannotBe) {
  EXPECT_EQ(problems(maple("hot_rows: {share: 0.05, hit_rate: 0.9}")),
            (Problems{"fetch.hot_rows.share: keeps 4 of a sequence's rows and would be hit by 14 "
                      "(raise the share or lower the hit rate)"}));
  EXPECT_EQ(problems(maple("hot_rows: {rows: 10, overlap: 0.9}")),
            (Problems{"fetch.hot_rows.rows: keeps 10 of a sequence's rows, fewer than the 16 that "
                      "a step chooses (as many or more)"}));
  EXPECT_EQ(problems(maple("hot_rows: {rows: 10, hit_rate: 0.9}")),
            (Problems{"fetch.hot_rows.rows: keeps 10 of a sequence's rows and would be hit by 14 "
                      "(more rows, or a lower hit rate)"}));
  EXPECT_EQ(
      problems("{name: h2o, heavy: 0.75, recent: 0.5}"),
      (Problems{"heavy: 0.75 and recent 0.5 are more than all rows (lower one of them; method "
                "dense keeps all)"}));
  EXPECT_EQ(problems("{name: loki, budget: 0.25, rank: 2, fetch: {near_share: 0.5}}"),
            Problems{"fetch.near_share: is not known for screening by parts of the keys (leave it "
                     "out, or take maple or quest)"});
  EXPECT_EQ(
      problems("{name: sparq, budget: 0.25, rank: 2, key_copies: 1, fetch: {near_share: 0.5}}"),
      Problems{"fetch.near_share: is not known for screening by parts of the keys (leave it "
               "out, or set key_copies: 2)"});
  EXPECT_EQ(problems("{name: loki, budget: 0.25, rank: 9}"),
            Problems{"rank: 9 exceeds the 8 elements of the model's key rows"});
}

TEST(Problems, AreLookedForInAHalfReadModelToo) {
  AttentionContext c = small_step();
  c.model = {};
  c.step = {.batch = 0, .context = 0};
  EXPECT_EQ(problems(maple("hot_rows: {share: 0.05, hit_rate: 0.9}"), c), Problems{});
}

}  // namespace
}  // namespace tiersim::testing::row_fetch_test
