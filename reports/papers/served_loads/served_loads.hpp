#pragma once
// Published tokens/s of servers under rising load beside simulated ones, each with a status:
//
//   prediction   the nominal cell is near: the number of running sequences is given where it is
//                printed, and tokens/s and ratios are simulated
//   explained    the nominal cell is not near, and another declared one is
//   unexplained  no declared cell is near
//
// No setting is chosen to come near; `why` names the closest declared cell.
#include <optional>
#include <string>
#include <vector>

#include "reports/papers/reproduce/section.hpp"
#include "reports/papers/served_loads/served_load_targets.hpp"

namespace tiersim {

/// A server at one load, over a window in which as many sequences decode as there are seats.
struct LoadRun {
  std::int64_t running = 0;  ///< sequences that decode at a time; 0: not run
  double tokens_per_s = 0;
  double gap_s = 0;  ///< median time between two tokens of a sequence
  double batch = 0;  ///< mean number of sequences of an iteration that decodes
};

struct ServedLoadResults {
  ServedLoadTargets targets;
  std::vector<LoadRun> runs = {};        ///< the server varies fastest, then load, cell
  std::vector<std::int64_t> seats = {};  ///< the server varies fastest, then room

  const LoadRun& at(std::size_t cell, std::size_t load, std::size_t server) const {
    return runs[(cell * targets.loads.size() + load) * targets.servers.size() + server];
  }
  std::int64_t seats_at(std::size_t room, std::size_t server) const {
    return seats[room * targets.servers.size() + server];
  }
  /// Tokens/s over those of the first server.
  double ratio(std::size_t cell, std::size_t load, std::size_t server) const {
    return at(cell, load, server).tokens_per_s / at(cell, load, 0).tokens_per_s;
  }
};

ReportSection section_of(const ServedLoadResults& results);

}  // namespace tiersim
