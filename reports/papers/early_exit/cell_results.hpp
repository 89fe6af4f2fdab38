#pragma once
// The cells of a paper on early exit beside what a simulated server gives, and what each is:
//
//   input        a free parameter is set by it: tokens/s of `full` sets the host's time a sequence
//   prediction   tokens/s of the others, with that host, the printed concurrency and exit rate,
//                where it is near at every correlation
//   unexplained  a prediction that is not near
//   consistency  follows from other printed numbers: latency and sequences in flight are one number
//                where tokens/s is known (Little's law), since the concurrency is an input
//
// A prediction that is near says that the host of `full` suffices, not that early exit was seen:
// `why` has the simulated speed-up beside the printed one. Nothing is chosen to come near.
#include <string>
#include <vector>

#include "reports/papers/early_exit/host_evidence.hpp"
#include "reports/papers/reproduce/section.hpp"

namespace tiersim {

/// What a server gave at one correlation.
struct ExitServed {
  double tokens_per_s = 0;
  double latency_s = 0;
  double in_flight = 0;
  double layers = 0;  ///< mean of an iteration
};

/// One cell, simulated at its concurrency.
struct ExitCellRuns {
  std::int64_t users = 0;
  /// By correlation; one for `full`. The host is the model's own, none, or the shipped server's.
  std::vector<ExitServed> own = {};
  std::vector<ExitServed> alone = {};
  std::vector<ExitServed> shipped = {};

  /// GPU time of a step of all users, prompts included.
  double gpu_s(std::size_t correlation) const;
};

struct ExitModelRuns {
  double host_sequence_s = 0;  ///< that `full` needs, with nothing beside it
  double step_s = 0;           ///< one decode step of `full` on the GPU, all layers
  double layers_s = 0;         ///< of it, the decoder's layers
  std::int64_t layers = 0;
  std::vector<ExitCellRuns> cells = {};  ///< as ExitModel::cells
};

struct CellResults {
  EarlyExitTargets targets;
  std::vector<ExitModelRuns> models;  ///< as targets.models
};

/// Tables, results and JSON of the printed cells. The fit through the two `full` cells is held to
/// the evidence, and a host time that comes out negative fails.
ReportSection section_of(const CellResults& results);

}  // namespace tiersim
