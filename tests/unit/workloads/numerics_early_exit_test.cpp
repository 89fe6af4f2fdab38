// The decoder that exits early, its measures and Algorithm 1, against hand-worked cases and the
// kernels' references.
#include <gtest/gtest.h>

#include <algorithm>
#include <bit>
#include <cmath>
#include <cstdint>
#include <vector>

#include "kernels/reference/decoder_layer.hpp"
#include "kernels/reference/early_exit.hpp"
#include "workloads/numerics/early_exit_depth.hpp"
#include "workloads/numerics/early_exit_fill.hpp"
#include "workloads/numerics/early_exit_study.hpp"

namespace tiersim::numerics::numerics_early_exit_test {
namespace {

using Bits = std::vector<std::uint16_t>;

RowVector row(std::initializer_list<double> values) {
  RowVector out(static_cast<Index>(values.size()));
  Index i = 0;
  for (const double v : values) out(i++) = v;
  return out;
}

// The upper half of a float: values are cut to it, so that both sides compute on the same numbers.
std::uint16_t bf16_bits(double value) {
  return static_cast<std::uint16_t>(std::bit_cast<std::uint32_t>(static_cast<float>(value)) >> 16U);
}
void cut(Matrix& m) {
  m = m.unaryExpr([](double v) { return kernels::bf16_value(bf16_bits(v)); });
}
// Rows of a matrix one after the other.
Bits bits(const Matrix& m) {
  Bits out;
  for (Index r = 0; r < m.rows(); ++r) {
    for (Index c = 0; c < m.cols(); ++c) out.push_back(bf16_bits(m(r, c)));
  }
  return out;
}
Bits transposed_bits(const Matrix& m) {
  return bits(m.transpose());
}

EarlyExitSample small_sample(std::uint64_t seed) {
  return random_early_exit_sample(
      seed, {.depth = 32, .heads = 2, .head = 16, .wide = 64, .vocabulary = 64}, 24, 24);
}

TEST(SoftmaxResponse, IsTheGapOfTheTwoLikeliest) {
  const double gap = softmax_response(row({std::log(3.0), std::log(6.0), std::log(1.0)}));
  EXPECT_NEAR(gap, 0.3, 1e-15);  // probabilities 0.3, 0.6, 0.1
  EXPECT_EQ(softmax_response(row({2, 2, 1})), 0);
}

TEST(SoftmaxResponse, StandsLargeLogits) {
  EXPECT_EQ(softmax_response(row({5000, 0, -5000})), 1);
  // A shift by 1024 costs a unit in the last place of it, 2.3e-13.
  EXPECT_NEAR(softmax_response(row({1024 + std::log(3.0), 1024, 1024})), 0.4, 1e-12);
}

TEST(StateSimilarity, IsTheCosine) {
  EXPECT_DOUBLE_EQ(state_similarity(row({3, 4}), row({4, 3})), 0.96);
  EXPECT_LE(state_similarity(row({0.1, 0.7}), row({0.2, 1.4})), 1);
}

TEST(Sigmoid, DoesNotOverflow) {
  EXPECT_EQ(sigmoid(0), 0.5);
  EXPECT_NEAR(sigmoid(std::log(3.0)), 0.75, 1e-15);
  EXPECT_EQ(sigmoid(1e4), 1);
  EXPECT_EQ(sigmoid(-1e4), 0);
}

TEST(Classifier, IsAStationaryPointOfItsLoss) {
  Rng rng(1, "fit");
  const Matrix x = random_normal(rng, 40, 3);
  Vector labels(40);
  for (Index i = 0; i < 40; ++i) labels(i) = x(i, 0) + 0.5 * x(i, 1) > 0.2 ? 1 : 0;
  const Classifier fitted = fit_classifier(x, labels, 1.0);
  Vector p(40);
  for (Index i = 0; i < 40; ++i) p(i) = fitted(x.row(i));
  const Vector gradient = x.transpose() * (p - labels) + fitted.weights.transpose();
  EXPECT_LT(gradient.norm(), 1e-12);
  EXPECT_NEAR((p - labels).sum() + fitted.bias, 0, 1e-12);
  EXPECT_GT(fitted.weights(0), fitted.weights(1));
}

TEST(Measures, AreTheKernelsReference) {
  Rng rng(1, "measures");
  Matrix embedding = random_normal(rng, 16, 8);
  Matrix states = random_normal(rng, 3, 8);
  cut(embedding);
  cut(states);
  const Bits table = bits(embedding);
  const Bits rows = bits(states);
  const kernels::HeadReference head = kernels::head_reference(table.data(), 16, 8, rows.data());
  EXPECT_NEAR(softmax_response(states.row(0) * embedding.transpose()), head.difference, 1e-14);

  const Bits zero(8, 0);
  const kernels::ResidualReference cosine =
      kernels::residual_reference(rows.data(), zero.data(), rows.data() + 8, 8, 1e-6, 0);
  EXPECT_NEAR(state_similarity(states.row(1), states.row(0)), cosine.cosine, 1e-15);
  const kernels::ResidualReference classifier =
      kernels::residual_reference(rows.data(), zero.data(), rows.data() + 16, 8, 1e-6, 0.5);
  const Classifier linear{.weights = states.row(2), .bias = 0.5};
  EXPECT_NEAR(linear(states.row(0)), classifier.classifier, 1e-15);
}

TEST(Decoder, LayerIsTheKernelsReference) {
  Rng rng(1, "layer");
  const DecoderSizes sizes{.depth = 64,
                           .heads = 1,
                           .head = 64,
                           .wide = 32,
                           .vocabulary = 8,
                           .layers = 1,
                           .encoder_tokens = 3};
  Decoder decoder = random_decoder(rng, sizes);
  DecoderLayer& w = decoder.layers.front();
  for (Matrix* m : {&w.query, &w.key, &w.value, &w.out, &w.cross_query, &w.cross_out, &w.gate,
                    &w.linear, &w.wide_out}) {
    cut(*m);
  }
  Sequence sequence = new_sequence(decoder, random_normal(rng, 3, 64));
  KvRows& cross = sequence.cross.front();
  cut(cross.keys);
  cut(cross.values);
  KvRows& self = sequence.self.front();
  self = {.keys = random_normal(rng, 2, 64), .values = random_normal(rng, 2, 64)};
  cut(self.keys);
  cut(self.values);
  Matrix state = random_normal(rng, 1, 64);
  cut(state);

  Matrix qkv(64, 192);
  qkv << w.query, w.key, w.value;
  const Bits in = transposed_bits(qkv);
  const Bits self_out = transposed_bits(w.out);
  const Bits cross_query = transposed_bits(w.cross_query);
  const Bits cross_out = transposed_bits(w.cross_out);
  const Bits gate = transposed_bits(w.gate);
  const Bits linear = transposed_bits(w.linear);
  const Bits wide_out = transposed_bits(w.wide_out);
  const Bits self_keys = bits(self.keys);
  const Bits self_values = bits(self.values);
  const Bits cross_keys = bits(cross.keys);
  const Bits cross_values = bits(cross.values);
  const std::vector<float> bias(3, 0.0F);
  const kernels::LayerResult want = kernels::layer_reference(
      {.qkv = in.data(),
       .self_out = self_out.data(),
       .cross_query = cross_query.data(),
       .cross_out = cross_out.data(),
       .gate = gate.data(),
       .linear = linear.data(),
       .wide_out = wide_out.data()},
      {.depth = 64, .wide = 32, .heads = 1, .epsilon = 1e-6}, bits(state).data(),
      {.keys = self_keys.data(), .values = self_values.data(), .capacity = 2, .length = 2},
      bias.data(),
      {.keys = cross_keys.data(), .values = cross_values.data(), .capacity = 3, .length = 3});
  const RowVector got = run_layer(decoder, 0, state.row(0), sequence);
  // Four products of 64 numbers of order 1 one after the other, each 64 u sqrt(64) = 6e-14 at
  // worst.
  for (Index i = 0; i < 64; ++i) {
    EXPECT_NEAR(got(i), want.state[static_cast<std::size_t>(i)], 5e-13);
    EXPECT_NEAR(self.keys(2, i), want.key[static_cast<std::size_t>(i)], 5e-13);
    EXPECT_NEAR(self.values(2, i), want.value[static_cast<std::size_t>(i)], 5e-13);
  }
}

TEST(FirstAccepted, IsTheFirstAboveTheThreshold) {
  EXPECT_EQ(first_accepted({0.2, 0.6, 0.4, 0.9}, 0.5), 2);
  EXPECT_EQ(first_accepted({0.2, 0.5}, 0.5), 0);  // above, not at
}

TEST(DepthDistribution, OfABatchIsThePower) {
  const DepthDistribution p = depth_distribution({1, 2, 0, 2}, 3);
  EXPECT_EQ(p, (DepthDistribution{0, 0.25, 0.75, 1}));  // never accepted: all three
  EXPECT_DOUBLE_EQ(expected_depth(p, 1), 2.0);          // (1 + 2 + 3 + 2) / 4
  EXPECT_DOUBLE_EQ(expected_depth(p, 2), 1 + 15.0 / 16 + 7.0 / 16);
}

TEST(BatchStep, LeavesWithItsLastSequenceAndForgetsNoAcceptance) {
  const EarlyExitSample sample = small_sample(1);
  const Index n = sample.layers();
  int fell_back = 0;
  for (std::size_t first = 0; first + 2 <= sample.tokens.size(); first += 2) {
    std::vector<RowVector> states;
    std::vector<Sequence> batch;
    Index deepest = 0;
    std::vector<Index> alone;
    const ExitRule rule = sample.rule(Measure::softmax, 0.4);
    for (std::size_t i = first; i < first + 2; ++i) {
      states.push_back(sample.tokens[i].states.front());
      batch.push_back(sample.tokens[i].before);
      const std::vector<double> c = confidences(sample.decoder, rule, sample.tokens[i].states);
      alone.push_back(first_accepted(c, 0.4));
      deepest = std::max(deepest, alone.back() == 0 ? n : alone.back());
      if (alone.back() > 0 && c.back() <= 0.4) ++fell_back;
    }
    const BatchStep step = step_batch(sample.decoder, rule, states, batch);
    EXPECT_EQ(step.output_layer, deepest);
    EXPECT_EQ(step.accepted_at, alone);
    for (std::size_t i = 0; i < 2; ++i) {
      EXPECT_EQ(step.states[i], sample.tokens[first + i].states[static_cast<std::size_t>(deepest)]);
    }
  }
  EXPECT_GT(fell_back, 0);  // else the rule was not tried
}

TEST(BatchStep, FillsSkippedLayersFromTheExitState) {
  const EarlyExitSample sample = small_sample(1);
  const Decoder& decoder = sample.decoder;
  const DecodedToken& token = sample.tokens.front();
  std::vector<Sequence> batch = {token.before};
  // Every cosine is above -1: out after one layer.
  const BatchStep step =
      step_batch(decoder, sample.rule(Measure::state, -1), {token.states.front()}, batch);
  ASSERT_EQ(step.output_layer, 1);
  for (std::size_t layer = 1; layer < decoder.layers.size(); ++layer) {
    const Matrix& keys = batch[0].self[layer].keys;
    ASSERT_EQ(keys.rows(), 3);
    const RowVector want = normalised(decoder, token.states[1]) * decoder.layers[layer].key;
    EXPECT_EQ(RowVector(keys.row(2)), want);
  }
  // The first skipped layer would have projected the same state.
  Sequence full = token.before;
  trajectory(decoder, token.states.front(), full);
  EXPECT_EQ(batch[0].self[1].values, full.self[1].values);
  EXPECT_NE(batch[0].self[2].values, full.self[2].values);
}

TEST(EarlyExitStudy, ShowsEveryStatementOnSeveralSeeds) {
  for (std::uint64_t seed = 1; seed <= 3; ++seed) {
    const EarlyExitSample sample = small_sample(seed);
    Study study;
    add_depth_study(sample, seed, study);
    add_fill_study(sample, seed, study);
    for (const Statement& s : study.statements) {
      EXPECT_TRUE(s.holds || !s.exact) << "seed " << seed << ", " << s.id << ": " << s.found;
    }
  }
}

TEST(EarlyExitStudy, HasWholeTablesAndCurves) {
  const Study study = early_exit_study(1);
  EXPECT_EQ(study.tables.size(), 3U);
  for (const Table& table : study.tables) {
    for (const std::vector<Cell>& cells : table.rows) {
      EXPECT_EQ(cells.size(), table.columns.size()) << table.id;
    }
  }
  for (const Curve& curve : study.curves) {
    for (const Line& line : curve.lines) EXPECT_EQ(line.x.size(), line.y.size()) << curve.id;
  }
  for (const Statement& s : study.statements) EXPECT_TRUE(s.holds) << s.id << ": " << s.found;
}

TEST(EarlyExitStudy, IsTheSameTwice) {
  const auto rows = [] {
    Study study;
    add_depth_study(small_sample(2), 2, study);
    return study.tables.back().rows;
  };
  EXPECT_EQ(rows(), rows());
}

}  // namespace
}  // namespace tiersim::numerics::numerics_early_exit_test
