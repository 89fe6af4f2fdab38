#pragma once
// The printed cells of a paper on early exit beside those of a simulated server, each with a
// status:
//
//   input        sets a free parameter: tokens/s of `full` gives the host time of a sequence
//   prediction   tokens/s of another technique, with that host time and the printed concurrency and
//                exit rate, where it is near at every correlation
//   unexplained  a prediction that is not near
//   consistency  follows from other printed numbers: latency and sequences in flight are one number
//                where tokens/s is known (Little's law), since the concurrency is an input
//
// A near prediction says that the host time of `full` suffices, not that early exit was observed:
// `why` has the simulated speed-up beside the printed one. No parameter is tuned to come near.
#include <string>
#include <vector>

#include "reports/papers/early_exit/host_evidence.hpp"
#include "reports/papers/reproduce/section.hpp"

namespace tiersim {

/// Result of a server at one correlation.
struct ExitServed {
  double tokens_per_s = 0;
  double latency_s = 0;
  double in_flight = 0;
  double layers = 0;  ///< mean over the iterations
};

/// One cell, simulated at its concurrency.
struct ExitCellRuns {
  std::int64_t users = 0;
  /// The results by correlation; `full` has one entry. `own` has the host time of the model,
  /// `alone` has no host time, and `shipped` has the host of the shipped server.
  std::vector<ExitServed> own = {};
  std::vector<ExitServed> alone = {};
  std::vector<ExitServed> shipped = {};

  /// GPU time of a step of all users, prompts included.
  double gpu_s(std::size_t correlation) const;
};

struct ExitModelRuns {
  double host_sequence_s = 0;  ///< host time of a sequence with which `full` comes out as printed
  double step_s = 0;           ///< one decode step of `full` on the GPU, all layers
  double layers_s = 0;         ///< the part of step_s in the layers of the decoder
  std::int64_t layers = 0;
  std::vector<ExitCellRuns> cells = {};  ///< in the order of ExitModel::cells
};

struct CellResults {
  EarlyExitTargets targets;
  std::vector<ExitModelRuns> models;  ///< in the order of targets.models
};

/// Tables, results and JSON of the printed cells. The fit through the two `full` cells is checked
/// against the evidence, and a negative host time fails.
ReportSection section_of(const CellResults& results);

}  // namespace tiersim
