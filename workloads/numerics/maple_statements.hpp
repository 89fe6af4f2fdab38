#pragma once
// What theory says of the results, checked on them.
#include <vector>

#include "workloads/numerics/needle_text.hpp"
#include "workloads/numerics/selection_sweep.hpp"

namespace tiersim::numerics {

/// No choice of as many rows has more recall or attention than the rows with the highest scores: at
/// every position of every point.
Statement oracle_is_best(const std::vector<SweepPoint>& points);

/// Points that must choose the oracle's rows: every coordinate, every component, pages of one row.
Statement full_rank_is_exact(const std::string& id, const std::string& says,
                             const std::string& source, const SweepPoint& point);

/// Recall against rank, a group of points a method and ascending in rank: no mean difference of one
/// step falls below zero by more than three of its standard errors.
Statement recall_rises(const std::vector<std::vector<SweepPoint>>& by_rank);

/// Mean recall of rows drawn at random is the share of rows, within four standard deviations of the
/// hypergeometric law.
Statement random_recall_is_the_share(const std::vector<SweepPoint>& random,
                                     const std::vector<HeadCase>& heads);

/// Of every head and rank: trained weights lose no more than the identity, on the tokens trained
/// on.
Statement distilled_beats_identity(const std::vector<HeadCase>& heads);

/// The same loss over ranks does not rise.
Statement loss_falls_with_rank(const std::vector<HeadCase>& heads);

/// What eight bits do to the choice, at one share of rows.
struct Int8Cost {
  double worst_of_bound = 0;  ///< largest |error| / bound of a score
  double lost = 0;            ///< share of the float64 choice that eight bits miss, mean
  double at_risk = 0;         ///< share that the bound lets them miss, mean
  bool within = true;         ///< at every position, lost at most at risk, and all errors in bound
};
Int8Cost int8_cost(const std::vector<HeadCase>& heads, std::size_t fit, double share);
Statement int8_within_bound(const std::vector<Int8Cost>& costs);

/// Which of the needles each method chose when they were asked for.
struct NeedleResult {
  std::string name;
  std::string setting;
  bool evicts = false;
  bool screens_exactly = false;  ///< its scores put the needle first by construction
  Index found = 0;
  Quality mean = {};
};
Statement needles_need_the_whole_cache(const std::vector<NeedleResult>& results);

}  // namespace tiersim::numerics
