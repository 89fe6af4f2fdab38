#include "workloads/numerics/head_case.hpp"

#include <algorithm>

#include "sim/base/check.hpp"

namespace tiersim::numerics {
namespace {

// W_q and W_k before training: for head h of the layer the identity, cut to the head's `rank`
// columns, times the factor of the best fit. With S_h those columns of X P, ||Q K^T - c S_h
// S_h^T||^2 is least at c = <Q K^T, S_h S_h^T> / ||S_h S_h^T||^2.
LowRankHead identity_head(const Matrix& projected, Index head, Index rank,
                          const AttentionSample& over) {
  const Index k = projected.cols();
  Matrix w = Matrix::Zero(k, rank);
  for (Index c = 0; c < rank; ++c) w((head * rank + c) % k, c) = 1;
  const Matrix low = projected * w;
  const double inner = (over.q.transpose() * low).cwiseProduct(over.k.transpose() * low).sum();
  const double power = score_power(low, low);
  const double factor = power == 0 ? 0 : inner / power;  // 0 where P drops all of x
  return {.w_q = w * factor, .w_k = w};
}

// A head's queries and keys over some tokens, and their score power, which all ranks share.
struct Over {
  explicit Over(const AttentionSample& tokens)
      : sample(tokens), power(score_power(tokens.q, tokens.k)) {}
  double loss_share(const Matrix& projected, const LowRankHead& head) const {
    if (power == 0) return 0;  // every score is 0, and so is every fit
    return score_loss(sample.q, sample.k, power, projected * head.w_q, projected * head.w_k) /
           power;
  }
  const AttentionSample& sample;
  double power;
};

// The losses of fits, over the calibration tokens and over the text.
class Losses {
 public:
  explicit Losses(const LayerData& layer)
      : calibration_(layer.calibration.begin(), layer.calibration.end()),
        text_(layer.heads.begin(), layer.heads.end()) {}

  // Fills the losses of `fit`, which is `head` of head `h`. The matrices are the projected hidden
  // states of the calibration tokens and of the text.
  void add(MapleFit& fit, std::size_t h, const LowRankHead& head, const Matrix& calibration,
           const Matrix& text) const {
    const LowRankHead identity =
        identity_head(calibration, static_cast<Index>(h), fit.rank, calibration_[h].sample);
    fit.calibration_loss = calibration_[h].loss_share(calibration, head);
    fit.held_out_loss = text_[h].loss_share(text, head);
    fit.identity_loss = calibration_[h].loss_share(calibration, identity);
    fit.identity_held_out_loss = text_[h].loss_share(text, identity);
  }

 private:
  std::vector<Over> calibration_;
  std::vector<Over> text_;
};

Index projected_columns(Index hidden, Index rank, Index head_dim) {
  return std::clamp<Index>(hidden * rank / head_dim, rank, std::max(hidden, rank));
}

}  // namespace

LayerData synthetic_layer_data(const SyntheticSpec& spec, std::uint64_t seed) {
  Rng weights(seed, "numerics.layer");
  const SyntheticLayer layer(spec, weights);
  Rng text(seed, "numerics.text");
  Rng other(seed, "numerics.calibration");
  LayerData out{.x = layer.hidden_states(text, spec.tokens),
                .heads = {},
                .calibration_x = layer.hidden_states(other, 2 * spec.tokens),
                .calibration = {}};
  for (Index head = 0; head < spec.heads; ++head) {
    out.heads.push_back(layer.sample(out.x, head));
    out.calibration.push_back(layer.sample(out.calibration_x, head));
  }
  return out;
}

std::vector<HeadCase> prepare(const LayerData& layer, const std::vector<Index>& ranks,
                              std::uint64_t seed, FitLosses losses) {
  TS_EXPECTS(layer.heads.size() == layer.calibration.size(), layer.calibration.size());
  std::vector<HeadCase> out;
  for (std::size_t h = 0; h < layer.heads.size(); ++h) {
    const AttentionSample& sample = layer.heads[h];
    HeadCase& one = out.emplace_back(HeadCase{.seed = seed + h,
                                              .sample = sample,
                                              .exact = exact_steps(sample),
                                              .prompt_attention = std::nullopt,
                                              .basis = key_basis(layer.calibration[h].k),
                                              .maple = {}});
    if (sample.first_query() == 0)
      one.prompt_attention = accumulated_attention(sample, sample.decode_from);
  }
  if (layer.x.size() == 0) return out;
  std::optional<Losses> computed;
  if (losses == FitLosses::computed) computed.emplace(layer);
  for (const Index rank : ranks) {
    Rng rng(seed, "numerics.projection");  // the first columns are the same for every rank
    const Index k = projected_columns(layer.x.cols(), rank, layer.heads.front().head_dim());
    const Matrix p = sparse_projection(rng, layer.x.cols(), k);
    const Distiller distiller(layer.calibration_x * p);
    const Matrix projected = layer.x * p;
    for (std::size_t h = 0; h < layer.heads.size(); ++h) {
      const AttentionSample& over = layer.calibration[h];
      const LowRankHead head = distiller.distil(over.q, over.k, rank);
      out[h].maple.push_back({.rank = rank,
                              .projected = k,
                              .screen = Int8Screen(projected, head, layer.heads[h].decode_from)});
      if (computed) computed->add(out[h].maple.back(), h, head, distiller.projected(), projected);
    }
  }
  return out;
}

}  // namespace tiersim::numerics
