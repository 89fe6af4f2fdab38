#pragma once
// The value of one setting at which a metric has a given value: a bracketed root search, for what a
// sweep would answer only to the spacing of its grid.
//
// Method: Chandrupatla (Advances in Engineering Software 28(3), 145-149, 1997): inverse quadratic
// interpolation where three samples promise that it is sound, else bisection; about ten evaluations
// for a smooth metric. It stands here because it is shorter than the package of a library that has
// it. Whatever x is, the answer is the side of the crossing on which the metric is not above the
// target: the largest x that holds it where the metric rises with x, the smallest where it falls.
// The search runs over the logarithm of x where the range spans more than a factor of ten, and
// over whole numbers by bisection.
//
// Limits: one root. A metric that is not monotone over the range may have others; `monotone` says
// whether any evaluation contradicted it.
#include <functional>
#include <optional>
#include <string>

#include "sim/base/expected.hpp"

namespace tiersim {

/// Found values of x are within this factor of the crossing.
inline constexpr double kSolveTolerance = 1e-6;

struct SolveRange {
  double low = 0;
  double high = 0;     ///< above `low`
  bool whole = false;  ///< x takes whole numbers only
};

struct Solution {
  enum class Outcome : std::uint8_t {
    found,   ///< the metric crosses the target beside `x`, and at `x` it is not above it
    beyond,  ///< it does not within the range; `x` is the end that comes nearest
    flat,    ///< it is the same at both ends, so that x does not decide; `x` is the low end
  };
  Outcome outcome = Outcome::found;
  double x = 0;
  double metric = 0;  ///< at `x`, as evaluated
  /// The whole number beside `x` where the metric is above the target; none at an end.
  struct Next {
    double x = 0;
    double metric = 0;
  };
  std::optional<Next> next = std::nullopt;
  bool rises = true;     ///< the metric at the high end is above that at the low one
  bool monotone = true;  ///< every evaluation lay between those of the bracket around it
  int evaluations = 0;
  double low = 0;             ///< the range as searched: narrower than asked where an end of it
  double high = 0;            ///< has no metric
  std::string left_out = {};  ///< why there is none just beyond it; empty where all was searched
};

/// The metric at x, or why there is none. Where only one end of the range has one, the search goes
/// as far as there is one; an error between the ends, or at both, ends it.
using SolveMetric = std::function<Expected<double>(double x)>;

Expected<Solution> solve(const SolveMetric& metric, double target, SolveRange range);

}  // namespace tiersim
