#pragma once
// Decoding with early exit at one batch after another: what each way is worth, at every correlation
// between the tokens of an iteration, as tables, a figure and checks.
#include <cstdint>
#include <string>
#include <vector>

#include "reports/papers/early_exit/early_exit_targets.hpp"
#include "reports/papers/reproduce/section.hpp"

namespace tiersim {

struct ExitPoint {
  double step_s = 0;         ///< from one token to the next, of a batch that nothing disturbs
  double tokens_per_s = 0;   ///< of whole answers, prompts included
  double layers = 0;         ///< mean over the iterations
  std::string problem = {};  ///< why it cannot run; empty where it did
};

struct BatchSweepResult {
  BatchSweep engine;
  std::int64_t layers = 0;             ///< of the decoder
  std::vector<ExitPoint> points = {};  ///< case fastest, then batch, correlation

  const ExitPoint& at(std::size_t correlation, std::size_t batch, std::size_t which) const {
    return points[(correlation * engine.batches.size() + batch) * engine.cases.size() + which];
  }
  /// Of a decode step; 0 where either cannot run.
  double speedup(std::size_t correlation, std::size_t batch, std::size_t which,
                 std::size_t than = 0) const;
};

ReportSection section_of(const BatchSweepResult& result);

}  // namespace tiersim
