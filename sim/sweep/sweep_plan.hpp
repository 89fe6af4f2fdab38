#pragma once
// A SPEC ready to run: read and checked completely, with every file that its points name. A store
// identifies it as the same sweep in every shard and in a later --resume.
#include <filesystem>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "sim/config/document.hpp"
#include "sim/runner/point_loader.hpp"
#include "sim/sweep/break_even.hpp"
#include "sim/sweep/design_space.hpp"
#include "sim/sweep/objectives.hpp"
#include "sim/sweep/store.hpp"
#include "sim/sweep/sweep_config.hpp"

namespace tiersim {

using SweepInputs = std::vector<std::pair<Point, std::string>>;  ///< files -> their snapshot

class SweepPlan {
 public:
  /// Every mistake of SPEC and of its files goes to `diagnostics`; null if there are any.
  /// `options.overrides` lie over the SPEC itself.
  static std::unique_ptr<SweepPlan> make(const std::filesystem::path& spec,
                                         const LoadOptions& options, Diagnostics& diagnostics);

  /// The last sweep of this SPEC in the store, with the stored files: only SPEC is read. Null if
  /// the store has none, or SPEC has mistakes.
  static std::unique_ptr<SweepPlan> resume(const std::filesystem::path& spec,
                                           const LoadOptions& options, SweepStore& store);

  const SweepConfig& config() const { return config_; }
  const DesignSpace& space() const { return *space_; }
  const ObjectiveSet& objectives() const { return *objectives_; }
  PointLoader& loader() { return *loader_; }
  /// The question of break-even; null where the SPEC asks none.
  const BreakEvenQuestion* break_even() const { return break_even_.get(); }
  /// The sweep for the store, with number 0: no store has it yet.
  const StoredSweep& sweep() const { return sweep_; }
  /// The files of the points, as the sweep began.
  const SweepInputs& inputs() const { return inputs_; }

  /// Continues with the stored files, which replace the loaded ones.
  void adopt(const StoredSweep& sweep, SweepInputs inputs);
  /// Reads the files of a point that a search has chosen; false if they have mistakes.
  bool prepare(const SpacePoint& point, Diagnostics& diagnostics);

 private:
  SweepPlan() = default;
  Document read_spec(const std::filesystem::path& spec, const LoadOptions& options,
                     Diagnostics& diagnostics);

  SweepConfig config_;
  std::unique_ptr<DesignSpace> space_;
  std::optional<ObjectiveSet> objectives_;
  std::unique_ptr<PointLoader> loader_;
  std::shared_ptr<const BreakEvenQuestion> break_even_;
  StoredSweep sweep_;
  SweepInputs inputs_;
};

/// The last sweep of this SPEC (canonical JSON) by this version in the store.
std::optional<StoredSweep> last_of(SweepStore& store, const std::string& spec,
                                   std::string_view version);

/// The scenario and settings of a point.
inline Point point_of(const SpacePoint& point) {
  return {point.scenario, point.set};
}

/// Loads the inputs of a store, so that no file is read.
void adopt_inputs(PointLoader& loader, const SweepInputs& inputs);

/// The text of StoredSweep::extent.
std::string extent_text(SweepReading reading, SweepKeep keep);
std::pair<SweepReading, SweepKeep> extent_of(const StoredSweep& sweep);

}  // namespace tiersim
