#pragma once
// The values between two ends, numbers or quantities, at equal steps or equal factors. Value i is
// computed from i and the ends, so that errors do not add up; the ends are as given. Inner values
// have at most twelve significant digits (six for `log_range` with `points`), so that 0.1 to 0.9
// gives 0.3; quantities are whole base units. Counts are rounded to different whole numbers.
#include <cstdint>
#include <string>
#include <vector>

#include "sim/base/expected.hpp"
#include "sim/sweep/sweep_config.hpp"

namespace tiersim {

/// A mistake in a range, with its field.
struct RangeProblem {
  std::string field = {};  ///< "from"; empty for the whole
  std::string message = {};
  std::string hint = {};
};

class ValueRange {
 public:
  /// `whole` is true where the setting is a count.
  static Expected<ValueRange, RangeProblem> parse(const SweepRange& range, bool whole);
  static Expected<ValueRange, RangeProblem> parse(const SweepLogRange& range, bool whole);

  /// Number of values, or for a count the most that there may be.
  double most_values() const;
  /// The values as configurations take them, from the first end to the last.
  std::vector<std::string> labels() const;
  /// Any value of the range, at a share in [0, 1) of its scale. The range is cut into `parts` equal
  /// parts, and the value has as few digits as keep it in its part. For a count, each value has an
  /// equal part of the range, the last one too.
  std::string label_at(double share, std::int64_t parts) const;

 private:
  double value(std::int64_t i) const;
  double value_at(double share) const;
  std::string text(double value, int digits) const;
  int label_digits() const;

  double low_ = 0;  // in base units; above `high_` in a falling range
  double high_ = 0;
  std::string dimension_;
  std::int64_t points_ = 0;
  double step_ = 0;  // or factor; 0 if the number of points is given
  bool logarithmic_ = false;
  bool whole_ = false;
};

}  // namespace tiersim
