#include <algorithm>
#include <cmath>

#include <gtest/gtest.h>

#include "workloads/numerics/selection_methods.hpp"

namespace tiersim::numerics::numerics_selection_test {
namespace {

using Rows = std::vector<Index>;

Matrix matrix(std::initializer_list<std::initializer_list<double>> rows) {
  Matrix out(static_cast<Index>(rows.size()), static_cast<Index>(rows.begin()->size()));
  Index r = 0;
  for (const auto& row : rows) {
    Index c = 0;
    for (const double value : row) out(r, c++) = value;
    ++r;
  }
  return out;
}

RowVector row(std::initializer_list<double> values) {
  return matrix({values});
}

Rows choose(Selector& selector, Index position, const RowVector& logits, Index budget) {
  return selector.choose({.position = position, .logits = logits, .budget = budget}).rows;
}

AttentionSample random_sample(std::uint64_t seed, Index tokens, Index dim) {
  Rng rng(seed, "selection_test");
  return {.q = random_normal(rng, tokens, dim),
          .k = random_normal(rng, tokens, dim),
          .v = random_normal(rng, tokens, dim),
          .decode_from = tokens - 8};
}

TEST(Highest, TakesTheLowestIndexOfEqualScores) {
  EXPECT_EQ(highest(row({3, 5, 5, 1, 5}), 2), (Rows{1, 2}));
  EXPECT_EQ(highest(row({3, 5, 5, 1, 5}), 4), (Rows{0, 1, 2, 4}));
  EXPECT_EQ(highest(row({3, 5}), 0), Rows{});
}

TEST(ExactLogits, AreScaledByTheRootOfTheDimensionAndCausal) {
  const AttentionSample sample{.q = matrix({{9, 9, 9, 9}, {1, 2, 3, 4}, {9, 9, 9, 9}}),
                               .k = matrix({{1, 1, 1, 1}, {0, 0, 0, 2}, {9, 9, 9, 9}}),
                               .v = {},
                               .decode_from = 0};
  EXPECT_EQ(exact_logits(sample, 1), row({5, 4}));
}

TEST(ExactLogits, KnowQueriesOfTheNewestRowsOnly) {
  const AttentionSample sample{
      .q = matrix({{2}, {3}}), .k = matrix({{1}, {10}, {100}}), .v = {}, .decode_from = 1};
  EXPECT_EQ(sample.first_query(), 1);
  EXPECT_EQ(exact_logits(sample, 1), row({2, 20}));
  EXPECT_EQ(exact_logits(sample, 2), row({3, 30, 300}));
}

TEST(Softmax, ForgivesHugeLogits) {
  const RowVector weights = softmax(row({-1e6, 1000, 1000}));
  EXPECT_EQ(weights, row({0, 0.5, 0.5}));
}

// With equal logits the queries of rows 0, 1, 2 give 1, 1/2, 1/3 to each row that they see.
TEST(AccumulatedAttention, SumsOverTheQueriesOfThePrompt) {
  AttentionSample sample = random_sample(1, 12, 4);
  sample.k.setZero();
  const Vector sums = accumulated_attention(sample, 3);
  ASSERT_EQ(sums.size(), 3);
  EXPECT_NEAR(sums(0), 11.0 / 6, 1e-15);
  EXPECT_NEAR(sums(1), 5.0 / 6, 1e-15);
  EXPECT_NEAR(sums(2), 1.0 / 3, 1e-15);
}

TEST(RowsOf, RoundsAShareUp) {
  EXPECT_EQ(rows_of(1.0 / 64, 1024), 16);
  EXPECT_EQ(rows_of(1.0 / 64, 1025), 17);
  EXPECT_EQ(rows_of(1, 7), 7);
  EXPECT_EQ(rows_of(1e-9, 7), 1);
}

// Weights 1/4 and 3/4, values 0 and 4: the output is 3, that of row 1 alone 4, a third too much.
TEST(QualityOf, IsWhatCanBeWorkedOut) {
  const AttentionSample sample{.q = matrix({{0}, {std::log(3.0)}}),
                               .k = matrix({{0}, {1}}),
                               .v = matrix({{0}, {4}}),
                               .decode_from = 1};
  const ExactStep step = exact_steps(sample).at(0);
  const Quality one = quality_of(sample, step, {.rows = {1}}, 1);
  EXPECT_EQ(one.recall, 1);
  EXPECT_NEAR(one.mass, 0.75, 1e-15);
  EXPECT_NEAR(one.error, 1.0 / 3, 1e-14);
  // Half of it row 1 (4), half the mean of the values (2): 3 again.
  EXPECT_NEAR(quality_of(sample, step, {.rows = {1}, .attended = 0.5}, 1).error, 0, 1e-14);
  const Quality other = quality_of(sample, step, {.rows = {0}}, 1);
  EXPECT_EQ(other.recall, 0);
  EXPECT_NEAR(other.mass, 0.25, 1e-15);
  EXPECT_NEAR(other.error, 1, 1e-15);
  EXPECT_NEAR(quality_of(sample, step, {.rows = {0, 1}}, 2).error, 0, 1e-15);
}

// q = (3, 1), so one component is the first. By it row 0 scores 3 and row 1 nothing, though row 1
// has 9 in all; temperature sqrt(2 * 3 / 4).
TEST(SparQ, ScoresByTheLargestComponentsOfTheQuery) {
  const AttentionSample sample{
      .q = matrix({{0, 0}, {3, 1}}), .k = matrix({{1, 0}, {0, 9}}), .v = {}, .decode_from = 1};
  const Choice one = make_sparq(sample, 1)->choose({1, exact_logits(sample, 1), 1});
  EXPECT_EQ(one.rows, Rows{0});
  EXPECT_NEAR(one.attended, 1 / (1 + std::exp(-3 / std::sqrt(1.5))), 1e-15);
  const Choice both = make_sparq(sample, 2)->choose({1, exact_logits(sample, 1), 1});
  EXPECT_EQ(both.rows, Rows{1});
  EXPECT_NEAR(both.attended, 1 / (1 + std::exp(-6 / std::sqrt(2.0))), 1e-15);
}

// Scores 0, -1000, -1001: the weights of the last two are 0, and the higher is chosen all the same.
TEST(SparQ, TellsScoresApartWhoseWeightsVanish) {
  const AttentionSample sample{.q = matrix({{0}, {0}, {0}, {1}}),
                               .k = matrix({{-1001}, {-1000}, {0}, {-2000}}),
                               .v = {},
                               .decode_from = 3};
  EXPECT_EQ(make_sparq(sample, 1)->choose({3, exact_logits(sample, 3), 2}).rows, (Rows{1, 2}));
}

// q = (1, -1). Pages of two: the first reaches 2 - 1 = 1, the second 3 - 0 = 3, and the newest,
// half full, -1.
TEST(Quest, TakesPagesByTheirBoundUpToTheBudget) {
  const AttentionSample sample{.q = matrix({{0, 0}, {0, 0}, {0, 0}, {0, 0}, {1, -1}, {0, 0}}),
                               .k = matrix({{1, 1}, {2, 3}, {0, 0}, {3, 5}, {0, 1}, {9, 0}}),
                               .v = {},
                               .decode_from = 4};
  const SelectorPtr quest = make_quest(sample, 2);
  const RowVector logits = exact_logits(sample, 4);
  EXPECT_EQ(choose(*quest, 4, logits, 2), (Rows{2, 3}));
  EXPECT_EQ(choose(*quest, 4, logits, 3), (Rows{0, 2, 3}));
  EXPECT_EQ(choose(*quest, 4, logits, 4), (Rows{0, 1, 2, 3}));
  EXPECT_EQ(choose(*quest, 4, logits, 5), (Rows{0, 1, 2, 3, 4}));
}

TEST(Selectors, ThatSeeAllOfTheScoreAreTheOracle) {
  const AttentionSample sample = random_sample(2, 100, 16);
  const SelectorPtr oracle = make_oracle();
  const SelectorPtr sparq = make_sparq(sample, 16);
  const SelectorPtr loki = make_loki(sample, key_basis(sample.k), 16);
  const SelectorPtr quest = make_quest(sample, 1);
  for (Index position = 92; position < 100; ++position) {
    const RowVector logits = exact_logits(sample, position);
    const Rows best = choose(*oracle, position, logits, 10);
    EXPECT_EQ(choose(*sparq, position, logits, 10), best);
    EXPECT_EQ(choose(*loki, position, logits, 10), best);
    EXPECT_EQ(choose(*quest, position, logits, 10), best);
  }
}

// Variances 100, 4 and 1 along turned axes, in 105; three standard errors of a variance over 20000
// keys are 3 sqrt(2 / 20000) = 3 % of it, and a share moves by what two of them do.
TEST(KeyBasis, FindsTheDirectionsOfMostVarianceAroundTheMean) {
  Rng rng(3, "key_basis");
  const Matrix turn = random_orthogonal(rng, 3);
  Matrix keys =
      random_normal(rng, 20'000, 3) * Eigen::Vector3d(10, 2, 1).asDiagonal() * turn.transpose();
  keys.rowwise() += row({1000, -1000, 500});  // no direction of its own
  const Vector shares = variance_shares(keys, key_basis(keys));
  EXPECT_NEAR(shares(0), 100.0 / 105, 0.06 * 5 / 105);
  EXPECT_NEAR(shares(1), 4.0 / 105, 0.06 * 4 / 105);
  EXPECT_NEAR(shares(2), 1.0 / 105, 0.06 * 1 / 105);
}

TEST(Streaming, KeepsTheFirstRowsAndTheNewest) {
  const SelectorPtr streaming = make_streaming(2);
  EXPECT_EQ(choose(*streaming, 9, RowVector::Zero(10), 5), (Rows{0, 1, 7, 8, 9}));
  EXPECT_EQ(choose(*streaming, 9, RowVector::Zero(10), 1), Rows{9});
  EXPECT_EQ(choose(*streaming, 9, RowVector::Zero(10), 10), (Rows{0, 1, 2, 3, 4, 5, 6, 7, 8, 9}));
}

// One of three rows is the newest; rows 0 and 2 have the largest sums. Then row 4, with less than
// 1, is evicted; row 1 stays evicted, whatever attention it would get.
TEST(H2O, GivesUpForGoodWhatHadLeastAttention) {
  const SelectorPtr h2o = make_h2o(Eigen::Vector4d(5, 1, 4, 2));
  EXPECT_EQ(choose(*h2o, 4, row({0, 9, 0, 9, 0}), 3), (Rows{0, 2, 4}));
  EXPECT_EQ(choose(*h2o, 5, row({0, 99, 0, 0, 0, 0}), 3), (Rows{0, 2, 5}));
  EXPECT_EQ(choose(*h2o, 6, row({0, 99, 0, 0, 0, 0, 0}), 4), (Rows{0, 2, 5, 6}));
}

// Rows 0 and 1 have 2 and 1. Row 1 gets all the attention of two steps and overtakes.
TEST(H2O, AddsTheAttentionOfEachStep) {
  const SelectorPtr h2o = make_h2o(Eigen::Vector2d(2, 1.5));
  EXPECT_EQ(choose(*h2o, 2, row({0, 50, 0}), 3), (Rows{0, 1, 2}));
  EXPECT_EQ(choose(*h2o, 3, row({0, 50, 0, 0}), 2), (Rows{1, 3}));
}

TEST(Random, DrawsAsManyDifferentRows) {
  const SelectorPtr random = make_random(Rng(4, "rows"));
  const Rows first = choose(*random, 99, RowVector::Zero(100), 10);
  const Rows second = choose(*random, 99, RowVector::Zero(100), 10);
  EXPECT_EQ(first.size(), 10U);
  EXPECT_EQ(std::ranges::adjacent_find(first), first.end());
  EXPECT_NE(first, second);
}

// head_dim 64: a quarter of it in bytes, each in its own way.
TEST(SelectionMethods, StateWhatScreeningReads) {
  EXPECT_EQ(maple_method(16, 0).screening_bytes(0.5), 16);
  EXPECT_EQ(sparq_method(8).screening_bytes(0.5), 16);
  EXPECT_EQ(loki_method(8).screening_bytes(0.5), 16);
  EXPECT_EQ(quest_method(64, 16).screening_bytes(0.5), 16);
  EXPECT_EQ(oracle_method(64).screening_bytes(0.5), 128);
  EXPECT_EQ(h2o_method().screening_bytes(0.5), 4);  // 4 read, 4 written, of every second row
  EXPECT_EQ(streaming_method().screening_bytes(0.5), 0);
}

}  // namespace
}  // namespace tiersim::numerics::numerics_selection_test
