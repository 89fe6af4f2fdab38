#pragma once
// Order statistics of repeated values. No function takes an empty list.
#include <utility>
#include <vector>

namespace tiersim {

/// Linear interpolation between order statistics (type 7); share in [0, 1].
double quantile_of(std::vector<double> values, double share);

inline double median_of(std::vector<double> values) {
  return quantile_of(std::move(values), 0.5);
}

}  // namespace tiersim
