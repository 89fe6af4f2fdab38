#include "workloads/numerics/needle_text.hpp"

namespace tiersim::numerics {
namespace {

constexpr Index kDim = 32;
constexpr Index kNormal = kDim - kNeedles;
constexpr Index kTokens = 512;
constexpr double kKey = 8;
constexpr double kAsked = 8;
constexpr double kIgnored = -4;

Index needle_row(Index needle) {
  return 100 + 20 * needle;  // neither among the first rows nor among the newest
}

AttentionSample draw(Rng& rng) {
  AttentionSample out{.q = Matrix::Constant(kTokens, kDim, kIgnored),
                      .k = Matrix::Zero(kTokens, kDim),
                      .v = random_normal(rng, kTokens, kDim),
                      .decode_from = kTokens - kNeedles};
  out.q.leftCols(kNormal) = random_normal(rng, kTokens, kNormal);
  out.k.leftCols(kNormal) = random_normal(rng, kTokens, kNormal);
  for (Index j = 0; j < kNeedles; ++j) {
    out.k.row(needle_row(j)).setZero();
    out.k(needle_row(j), kNormal + j) = kKey;
    out.q(out.decode_from + j, kNormal + j) = kAsked;
  }
  return out;
}

Matrix side_by_side(const AttentionSample& sample) {
  Matrix out(sample.tokens(), 2 * kDim);
  out << sample.q, sample.k;
  return out;
}

}  // namespace

NeedleText needle_text(std::uint64_t seed) {
  Rng text(seed, "numerics.needles");
  Rng other(seed, "numerics.needles.calibration");
  NeedleText out;
  out.layer.heads = {draw(text)};
  out.layer.calibration = {draw(other)};
  out.layer.x = side_by_side(out.layer.heads.front());
  out.layer.calibration_x = side_by_side(out.layer.calibration.front());
  for (Index j = 0; j < kNeedles; ++j) out.needles.push_back(needle_row(j));
  return out;
}

}  // namespace tiersim::numerics
