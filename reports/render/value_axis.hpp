#pragma once
// An axis for values of any size: linear, or logarithmic to base 10 for a wide range.
#include <string>
#include <vector>

#include "reports/render/axis.hpp"

namespace tiersim {

class ValueAxis {
 public:
  struct Tick {
    double value = 0;
    std::string label = {};  ///< may be empty on a logarithmic axis
  };

  /// Logarithmic where all values are positive and the largest is over thirty times the smallest. A
  /// linear axis begins at 0 where the smallest value is below half of the largest. Else it begins
  /// a tick below the smallest, so that close points stay apart. 0 to 1 without values.
  explicit ValueAxis(AxisRange values);

  bool logarithmic() const { return log_; }
  /// 0 at the low end and 1 at the high end.
  double place(double value) const;
  const std::vector<Tick>& ticks() const { return ticks_; }

 private:
  void linear(AxisRange values);
  void decades(AxisRange values);

  bool log_ = false;
  double low_ = 0;
  double high_ = 1;
  std::vector<Tick> ticks_;
};

}  // namespace tiersim
