#include "workloads/numerics/synthetic_layer.hpp"

#include <algorithm>
#include <cmath>
#include <numeric>

#include "sim/base/check.hpp"
#include "sim/base/portable_math.hpp"

namespace tiersim::numerics {
namespace {

// Features of a hidden state: three marks, then parts side by side. `ask` holds the identity that a
// position looks for; only queries read it, and only keys read `identity`.
struct Features {
  explicit Features(const SyntheticSpec& s)
      : topic_size(s.head_dim / 4),
        drift_size(s.head_dim / 8),
        identity_size(3 * s.head_dim / 8),
        topic(3),
        drift(topic + topic_size),
        identity(drift + drift_size),
        ask(identity + identity_size),
        noise(ask + identity_size),
        noise_size(s.hidden() - noise) {}

  static constexpr Index kConstant = 0;
  static constexpr Index kSink = 1;
  static constexpr Index kHeavy = 2;
  Index topic_size, drift_size, identity_size;
  Index topic, drift, identity, ask, noise;
  Index noise_size;
};

// Standard deviations of the directions of a part: a power law whose variances have mean 1.
RowVector spectrum(Index size, double exponent) {
  RowVector variance(size);
  for (Index j = 0; j < size; ++j)
    variance(j) = portable_pow(static_cast<double>(j + 1), -exponent);
  return (variance * (static_cast<double>(size) / variance.sum())).cwiseSqrt();
}

RowVector draw(Rng& rng, const RowVector& deviations) {
  return random_normal(rng, 1, deviations.size()).cwiseProduct(deviations);
}

std::vector<Index> shuffled(Rng& rng, Index size) {
  std::vector<Index> out(static_cast<std::size_t>(size));
  std::iota(out.begin(), out.end(), Index{0});
  for (std::size_t i = out.size(); i > 1; --i) std::swap(out[i - 1], out[rng.below(i)]);
  return out;
}

// An orthonormal basis whose vectors each have `spread` channels. A part then affects few channels,
// so a query has few large components, as SparQ needs.
Matrix channel_basis(Rng& rng, Index size, Index spread) {
  const std::vector<Index> channel = shuffled(rng, size);
  Matrix out = Matrix::Zero(size, size);
  for (Index block = 0; block < size; block += spread) {
    const Matrix turn = random_orthogonal(rng, spread);
    for (Index row = 0; row < spread; ++row)
      for (Index column = 0; column < spread; ++column)
        out(block + column, channel[static_cast<std::size_t>(block + row)]) = turn(row, column);
  }
  return out;  // the basis vectors are rows
}

double head_factor(Rng& rng, double most) {
  return portable_exp(portable_log(most) * (2 * rng.uniform() - 1));
}

}  // namespace

std::vector<SyntheticParameter> parameters_of(const SyntheticSpec& s) {
  const std::string sinks = "Xiao et al. 2023 (StreamingLLM), section 3.1";
  const std::string heavy = "kind: Zhang et al. 2023 (H2O), section 3; size assumed";
  const auto count = [](Index n) { return static_cast<double>(n); };
  return {
      {"heads", count(s.heads), "assumed"},
      {"head_dim", count(s.head_dim), "assumed"},
      {"tokens", count(s.tokens), "assumed"},
      {"decode_steps", count(s.decode_steps), "assumed"},
      {"spectrum_exponent", s.spectrum_exponent,
       "kind: Singhania et al. 2024 (Loki), section 3; size assumed"},
      {"spread", count(s.spread), "kind: Ribar et al. 2023 (SparQ), section 3; size assumed"},
      {"sinks", count(s.sinks), sinks},
      {"sink_logit", s.sink_logit, "kind: " + sinks + "; size assumed"},
      {"heavy_share", s.heavy_share, heavy},
      {"heavy_logit", s.heavy_logit, heavy},
      {"topics", count(s.topics), "assumed"},
      {"segment", s.segment, "assumed"},
      {"topic_logit", s.topic_logit, "assumed"},
      {"drift_memory", s.drift_memory, "kind: recency, as StreamingLLM; size assumed"},
      {"drift_logit", s.drift_logit, "kind: recency, as StreamingLLM; size assumed"},
      {"ask_share", s.ask_share, "assumed"},
      {"ask_logit", s.ask_logit, "assumed"},
      {"noise_logit", s.noise_logit, "assumed"},
      {"unread", s.unread, "assumed"},
      {"outlier_channels", count(s.outlier_channels),
       "kind: Liu et al. 2024 (KIVI), section 3; size assumed"},
      {"outlier_mean", s.outlier_mean, "kind: Liu et al. 2024 (KIVI), section 3; size assumed"},
      {"head_factor", s.head_factor, "assumed"},
  };
}

SyntheticLayer::SyntheticLayer(const SyntheticSpec& spec, Rng& rng) : spec_(spec) {
  TS_EXPECTS(spec.head_dim % 16 == 0 && spec.head_dim % spec.spread == 0, spec.head_dim);
  TS_EXPECTS(spec.heads >= 2, spec.heads);  // the features need this much room
  TS_EXPECTS(spec.decode_steps < spec.tokens && spec.sinks < spec.tokens, spec.tokens);
  turn_ = random_orthogonal(rng, spec.hidden());
  for (Index head = 0; head < spec.heads; ++head) heads_.push_back(draw_head(rng));
}

SyntheticLayer::HeadWeights SyntheticLayer::draw_head(Rng& rng) const {
  const SyntheticSpec& s = spec_;
  const Features f(s);
  const Index d = s.head_dim;
  const double root = std::sqrt(static_cast<double>(d));
  const Matrix basis = channel_basis(rng, d, s.spread);
  Matrix q = Matrix::Zero(s.hidden(), d);
  Matrix k = q;
  // The constant of every query meets the mark of the keys that have one.
  k.row(Features::kSink) = basis.row(0) * root;
  k.row(Features::kHeavy) = basis.row(1) * root;
  // Drawn in separate statements, since a compiler may choose the order of operands of +.
  const double heavy = s.heavy_logit * head_factor(rng, s.head_factor);
  const double sink = s.sink_logit * head_factor(rng, s.head_factor);
  q.row(Features::kConstant) = basis.row(0) * sink + basis.row(1) * heavy;
  // The product of a part of `size` features of mean variance 1 with itself is `size` on average.
  const auto part = [&](Index of_q, Index of_k, Index size, Index at, double logit) {
    const double gain = logit * head_factor(rng, s.head_factor) * root / static_cast<double>(size);
    q.middleRows(of_q, size) = basis.middleRows(at, size) * gain;
    k.middleRows(of_k, size) = basis.middleRows(at, size);
  };
  part(f.topic, f.topic, f.topic_size, 2, s.topic_logit);
  part(f.drift, f.drift, f.drift_size, 2 + f.topic_size, s.drift_logit);
  part(f.ask, f.identity, f.identity_size, 2 + f.topic_size + f.drift_size, s.ask_logit);
  // Noise of queries against keys of about 1 a channel, whatever the size of their features.
  const double each = 1 / (s.unread * std::sqrt(static_cast<double>(f.noise_size)));
  q.middleRows(f.noise, f.noise_size) =
      random_normal(rng, f.noise_size, d) * (each * s.noise_logit);
  k.middleRows(f.noise, f.noise_size) = random_normal(rng, f.noise_size, d) * (each * 0.5);
  const std::vector<Index> channels = shuffled(rng, d);
  for (Index i = 0; i < s.outlier_channels; ++i) {
    const double sign = rng.below(2) == 0 ? -1 : 1;
    k(Features::kConstant, channels[static_cast<std::size_t>(i)]) += sign * s.outlier_mean;
  }
  Matrix v = random_normal(rng, s.hidden(), d) / std::sqrt(static_cast<double>(s.hidden()));
  return {.q = turn_ * q, .k = turn_ * k, .v = turn_ * v};
}

Matrix SyntheticLayer::hidden_states(Rng& rng, Index tokens) const {
  const SyntheticSpec& s = spec_;
  const Features f(s);
  const RowVector topic_deviation = spectrum(f.topic_size, s.spectrum_exponent);
  const RowVector drift_deviation = spectrum(f.drift_size, s.spectrum_exponent);
  const RowVector identity_deviation = spectrum(f.identity_size, s.spectrum_exponent);
  const RowVector noise_deviation = spectrum(f.noise_size, s.spectrum_exponent);
  const Matrix topics = random_normal(rng, s.topics, f.topic_size) * topic_deviation.asDiagonal();
  const double fresh = std::sqrt(1 - s.drift_memory * s.drift_memory);
  RowVector drift = draw(rng, drift_deviation);
  Index topic = 0;
  Matrix x = Matrix::Zero(tokens, s.hidden());
  for (Index t = 0; t < tokens; ++t) {
    auto row = x.row(t);
    row(Features::kConstant) = 1;
    if (t == 0 || rng.uniform() < 1 / s.segment)
      topic = static_cast<Index>(rng.below(static_cast<std::uint64_t>(s.topics)));
    drift = drift * s.drift_memory + draw(rng, drift_deviation) * fresh;
    const RowVector identity = draw(rng, identity_deviation);
    if (t < s.sinks) {  // a sink has its mark and nothing else: sinks carry little content
      row(Features::kSink) = 1;
      continue;
    }
    row(Features::kHeavy) = rng.uniform() < s.heavy_share ? 1 : 0;
    row.segment(f.topic, f.topic_size) =
        topics.row(topic) * std::sqrt(0.75) + draw(rng, topic_deviation) * 0.5;
    row.segment(f.drift, f.drift_size) = drift;
    row.segment(f.identity, f.identity_size) = identity;
    const auto past = static_cast<Index>(rng.below(static_cast<std::uint64_t>(t)));
    if (rng.uniform() < s.ask_share)
      row.segment(f.ask, f.identity_size) = x.row(past).segment(f.identity, f.identity_size);
    row.segment(f.noise, f.noise_size) = draw(rng, noise_deviation) * s.unread;
  }
  return x * turn_.transpose();
}

AttentionSample SyntheticLayer::sample(const Matrix& x, Index head) const {
  TS_EXPECTS(head >= 0 && head < spec_.heads, head);
  const HeadWeights& weights = heads_[static_cast<std::size_t>(head)];
  return {.q = x * weights.q,
          .k = x * weights.k,
          .v = x * weights.v,
          .decode_from = x.rows() - spec_.decode_steps};
}

}  // namespace tiersim::numerics
