#pragma once
// One point of a sweep: its configuration, its id, and the part of its result that a store keeps.
#include <memory>
#include <optional>
#include <string>

#include "sim/config/tree.hpp"
#include "sim/runner/point_loader.hpp"
#include "sim/runner/runnable.hpp"
#include "sim/step/repeated_step.hpp"
#include "sim/sweep/store.hpp"
#include "sim/sweep/sweep_config.hpp"

namespace tiersim {

struct ReadPoint {
  std::optional<Runnable> config = {};  ///< nothing if it has mistakes
  /// SHA-256 of the canonical configuration, which is the run id of its record. For a point with
  /// mistakes, SHA-256 of the point's own text.
  std::string id = {};
  std::string problem = {};  ///< the mistakes, in one line
  /// What runs of points that differ only in numbers have in common; null for a single point.
  std::shared_ptr<RepeatedStep> repeated = {};
};

/// Reads a point whose files are prepared. Several threads may call it at once.
ReadPoint read_point(const PointLoader& loader, const Point& point);
/// The same without the id of a point without mistakes; gives the tree of the configuration.
ReadPoint read_point_without_id(const PointLoader& loader, const Point& point, Node& root);

/// Canonical JSON of its configuration, as in a record; empty if the point has mistakes.
std::string configuration_json(const ReadPoint& point);

/// The outcome of a point with mistakes in its files or settings.
PointOutcome failed_point(const Point& point, const Diagnostics& diagnostics);

/// Simulates the point; gives the record's results, or the reason why there are none.
PointOutcome evaluate(const ReadPoint& point, SweepReading reading, SweepKeep keep);

}  // namespace tiersim
