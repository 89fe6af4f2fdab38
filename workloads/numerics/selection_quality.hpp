#pragma once
// Quality of a choice of rows: recall of the rows with the most attention, captured attention, and
// error of the attention's output.
#include <cstdint>
#include <vector>

#include "workloads/numerics/selection.hpp"

namespace tiersim::numerics {

/// Exact attention at one position.
struct ExactStep {
  Index position = 0;
  RowVector logits;
  RowVector weights;  ///< softmax of the logits
  RowVector output;   ///< over all rows
  RowVector mean;     ///< mean of all values
};

/// Exact attention at every decoded position of a sample.
std::vector<ExactStep> exact_steps(const AttentionSample& sample);

/// Number of rows for this share, rounded up.
Index rows_of(double share, Index rows);

struct Quality {
  double recall = 0;  ///< share of the `budget` rows with the highest logits that were chosen
  double mass = 0;    ///< exact softmax weight of the chosen rows
  double error = 0;   ///< |output - exact output| / |exact output|; softmax over the chosen rows
};

Quality quality_of(const AttentionSample& sample, const ExactStep& exact, const Choice& choice,
                   Index budget);

/// The figures that are computed. Recall needs neither softmax nor values.
enum class Measured : std::uint8_t { all, recall };

/// The quality at every decoded position, with a share of the rows as budget. Figures that are not
/// computed are 0.
std::vector<Quality> qualities(const AttentionSample& sample, const std::vector<ExactStep>& exact,
                               Selector& selector, double share, Measured measured = Measured::all);

Quality mean_of(const std::vector<Quality>& all);

}  // namespace tiersim::numerics
