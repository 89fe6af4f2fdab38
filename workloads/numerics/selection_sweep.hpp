#pragma once
// Methods over heads and budgets, and what is made of the results: means, spreads, tables, curves.
#include <string>
#include <vector>

#include "workloads/numerics/selection_methods.hpp"
#include "workloads/numerics/study.hpp"

namespace tiersim::numerics {

/// One method at one setting and budget.
struct SweepPoint {
  std::string name;
  std::string setting;
  double share = 0;                         ///< of the rows
  double screening_bytes = 0;               ///< a cached token and head
  std::vector<std::vector<Quality>> heads;  ///< [head][decoded position]

  Quality mean() const;       ///< over heads, of their means
  Quality deviation() const;  ///< sample standard deviation of the heads' means; 0 of one head
  std::vector<double> recalls() const;  ///< the heads' mean recall
};

SweepPoint measure(const std::vector<HeadCase>& heads, const SelectionMethod& method, double share);

/// Difference b - a of two samples taken in pairs: its mean, and the standard error of that.
struct PairedDifference {
  double mean = 0;
  double standard_error = 0;  ///< 0 of a single pair
};
PairedDifference paired_difference(const std::vector<double>& a, const std::vector<double>& b);

/// All points, a row each.
Table table_of(std::string id, std::string title, const std::vector<SweepPoint>& points);

/// One line a name: the chosen figure over the share of rows, or over the screening bytes.
enum class Figure { recall, mass, error };
enum class Over { share, bytes };
Curve curve_of(std::string id, std::string title, const std::vector<SweepPoint>& points,
               Figure figure, Over over);

}  // namespace tiersim::numerics
