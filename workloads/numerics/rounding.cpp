#include "workloads/numerics/rounding.hpp"

#include <cmath>

#include "sim/base/check.hpp"
#include "workloads/numerics/latent_transforms.hpp"

namespace tiersim::numerics {
namespace {

constexpr double kUnit = 0x1p-53;
// Roundings of a row's mean square, root, quotient and gain, in addition to the sum itself.
constexpr Index kNormSteps = 8;

// Growth of a relative error of x W in its shortest row: the size of the factors over that of the
// product.
double cancellation(const LatentWeights& weights, const Matrix& states) {
  const Matrix raw = states * weights.down;
  double worst = 0;
  for (Index row = 0; row < raw.rows(); ++row) {
    worst = std::fmax(worst, states.row(row).norm() * weights.down.norm() / raw.row(row).norm());
  }
  return worst;
}

// Relative error of a normalised latent. Both ways err by the chain x W U, whose size changes the
// norm by as much again.
double latent_error(const LatentWeights& weights, const Matrix& orthogonal, const Matrix& states) {
  const Index rank = weights.rank();
  const double chain = rounding_bound(states.cols() + 2 * rank + kNormSteps);
  const double turn = std::sqrt(static_cast<double>(rank));
  return 4 * chain * turn * cancellation(weights, states) + orthogonality_error(orthogonal);
}

}  // namespace

double rounding_bound(Index operations) {
  const double n = static_cast<double>(operations) * kUnit;
  TS_EXPECTS(n < 0.5, operations);
  return n / (1 - n);
}

double largest_row(const Matrix& rows) {
  return rows.rowwise().norm().maxCoeff();
}

double latent_bound(const LatentWeights& weights, const Matrix& orthogonal, const Matrix& states) {
  const double length = std::sqrt(static_cast<double>(weights.rank()));
  return latent_error(weights, orthogonal, states) * length * weights.gain.cwiseAbs().maxCoeff();
}

double attention_bound(const LatentWeights& weights, const Matrix& orthogonal,
                       const Matrix& states) {
  const Index rank = weights.rank();
  const double turn = std::sqrt(static_cast<double>(rank));
  const double length = turn * weights.gain.cwiseAbs().maxCoeff();  // length of a normalised latent
  const double state = largest_row(states);
  // Number of operations in a layer, an upper bound for every output.
  const Index steps = 2 * states.cols() + 4 * rank + 2 * weights.heads.front().query.cols() +
                      weights.rope_key.cols() + states.rows() + kNormSteps;
  // Transformed up-projections contain U once more, and U^T U differs from the identity by its own
  // error.
  const double relative = latent_error(weights, orthogonal, states) +
                          2 * rounding_bound(steps) * turn + orthogonality_error(orthogonal);
  double bound = 0;
  for (const LatentHead& head : weights.heads) {
    const double score = weights.scale() * state *
                         (head.query.norm() * head.up_key.norm() * length +
                          head.rope_query.norm() * weights.rope_key.norm() * state);
    // A softmax weight changes by e^(2 d) - 1 <= 2 d / (1 - 2 d) where scores change by d.
    const double twice = 2 * relative * score;
    TS_INVARIANT(twice < 0.5, twice);
    const double moved = twice / (1 - twice);
    bound += (moved + relative) * length * head.up_value.norm() * head.out.norm();
  }
  return 2 * bound;
}

}  // namespace tiersim::numerics
