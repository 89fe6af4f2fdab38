#pragma once
// Decoding with early exit over the batch: the speed-up of each way at every correlation between
// the tokens of an iteration, as tables, a figure and checks.
#include <cstdint>
#include <string>
#include <vector>

#include "reports/papers/early_exit/early_exit_targets.hpp"
#include "reports/papers/reproduce/section.hpp"

namespace tiersim {

struct ExitPoint {
  double step_s = 0;         ///< mean inter-token latency of a batch that nothing interrupts
  double tokens_per_s = 0;   ///< over whole answers, prompts included
  double layers = 0;         ///< mean over the iterations
  std::string problem = {};  ///< the reason why the point cannot run; empty where it ran
};

struct BatchSweepResult {
  BatchSweep engine;
  std::int64_t layers = 0;             ///< of the decoder
  std::vector<ExitPoint> points = {};  ///< the case varies fastest, then batch, correlation

  const ExitPoint& at(std::size_t correlation, std::size_t batch, std::size_t which) const {
    return points[(correlation * engine.batches.size() + batch) * engine.cases.size() + which];
  }
  /// Speed-up of a decode step; 0 where either cannot run.
  double speedup(std::size_t correlation, std::size_t batch, std::size_t which,
                 std::size_t than = 0) const;
};

ReportSection section_of(const BatchSweepResult& result);

}  // namespace tiersim
