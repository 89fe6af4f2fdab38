#pragma once
// A quick root search that begins at a guess, for functions that were solved before with slightly
// other numbers. solve() (sim/runner/solve.hpp) finds the exact value of one function instead.
#include <functional>

#include "sim/base/expected.hpp"
#include "sim/runner/solve.hpp"

namespace tiersim {

/// The coordinate of a search over a range: the logarithm where the ends are a factor of ten apart.
class SearchScale {
 public:
  explicit SearchScale(const SolveRange& range);
  double coordinate(double x) const;
  double value(double u) const;
  double low() const { return low_; }
  double high() const { return high_; }
  /// Width below which a bracket counts as one value: 0.2 % of the value, or of the range.
  double tolerance() const { return tolerance_; }

 private:
  SolveRange range_;
  bool logarithmic_;
  double low_;  // coordinates of the ends
  double high_;
  double tolerance_;
};

struct CrossingGuess {
  double x = 0;
  double slope = 0;   ///< of the function in the coordinate; 0 if unknown
  bool rises = true;  ///< the function rises with x
};

/// The x at which a monotone function is 0, to the scale's tolerance. The end of the range beyond
/// which the root lies, if it has none within the range.
Expected<double> crossing(const std::function<Expected<double>(double x)>& function,
                          const SearchScale& scale, const CrossingGuess& guess);

}  // namespace tiersim
