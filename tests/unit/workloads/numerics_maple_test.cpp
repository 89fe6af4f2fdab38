#include <algorithm>
#include <cmath>

#include <gtest/gtest.h>
#include <Eigen/LU>

#include "workloads/numerics/maple_int8.hpp"
#include "workloads/numerics/maple_study.hpp"
#include "workloads/numerics/synthetic_layer.hpp"

namespace tiersim::numerics::numerics_maple_test {
namespace {

double frobenius(const Matrix& a) {
  return a.squaredNorm();
}

// A head over tokens whose scores are of low rank, but for noise.
struct Head {
  explicit Head(std::uint64_t seed, Index tokens = 200, Index projected = 12, Index dim = 8) {
    Rng rng(seed, "maple_test");
    s = random_normal(rng, tokens, projected);
    q = s * random_normal(rng, projected, dim) + random_normal(rng, tokens, dim) * 0.5;
    k = s * random_normal(rng, projected, dim) + random_normal(rng, tokens, dim) * 0.5;
  }
  double loss(const LowRankHead& head) const {
    return frobenius(q * k.transpose() - s * head.w_q * (s * head.w_k).transpose());
  }
  Matrix s, q, k;
};

// Alternating least squares, by the normal equations of equation 2 for one matrix at a time. An
// independent way to the same minimum.
LowRankHead alternating(const Head& head, Index rank, int rounds) {
  Rng rng(7, "start");
  LowRankHead out{.w_q = random_normal(rng, head.s.cols(), rank),
                  .w_k = random_normal(rng, head.s.cols(), rank)};
  const Matrix gram = (head.s.transpose() * head.s).inverse();
  const auto best = [&](const Matrix& a, const Matrix& b, const Matrix& w) -> Matrix {
    const Matrix low = head.s * w;  // min over V of ||A B^T - S V low^T||
    return gram * (head.s.transpose() * a) * (b.transpose() * low) *
           (low.transpose() * low).inverse();
  };
  for (int round = 0; round < rounds; ++round) {
    out.w_q = best(head.q, head.k, out.w_k);
    out.w_k = best(head.k, head.q, out.w_q);
  }
  return out;
}

// 3000 * 8 draws: the share that is not 0 has a standard deviation of sqrt(2 / 9 / 24000) = 0.003.
TEST(SparseProjection, IsThatOfAchlioptas) {
  Rng rng(1, "projection");
  const Matrix p = sparse_projection(rng, 3000, 8);
  const double size = std::sqrt(3.0 / 8);
  EXPECT_TRUE((p.array() == 0 || p.array().abs() == size).all());
  const double draws = static_cast<double>(p.size());
  EXPECT_NEAR(static_cast<double>((p.array() > 0).count()) / draws, 1.0 / 6, 4 * 0.0025);
  EXPECT_NEAR(static_cast<double>((p.array() < 0).count()) / draws, 1.0 / 6, 4 * 0.0025);
  // Lengths are kept on average: every row's squares sum to 1 but for the same noise, times 3.
  EXPECT_NEAR(p.squaredNorm() / 3000, 1, 3 * 4 * 0.0031);
}

TEST(SparseProjection, NestsItsColumns) {
  Rng a(2, "projection");
  Rng b(2, "projection");
  const Matrix few = sparse_projection(a, 50, 3);
  const Matrix many = sparse_projection(b, 50, 12);
  EXPECT_TRUE(few.isApprox(2 * many.leftCols(3), 1e-15));
}

TEST(ScoreLoss, IsTheNormOfTheDifference) {
  const Head head(3);
  Rng rng(3, "low");
  const Matrix low_q = random_normal(rng, 200, 4);
  const Matrix low_k = random_normal(rng, 200, 4);
  const double power = score_power(head.q, head.k);
  EXPECT_NEAR(power / frobenius(head.q * head.k.transpose()), 1, 1e-13);
  EXPECT_NEAR(score_loss(head.q, head.k, power, low_q, low_k) /
                  frobenius(head.q * head.k.transpose() - low_q * low_k.transpose()),
              1, 1e-12);
}

// Q K^T = diag(3, 2, 1, 0) and S the identity: rank 2 leaves 1^2, rank 3 nothing.
TEST(Distiller, CutsTheSmallestSingularValues) {
  const Matrix one = Matrix::Identity(4, 4);
  const Matrix q = Eigen::Vector4d(3, 2, 1, 0).asDiagonal();
  const Distiller distiller(one);
  const LowRankHead two = distiller.distil(q, one, 2);
  EXPECT_TRUE((two.w_q * two.w_k.transpose())
                  .isApprox(Matrix(Eigen::Vector4d(3, 2, 0, 0).asDiagonal()), 1e-14));
  EXPECT_NEAR(score_loss(q, one, 14, two.w_q, two.w_k), 1, 1e-13);
  const LowRankHead three = distiller.distil(q, one, 3);
  EXPECT_NEAR(score_loss(q, one, 14, three.w_q, three.w_k), 0, 1e-13);
}

TEST(Distiller, ReachesWhatAlternatingLeastSquaresConvergesTo) {
  for (const std::uint64_t seed : {11U, 12U, 13U}) {
    const Head head(seed);
    const Distiller distiller(head.s);
    for (const Index rank : {1, 3, 6}) {
      const double closed = head.loss(distiller.distil(head.q, head.k, rank));
      EXPECT_GT(head.loss(alternating(head, rank, 1)), closed) << seed;
      // 500 rounds of a power iteration whose ratio of singular values is below 0.98: 1e-8 or less.
      EXPECT_NEAR(head.loss(alternating(head, rank, 500)) / closed, 1, 1e-8) << seed << ' ' << rank;
    }
  }
}

// The gradient that training follows, -2 S^T E S W_k with E = Q K^T - S W_q W_k^T S^T, is 0 there.
TEST(Distiller, StandsWhereTheGradientIsZero) {
  const Head head(14);
  const LowRankHead best = Distiller(head.s).distil(head.q, head.k, 4);
  const Matrix scores = head.q * head.k.transpose();
  const auto gradient = [&](const LowRankHead& at) -> Matrix {
    const Matrix left = scores - head.s * at.w_q * (head.s * at.w_k).transpose();
    return -2 * head.s.transpose() * left * head.s * at.w_k;
  };
  LowRankHead beside = best;
  beside.w_q *= 1.01;
  EXPECT_LT(gradient(best).norm(), 1e-10 * gradient(beside).norm());
  EXPECT_GT(head.loss(beside), head.loss(best));
}

TEST(Distiller, ForgivesColumnsThatDependOnOthers) {
  const Head head(15);
  Matrix twice(head.s.rows(), 2 * head.s.cols());
  twice << head.s, 3 * head.s;
  const LowRankHead wide = Distiller(twice).distil(head.q, head.k, 5);
  const double loss =
      frobenius(head.q * head.k.transpose() - twice * wide.w_q * (twice * wide.w_k).transpose());
  EXPECT_NEAR(loss / head.loss(Distiller(head.s).distil(head.q, head.k, 5)), 1, 1e-10);
}

TEST(Quantised, RoundsToNearestAndCutsOffLaterRows) {
  Matrix a(3, 3);
  a << 127, 12.7, 0,  //
      -63.6, 1.2, 0,  //
      254, -0.26, 1;
  const Int8Matrix out = quantised(a, 2);
  EXPECT_TRUE(out.scale.isApprox(Eigen::RowVector3d(1, 0.1, 0)));
  Eigen::MatrixXi expected(3, 3);
  expected << 127, 127, 0,  //
      -64, 12, 0,           //
      127, -3, 0;
  EXPECT_EQ(out.numbers, expected);
}

TEST(Int8Screen, StaysWithinItsErrorBoundButNotWithinATwentieth) {
  const Head head(16);
  const Int8Screen screen(head.s, Distiller(head.s).distil(head.q, head.k, 6), 150);
  double worst = 0;
  for (Index position = 150; position < 200; ++position) {
    const RowVector exact = screen.exact_scores(position);
    const RowVector whole = screen.integer_scores(position);
    EXPECT_EQ(whole, whole.array().round().matrix());
    EXPECT_LE(whole.cwiseAbs().maxCoeff(), 6 * kInt8Max * kInt8Max);
    const RowVector error = (whole * screen.unit(position) - exact).cwiseAbs();
    const RowVector bound = screen.error_bound(position);
    EXPECT_TRUE((error.array() <= bound.array()).all()) << position;
    worst = std::max(worst, error.cwiseQuotient(bound).maxCoeff());
  }
  EXPECT_GT(worst, 0.05);
}

// Bounds of 0.4: rows outside reach 3.4, and 4 - 0.4 stays above. Bounds of 0.6: 3.6 and 3.4.
TEST(RowsAtRisk, CountsWhatARowOutsideCanReach) {
  const RowVector exact = Eigen::RowVector4d(5, 4, 3, 1);
  EXPECT_EQ(rows_at_risk(exact, RowVector::Constant(4, 0.4), 2), 0);
  EXPECT_EQ(rows_at_risk(exact, RowVector::Constant(4, 0.6), 2), 1);
  EXPECT_EQ(rows_at_risk(exact, RowVector::Constant(4, 1.1), 2), 2);
  EXPECT_EQ(rows_at_risk(exact, RowVector::Constant(4, 9), 4), 0);  // none is outside
}

constexpr SyntheticSpec kSmall{.heads = 2, .head_dim = 32, .tokens = 256, .decode_steps = 24};

double mass_of_first(const SyntheticSpec& spec) {
  Rng weights(5, "layer");
  Rng text(5, "text");
  const SyntheticLayer layer(spec, weights);
  const AttentionSample head = layer.sample(layer.hidden_states(text, spec.tokens), 0);
  double mass = 0;
  for (Index at = head.decode_from; at < head.tokens(); ++at)
    mass += softmax(exact_logits(head, at)).head(spec.sinks).sum();
  return mass / static_cast<double>(spec.decode_steps);
}

TEST(SyntheticLayer, HasSinksAsStrongAsTheyAreSaidToBe) {
  SyntheticSpec spec = kSmall;
  spec.sink_logit = 0;
  EXPECT_LT(mass_of_first(spec), 0.2);
  spec.sink_logit = 50;  // the least factor of a head leaves 33, far above all else
  EXPECT_GT(mass_of_first(spec), 0.99);
}

TEST(SyntheticLayer, IsLinearInItsHiddenStates) {
  Rng weights(6, "layer");
  Rng text(6, "text");
  const SyntheticLayer layer(kSmall, weights);
  const Matrix a = layer.hidden_states(text, 64);
  const Matrix b = layer.hidden_states(text, 64);
  const AttentionSample sum = layer.sample(a + 2 * b, 1);
  EXPECT_TRUE(sum.k.isApprox(layer.sample(a, 1).k + 2 * layer.sample(b, 1).k, 1e-12));
  EXPECT_TRUE(sum.q.isApprox(layer.sample(a, 1).q + 2 * layer.sample(b, 1).q, 1e-12));
}

TEST(MapleStudy, HoldsWhatItStatesAndIsTheSameAgain) {
  const Study study = maple_study(1, kSmall);
  EXPECT_GE(study.statements.size(), 11U);
  for (const Statement& statement : study.statements)
    EXPECT_TRUE(statement.holds) << statement.id << ": " << statement.found;
  const Study again = maple_study(1, kSmall);
  ASSERT_EQ(again.tables.size(), study.tables.size());
  for (std::size_t i = 0; i < study.tables.size(); ++i)
    EXPECT_EQ(again.tables[i].rows, study.tables[i].rows) << study.tables[i].id;
  const Study other = maple_study(2, kSmall);
  EXPECT_NE(other.curves.at(0).lines.at(1).y, study.curves.at(0).lines.at(1).y);
}

}  // namespace
}  // namespace tiersim::numerics::numerics_maple_test
