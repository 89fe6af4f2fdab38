#pragma once
// All values shown of one printed cell, computed once for tables, results and JSON.
#include <optional>
#include <string>

#include "reports/papers/early_exit/cell_results.hpp"

namespace tiersim {

struct CellView {
  const ExitModel* model = nullptr;
  const ExitCell* cell = nullptr;
  const ExitCell* full = nullptr;
  const ExitModelRuns* runs = nullptr;
  const ExitCellRuns* at = nullptr;
  std::string status;      ///< of its tokens/s
  std::size_t middle = 0;  ///< index of the correlation that lists with one value show
  double in_flight = 0;
  double gpu_s = 0;      ///< GPU time of a step at the middle correlation
  double gpu_share = 0;  ///< GPU time over the printed step
  double host_s = 0;     ///< host time of a step with which the cell comes out as printed
  double bound = 0;      ///< tokens/s of `full` without the layers of its decoder
  std::optional<double> explained;
  std::optional<double> scaling;

  const ExitServed& own() const { return at->own[std::min(middle, at->own.size() - 1)]; }
  double speedup() const { return cell->tokens_per_s / full->tokens_per_s; }
  /// Speed-up over `full`, with the host time of the model.
  double simulated_speedup(std::size_t correlation) const;
  /// Least and largest tokens/s over the correlations.
  double lowest() const;
  double highest() const;
  /// "early_exit.throughput_tokens_per_s.t5-v1.1-base.state".
  std::string id(const std::string& paper, const std::string& quantity) const;
};

/// Sorted by model, then by cell.
std::vector<CellView> views_of(const CellResults& results);

}  // namespace tiersim
