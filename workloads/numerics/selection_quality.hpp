#pragma once
// How good a choice of rows is: recall of the rows with the most attention, attention that falls on
// them, and how far the attention's output is off.
#include <vector>

#include "workloads/numerics/selection.hpp"

namespace tiersim::numerics {

/// What exact attention does at one position.
struct ExactStep {
  Index position = 0;
  RowVector logits;
  RowVector weights;  ///< their softmax
  RowVector output;   ///< over all rows
  RowVector mean;     ///< of the values of all rows
};

/// Every decoded position of a sample.
std::vector<ExactStep> exact_steps(const AttentionSample& sample);

/// Rows of a share, rounded up.
Index rows_of(double share, Index rows);

struct Quality {
  double recall = 0;  ///< share of the `budget` rows with the highest logits that were chosen
  double mass = 0;    ///< attention of the chosen rows under the exact softmax
  double error = 0;   ///< |output - exact output| / |exact output|; softmax over the chosen rows
};

Quality quality_of(const AttentionSample& sample, const ExactStep& exact, const Choice& choice,
                   Index budget);

/// One quality for every decoded position, with a share of the rows as budget.
std::vector<Quality> qualities(const AttentionSample& sample, const std::vector<ExactStep>& exact,
                               Selector& selector, double share);

Quality mean_of(const std::vector<Quality>& all);

}  // namespace tiersim::numerics
