#pragma once
// Statements of theory, checked on the results.
#include <vector>

#include "workloads/numerics/needle_text.hpp"
#include "workloads/numerics/selection_sweep.hpp"

namespace tiersim::numerics {

/// At every position of every point, no choice of as many rows has more recall or attention than
/// the rows with the highest scores.
Statement oracle_is_best(const std::vector<SweepPoint>& points);

/// Points that must choose the oracle's rows: all coordinates, all components, or pages of one row.
Statement full_rank_is_exact(const std::string& id, const std::string& says,
                             const std::string& source, const SweepPoint& point);

/// Recall against rank, for a group of points of each method in rising order of rank. The mean
/// difference of one step is nowhere below zero by more than three of its standard errors.
Statement recall_rises(const std::vector<std::vector<SweepPoint>>& by_rank);

/// Mean recall of rows drawn at random is the share of rows, within four standard deviations of the
/// hypergeometric law.
Statement random_recall_is_the_share(const std::vector<SweepPoint>& random,
                                     const std::vector<HeadCase>& heads);

/// For every head and rank, trained weights lose no more than the identity on the training tokens.
Statement distilled_beats_identity(const std::vector<HeadCase>& heads);

/// The training loss does not rise with rank.
Statement loss_falls_with_rank(const std::vector<HeadCase>& heads);

/// Effect of eight bits on the choice, at one share of rows.
struct Int8Cost {
  double worst_of_bound = 0;  ///< largest |error| / bound of a score
  double lost = 0;            ///< mean share of the float64 choice that eight bits miss
  double at_risk = 0;         ///< mean share that the bound allows them to miss
  bool within = true;  ///< at every position, lost <= at_risk and all errors are within the bound
};
Int8Cost int8_cost(const std::vector<HeadCase>& heads, std::size_t fit, double share);
Statement int8_within_bound(const std::vector<Int8Cost>& costs);

/// Needles that a method chose when a query asked for them.
struct NeedleResult {
  std::string name;
  std::string setting;
  bool evicts = false;
  bool screens_exactly = false;  ///< its scores rank the needle first by construction
  Index found = 0;
  Quality mean = {};
};
Statement needles_need_the_whole_cache(const std::vector<NeedleResult>& results);

}  // namespace tiersim::numerics
