// Latent attention, its transforms, slices and groups, against hand-worked cases, the kernels'
// references and the bounds of workloads/numerics/rounding.hpp.
#include <gtest/gtest.h>

#include <cmath>
#include <span>
#include <vector>

#include "kernels/reference/attention.hpp"
#include "kernels/reference/rms_norm.hpp"
#include "workloads/numerics/grouped_attention.hpp"
#include "workloads/numerics/latent_stack.hpp"
#include "workloads/numerics/latent_transforms.hpp"
#include "workloads/numerics/rounding.hpp"
#include "workloads/numerics/tpla_errors.hpp"
#include "workloads/numerics/tpla_exact.hpp"
#include "workloads/numerics/tpla_prefill.hpp"

namespace tiersim::numerics::numerics_tpla_test {
namespace {

namespace reference = kernels::reference;

TplaAssumptions small() {
  TplaAssumptions a = decaying();
  a.sizes = {.hidden = 32, .rank = 16, .rope = 4, .heads = 8, .head = 8};
  a.calibration_tokens = 64;
  a.tokens = 24;
  return a;
}

// One head whose matrices are all the identity, so that attention is over the states themselves.
LatentWeights identity_weights(Index width) {
  const Matrix one = Matrix::Identity(width, width);
  LatentWeights w{.down = one,
                  .gain = RowVector::Ones(width),
                  .rope_key = Matrix::Zero(width, 2),
                  .heads = {},
                  .epsilon = 1e-6};
  w.heads.push_back({.query = one,
                     .rope_query = Matrix::Zero(width, 2),
                     .up_key = one,
                     .up_value = one,
                     .out = one});
  return w;
}

TEST(Hadamard, OfFourIsSylvesters) {
  Matrix want(4, 4);
  want << 1, 1, 1, 1, 1, -1, 1, -1, 1, 1, -1, -1, 1, -1, -1, 1;
  EXPECT_EQ(hadamard(4), want / 2);
  EXPECT_EQ(orthogonality_error(hadamard(4)), 0);
}

TEST(Hadamard, NeedsAPowerOfTwo) {
  EXPECT_DEATH(hadamard(12), "size = 12");
}

TEST(PrincipalComponents, PutTheLargestVarianceFirst) {
  Matrix rows(2, 2);
  rows << 1, 3, 1, -3;  // second moment diag(1, 9)
  const Matrix moment = second_moment(rows);
  const Matrix u = principal_components(moment);
  EXPECT_DOUBLE_EQ(std::abs(u(1, 0)), 1);
  const Vector shares = energy_shares(turned_energy(moment, u), 2);
  EXPECT_DOUBLE_EQ(shares(0), 0.9);
  EXPECT_DOUBLE_EQ(shares(1), 0.1);
}

TEST(Rope, TurnsThePairsByTheirPosition) {
  Matrix rows(2, 4);
  rows << 1, 0, 1, 0, 1, 0, 1, 0;
  const Matrix out = rotated(rows, 1);
  EXPECT_DOUBLE_EQ(out(0, 0), std::cos(1.0));
  EXPECT_DOUBLE_EQ(out(1, 1), std::sin(2.0));
  // The second pair turns 10000^(2 / 4) = 100 times slower; portable_pow is good to 1e-13.
  EXPECT_NEAR(out(1, 3), std::sin(0.02), 1e-14);
}

TEST(CausalSoftmax, SeesNothingLater) {
  const Matrix out = causal_softmax(Matrix::Zero(2, 3), 1);
  EXPECT_EQ(out(0, 2), 0);
  EXPECT_DOUBLE_EQ(out(0, 1), 0.5);
  EXPECT_DOUBLE_EQ(out(1, 2), 1.0 / 3);
}

TEST(SlicedRows, AreTheKernelsReference) {
  LatentWeights w = identity_weights(4);
  const Matrix state = (Matrix(1, 4) << 3, 4, 0, 2).finished();
  const Slicing slicing{.norm_shares = (Vector(2) << 0.75, 0.25).finished(),
                        .score_shares = equal_shares(2)};
  const LatentRows rows = sliced_rows(w, slicing, state, 0);
  // The mean of the whole is 1 / (2 alpha) of the slice's.
  const std::vector<double> left = reference::rms_norm({3, 4}, {1, 1}, 1 / 1.5, 1e-6);
  const std::vector<double> right = reference::rms_norm({0, 2}, {1, 1}, 1 / 0.5, 1e-6);
  for (Index i = 0; i < 2; ++i) {
    EXPECT_DOUBLE_EQ(rows.latent(0, i), left[static_cast<std::size_t>(i)]);
    EXPECT_DOUBLE_EQ(rows.latent(0, 2 + i), right[static_cast<std::size_t>(i)]);
  }
}

TEST(AbsorbedAttention, IsTheKernelsReference) {
  constexpr Index kWidth = 4;
  constexpr Index kTokens = 5;
  Rng rng(1, "reference");
  const Eigen::Matrix<float, Eigen::Dynamic, Eigen::Dynamic, Eigen::RowMajor> cached =
      random_normal(rng, kTokens, kWidth).cast<float>();
  const Eigen::RowVectorXf query = random_normal(rng, 1, kWidth).cast<float>();
  const LatentWeights w = identity_weights(kWidth);
  const LatentRows rows{.latent = cached.cast<double>(), .rope_key = Matrix::Zero(kTokens, 2)};
  const Matrix out = absorbed_attention(w, query.cast<double>(), rows, kTokens - 1);
  const reference::Rows memory{.data = cached.data(), .stride = kWidth};
  const std::vector<double> want =
      reference::attention(query.data(), memory, memory, kTokens, kWidth, kWidth, w.scale());
  // Ten-odd roundings of numbers of order 1, and two implementations of exp.
  for (Index i = 0; i < kWidth; ++i) {
    EXPECT_NEAR(out(0, i), want[static_cast<std::size_t>(i)], 1e-14);
  }
}

TEST(LatentWeights, AreAsSharpAsAsked) {
  Rng rng(1, "sharpness");
  const TplaSample s = random_sample(rng, small());
  const Matrix states = s.calibration.topRows(24);
  const LatentRows rows = latent_rows(s.mla, states, 0);
  const LatentHead& head = s.mla.heads.front();
  const Matrix scores =
      s.mla.scale() * (states * head.query) * (rows.latent * head.up_key).transpose();
  const double deviation = std::sqrt((scores.array() - scores.mean()).square().mean());
  EXPECT_NEAR(deviation, 2.0, 1e-12);
}

TEST(Transform, OfOtherGainsIsRefused) {
  Rng rng(1, "gain");
  const TplaSample s = random_sample(rng, small());
  EXPECT_DEATH(transformed(s.mla, hadamard(16)), "gain");
}

TEST(Transform, DoesNotCommuteWithAGain) {
  Rng rng(1, "gain");
  const TplaSample s = random_sample(rng, small());
  const Matrix h = hadamard(16);
  const Matrix plain = latent_rows(s.mla, s.states, 0).latent * h;
  const Matrix turned = rms_norm_rows(s.states * s.mla.down * h, s.mla.gain, s.mla.epsilon);
  EXPECT_GT(relative_error(plain, turned), 0.1);  // the gain's deviation is 0.25
}

TEST(Slicing, OfOneShardIsTheWhole) {
  Rng rng(1, "one shard");
  const NamedSample named = named_sample(rng, "", small());
  for (const TurnedSample& t : named.turned) {
    const Slicing slicing = slicing_of(t, Constants::both, 1);
    const Matrix& states = named.sample.states;
    const LatentRows rows = sliced_rows(t.weights, slicing, states, 0);
    const Matrix exact =
        absorbed_attention(t.weights, states, latent_rows(t.weights, states, 0), 0);
    EXPECT_LE(largest_row(sliced_attention(t.weights, slicing, states, rows, 0) - exact),
              attention_bound(named.sample.bare, t.turn, states));
  }
}

TEST(Slicing, KeepsThePositionsWhole) {
  // Keys without position are equal, so each shard's softmax is the whole one's, and nothing is
  // lost.
  Rng rng(2, "positions");
  const TplaSample s = random_sample(rng, small());
  LatentWeights w = s.bare;
  for (LatentHead& head : w.heads) head.query.setZero();
  const Slicing slicing{.norm_shares = equal_shares(4), .score_shares = equal_shares(4)};
  const LatentRows rows = latent_rows(w, s.states, 0);
  const Matrix exact = absorbed_attention(w, s.states, rows, 0);
  EXPECT_LE(largest_row(sliced_attention(w, slicing, s.states, rows, 0) - exact),
            attention_bound(w, Matrix::Identity(16, 16), s.states));
}

TEST(Equalities, OfThePaperHoldOnEverySeed) {
  for (std::uint64_t seed = 1; seed <= 5; ++seed) {
    Rng rng(seed, "equalities");
    const std::vector<NamedSample> samples = {named_sample(rng, "small", small())};
    std::vector<Statement> statements = equality_statements(samples);
    statements.push_back(grouped_statement(samples.front()));
    for (const Statement& s : hadamard_examples()) statements.push_back(s);
    for (const Statement& s : statements) {
      EXPECT_TRUE(s.exact) << s.id;
      EXPECT_TRUE(s.holds) << "seed " << seed << ", " << s.id << ": " << s.found;
    }
  }
}

TEST(RoundingBound, SeesAPerturbationThatIsNotRounding) {
  Rng rng(1, "perturbed");
  const TplaSample s = random_sample(rng, small());
  const Matrix one = Matrix::Identity(16, 16);
  LatentWeights other = s.bare;
  other.heads.back().up_key(3, 2) *= 1 + 1e-3;
  const Matrix exact = absorbed_attention(s.bare, s.states, latent_rows(s.bare, s.states, 0), 0);
  const Matrix moved = absorbed_attention(other, s.states, latent_rows(other, s.states, 0), 0);
  EXPECT_GT(largest_row(exact - moved), attention_bound(s.bare, one, s.states));
}

TEST(GroupedAttention, OfHeadsThatSeeOneSliceIsAnotherFunction) {
  Rng rng(1, "grouped");
  const TplaSample s = random_sample(rng, small());
  const LatentRows rows = latent_rows(s.bare, s.states, 0);
  const GroupedWeights split = split_heads(s.bare, 2);
  EXPECT_EQ(split.heads.size(), 8U);
  EXPECT_EQ(split.heads.back().weights.up_key.rows(), 8);
  const Matrix exact = absorbed_attention(s.bare, s.states, rows, 0);
  EXPECT_GT(relative_error(exact, grouped_attention(split, s.states, rows, 0)), 0.5);
}

TEST(LatentStack, DecodesTokenByTokenWhatItPrefillsAtOnce) {
  Rng rng(1, "stack");
  const TplaSample s = random_sample(rng, small());
  const std::vector<LatentLayer> layers(2, {.weights = s.bare, .slicing = {}});
  std::vector<LatentRows> at_once;
  const Matrix whole = run_stack(layers, s.states, Mode::exact, at_once);
  std::vector<LatentRows> cache;
  Matrix one_by_one(s.states.rows(), s.states.cols());
  for (Index i = 0; i < s.states.rows(); ++i) {
    one_by_one.row(i) = run_stack(layers, s.states.row(i), Mode::exact, cache);
  }
  // The same sums in another order; two layers multiply what a layer errs by less than 1e4.
  EXPECT_LT(relative_error(whole, one_by_one), 1e-12);
  EXPECT_EQ(cache.back().tokens(), s.states.rows());
}

TEST(SliceErrors, OrderAsTheoryHasThem) {
  const SliceErrorFamily family = slice_errors("decaying", "latent 16", small(), 1, 3);
  for (const Transform t : all_transforms()) {
    // No constants and those of the norm are the same where alpha is 1 / shards.
    EXPECT_EQ(&family.find(Transform::hadamard, Constants::none, 2),
              &family.find(Transform::hadamard, Constants::norm, 2));
    for (const SliceErrors& e : family.find(t, Constants::norm, 2).seeds) {
      EXPECT_GT(e.norm, 0);
      EXPECT_GT(e.both, 0);
    }
  }
  // Sums of eigenvalues are far from 1 / 2 here, so PCA without its alpha mistakes every length.
  const auto norm = [&](Constants c) { return family.find(Transform::pca, c, 2).seeds[0].norm; };
  EXPECT_GT(norm(Constants::none), 2 * norm(Constants::norm));
  const Table table = error_table(family);
  for (const std::vector<Cell>& row : table.rows) EXPECT_EQ(row.size(), table.columns.size());
}

TEST(SliceErrors, OfTwoSlicesAloneAreThoseOfTheWholeFamily) {
  const SliceErrorFamily whole = slice_errors("decaying", "latent 16", small(), 1, 2);
  const auto two = std::span(kShardCounts).first<1>();
  const SliceErrorFamily part = slice_errors("decaying", "latent 16", small(), 1, 2, two);
  for (const SliceErrorCase& c : part.cases) {
    EXPECT_EQ(c.shards, 2);
    const SliceErrorCase& same = whole.find(c.transform, c.constants, 2);
    for (std::size_t seed = 0; seed < 2; ++seed) {
      EXPECT_EQ(c.seeds[seed].both, same.seeds[seed].both);
      EXPECT_EQ(c.seeds[seed].softmax, same.seeds[seed].softmax);
    }
  }
  EXPECT_EQ(part.grouped[0], whole.grouped[0]);
  EXPECT_TRUE(part.grouped[1].empty());
}

// TPLA, section 5.3.2, as far as these latents show it; margins are factors of two and more.
TEST(SliceErrors, OrderAsThePaperHasThem) {
  const SliceErrorFamily family = slice_errors("decaying", "latent 64", decaying(), 1, 3);
  const auto at = [&](Transform t, std::size_t seed) {
    return family.find(t, Constants::norm, 2).seeds[seed];
  };
  for (std::size_t seed = 0; seed < 3; ++seed) {
    const SliceErrors pca = at(Transform::pca, seed);
    for (const Transform t : {Transform::identity, Transform::hadamard}) {
      EXPECT_LT(at(t, seed).norm, at(t, seed).softmax) << "seed " << seed;
      EXPECT_LT(pca.softmax, at(t, seed).softmax) << "seed " << seed;
      EXPECT_LT(pca.both, at(t, seed).both) << "seed " << seed;
    }
    EXPECT_LT(pca.norm, pca.softmax) << "seed " << seed;
    EXPECT_LT(pca.both, family.grouped[0][seed]) << "seed " << seed;
  }
}

TEST(SliceErrors, StatementsSayWhatTheTableHas) {
  const SliceErrorFamily family = slice_errors("decaying", "latent 16", small(), 1, 2);
  const std::vector<Statement> statements = error_statements(family, {});
  ASSERT_EQ(statements.front().id, "tpla.norm_below_softmax");
  bool below = true;
  for (const Transform t : all_transforms()) {
    for (const SliceErrors& e : family.find(t, Constants::norm, 2).seeds) {
      below = below && e.norm < e.softmax;
    }
  }
  EXPECT_EQ(statements.front().holds, below);
  for (const Statement& s : statements) EXPECT_FALSE(s.exact) << s.id;
}

TEST(PrefillDecode, LeavesOnlyTheDecodedTokensSliced) {
  Study study;
  add_prefill_study(1, 1, study);
  ASSERT_EQ(study.statements.size(), 2U);
  EXPECT_TRUE(study.statements.front().exact);
  EXPECT_TRUE(study.statements.front().holds) << study.statements.front().found;
  EXPECT_TRUE(study.statements.back().holds) << study.statements.back().found;
}

}  // namespace
}  // namespace tiersim::numerics::numerics_tpla_test
