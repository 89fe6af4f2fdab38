#pragma once
// Everything that is said of one printed cell, worked out once for tables, results and JSON.
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
  std::size_t middle = 0;  ///< the correlation that stands in lists with one value
  double in_flight = 0;
  double gpu_s = 0;      ///< of a step, at the middle correlation
  double gpu_share = 0;  ///< of the printed step
  double host_s = 0;     ///< of a step, that the cell needs
  double bound = 0;      ///< tokens/s of `full` without its decoder's layers
  std::optional<double> explained;
  std::optional<double> scaling;

  const ExitServed& own() const { return at->own[std::min(middle, at->own.size() - 1)]; }
  double speedup() const { return cell->tokens_per_s / full->tokens_per_s; }
  /// Over `full`, with the model's own host.
  double simulated_speedup(std::size_t correlation) const;
  /// Least and largest tokens/s over the correlations.
  double lowest() const;
  double highest() const;
  /// "early_exit.throughput_tokens_per_s.t5-v1.1-base.state".
  std::string id(const std::string& paper, const std::string& quantity) const;
};

/// By model, then cell.
std::vector<CellView> views_of(const CellResults& results);

}  // namespace tiersim
