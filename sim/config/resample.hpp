#pragma once
// Draws of a configuration from the 95 % intervals of its numbers, which carry these intervals
// through to the results computed from it:
//
//   Resampler resampler(config, 180, seed);          // config is changed from here on
//   for (std::size_t i = 0; i < resampler.draws(); ++i) {
//     if (const std::string broken = resampler.draw(i); !broken.empty()) ...
//     results.push_back(compute(config));
//   }
//   const Interval<double> ci95 = central_95(results);
//
// A number v in [l, h] is drawn as v exp(z ln(h / v) / 1.96) for z > 0 and v exp(z ln(v / l) /
// 1.96) for z < 0 (a lognormal in two pieces, with the interval's ends as its 2.5 % quantiles). If
// l <= 0 it is drawn as v + z (h - v) / 1.96 and v + z (v - l) / 1.96. A draw outside of the
// field's limits takes the limit, or the interval's end if the limit itself is not allowed. Counts
// and units are rounded to the nearest whole one.
//
// The z of a number come from a stream named by its path: each of the n quantiles of the standard
// normal once, in random order; those of correlated() numbers are reordered together. So a number
// is drawn in the same way whatever else the configuration holds, and with the same draws a wider
// interval gives a wider result. A list element that changes its position counts as another number.
// Two systems of a configuration may have the same device: numbers whose paths end alike from
// "system." on, and whose value, interval and source are equal, are one number and drawn as the
// first of them.
#include <cstdint>
#include <functional>
#include <string>
#include <vector>

#include "sim/base/number_class.hpp"
#include "sim/config/describe.hpp"
#include "sim/config/normal_scores.hpp"

namespace tiersim {

/// True for the path of a number that is to be drawn.
using CountsNumber = std::function<bool(const std::string& path)>;

namespace detail {

/// A number with an interval.
struct UncertainNumber {
  std::string path;
  ScalarValue target;
  std::string source;
  Limits limits;
  double value = 0;  ///< best estimate; in base units, like the ends
  double low = 0;
  double high = 0;
  Scores scores = {};
};

/// Every number with an interval and its scores, of those that `counts` allows by their paths.
std::vector<UncertainNumber> uncertain_numbers(const StructValue& config, std::size_t draws,
                                               std::uint64_t seed, const CountsNumber& counts);
void set_to_draw(const UncertainNumber& number, std::size_t draw);
/// The first check of describe() that fails; empty if all hold.
std::string broken_check(const StructValue& config);

}  // namespace detail

class Resampler {
 public:
  /// The members that describe() lists must not move during the life of this object. Numbers that
  /// `counts` refuses keep their values.
  template <class C>
  Resampler(C& config, std::int64_t draws, std::int64_t seed, const CountsNumber& counts = {})
      : config_(detail::view(config)),
        draws_(static_cast<std::size_t>(draws)),
        numbers_(
            detail::uncertain_numbers(config_, draws_, static_cast<std::uint64_t>(seed), counts)) {}

  std::size_t draws() const { return draws_; }
  /// Paths of all numbers that are drawn.
  std::vector<std::string> paths() const;
  /// Sets these numbers to draw i. Returns the check of describe() that they break, or an empty
  /// text. Throws UnitOverflow if a number is beyond the range of its unit.
  [[nodiscard]] std::string draw(std::size_t i);
  /// The same for numbers that no check of describe() reads: nothing is checked.
  void draw_unchecked(std::size_t i);

 private:
  detail::StructValue config_;
  std::size_t draws_;
  std::vector<detail::UncertainNumber> numbers_;
};

/// The interval from the 2.5 % to the 97.5 % quantile of the results of all draws, of which there
/// are at least two. Element k of n in order stands for the quantile (k - 1/2) / n, as in the
/// scores, with linear interpolation (Hazen; type 5 of Hyndman and Fan, The American Statistician
/// 50, 1996).
Interval<double> central_95(std::vector<double> results);

}  // namespace tiersim
