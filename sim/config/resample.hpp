#pragma once
// Draws of a configuration from the 95 % intervals of its numbers, to carry them through whatever
// is computed from it:
//
//   Resampler resampler(config, 180, seed);          // config is changed from here on
//   for (std::size_t i = 0; i < resampler.draws(); ++i) {
//     if (const std::string broken = resampler.draw(i); !broken.empty()) ...
//     results.push_back(compute(config));
//   }
//   const Interval<double> ci95 = central_95(results);
//
// A number v in [l, h] is drawn as v exp(z ln(h / v) / 1.96) for z > 0 and v exp(z ln(v / l)
// / 1.96) for z < 0 (a lognormal in two pieces, with the interval's ends as its 2.5 % quantiles),
// and where l <= 0 as v + z (h - v) / 1.96 and v + z (v - l) / 1.96. What falls outside of the
// field's limits takes the limit, or the interval's end where the limit itself is not allowed.
// Counts and units are rounded to the nearest whole one.
//
// The z of a number come from a stream named by its path, each of the n quantiles of the standard
// normal once, in random order; those of correlated() numbers are reordered together. So a number
// is drawn in the same way whatever else the configuration holds, and a wider interval with the
// same draws gives a wider result. A number in a list that moves is another number.
#include <cstdint>
#include <string>
#include <vector>

#include "sim/base/number_class.hpp"
#include "sim/config/describe.hpp"
#include "sim/config/normal_scores.hpp"

namespace tiersim {

namespace detail {

/// A number with an interval.
struct UncertainNumber {
  std::string path;
  ScalarValue target;
  Limits limits;
  double value = 0;  ///< at best; base units, as the ends
  double low = 0;
  double high = 0;
  Scores scores = {};
};

/// Every number with an interval and its scores.
std::vector<UncertainNumber> uncertain_numbers(const StructValue& config, std::size_t draws,
                                               std::uint64_t seed);
void set_to_draw(const UncertainNumber& number, std::size_t draw);
/// The first check of describe() that does not hold; empty where all do.
std::string broken_check(const StructValue& config);

}  // namespace detail

class Resampler {
 public:
  /// The members that describe() lists must stay where they are while this lives.
  template <class C>
  Resampler(C& config, std::int64_t draws, std::int64_t seed)
      : config_(detail::view(config)),
        draws_(static_cast<std::size_t>(draws)),
        numbers_(detail::uncertain_numbers(config_, draws_, static_cast<std::uint64_t>(seed))) {}

  std::size_t draws() const { return draws_; }
  /// Paths of the numbers that are drawn.
  std::vector<std::string> paths() const;
  /// Sets these numbers to draw i. Says which check of describe() they break; empty where none.
  /// Throws UnitOverflow where a number is beyond what its unit can hold.
  [[nodiscard]] std::string draw(std::size_t i);

 private:
  detail::StructValue config_;
  std::size_t draws_;
  std::vector<detail::UncertainNumber> numbers_;
};

/// From the 2.5 % to the 97.5 % quantile of the results of all draws, at least two of them. Element
/// k of n in order stands for the quantile (k - 1/2) / n, as the scores do (Hazen; type 5 of
/// Hyndman and Fan, The American Statistician 50, 1996), linear between two.
Interval<double> central_95(std::vector<double> results);

}  // namespace tiersim
