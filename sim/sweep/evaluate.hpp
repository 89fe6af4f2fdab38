#pragma once
// One point of a sweep: its configuration, its id, and what a store keeps of its result.
#include <optional>
#include <string>

#include "sim/config/tree.hpp"
#include "sim/runner/point_loader.hpp"
#include "sim/runner/runnable.hpp"
#include "sim/sweep/store.hpp"
#include "sim/sweep/sweep_config.hpp"

namespace tiersim {

struct ReadPoint {
  std::optional<Runnable> config = {};  ///< nothing where it has mistakes
  /// SHA-256 of the canonical configuration, which is the run id of its record; of the point's own
  /// text where it is no configuration.
  std::string id = {};
  std::string problem = {};  ///< why it is none, in one line
};

/// The point's files were prepared. May be called by several threads.
ReadPoint read_point(const PointLoader& loader, const Point& point);
/// The same, with the tree that it was read from.
ReadPoint read_point(const PointLoader& loader, const Point& point, Node& root);

/// Canonical JSON of its configuration, as a record has it; empty where it is none.
std::string configuration_json(const ReadPoint& point);

/// The outcome of a point whose files or settings have mistakes.
PointOutcome failed_point(const Point& point, const Diagnostics& diagnostics);

/// Simulates it: the record's results, or why there are none.
PointOutcome evaluate(const ReadPoint& point, SweepReading reading, SweepKeep keep);

}  // namespace tiersim
