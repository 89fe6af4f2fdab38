#pragma once
// A sweep of methods over heads and budgets, and the statistics, tables and curves of its results.
#include <string>
#include <vector>

#include "workloads/numerics/selection_methods.hpp"
#include "workloads/numerics/study.hpp"

namespace tiersim::numerics {

/// One method at one setting and budget.
struct SweepPoint {
  std::string name;
  std::string setting;
  double share = 0;                         ///< share of the rows
  double screening_bytes = 0;               ///< for each cached token and head
  std::vector<std::vector<Quality>> heads;  ///< [head][decoded position]

  Quality mean() const;       ///< over the heads' means
  Quality deviation() const;  ///< sample standard deviation of the heads' means; 0 for one head
  std::vector<double> recalls() const;  ///< mean recall of each head
};

SweepPoint measure(const std::vector<HeadCase>& heads, const SelectionMethod& method, double share,
                   Measured measured = Measured::all);

/// Mean of the paired differences b - a of two samples, with its standard error.
struct PairedDifference {
  double mean = 0;
  double standard_error = 0;  ///< 0 for a single pair
};
PairedDifference paired_difference(const std::vector<double>& a, const std::vector<double>& b);

/// All points, with a row for each.
Table table_of(std::string id, std::string title, const std::vector<SweepPoint>& points);

/// The chosen figure over the share of rows or the screening bytes, with one line for each name.
enum class Figure { recall, mass, error };
enum class Over { share, bytes };
Curve curve_of(std::string id, std::string title, const std::vector<SweepPoint>& points,
               Figure figure, Over over);

}  // namespace tiersim::numerics
