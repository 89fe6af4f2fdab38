#pragma once
// Simulates points of studies. Studies overlap, so a repeated point is not simulated again. Files
// must not change meanwhile.
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <tuple>
#include <vector>

#include "sim/record/run_record.hpp"
#include "sim/runner/point_loader.hpp"
#include "sim/runner/runnable.hpp"
#include "sim/step/simulate.hpp"

namespace tiersim {

struct PointResult {
  std::shared_ptr<const RunRecord> record;  ///< null if the point cannot run
  std::string problem = {};                 ///< the reason, in one line
};

/// The parts of a record that a PointRunner keeps.
enum class Kept : std::uint8_t {
  all,            ///< also every sourced number
  configuration,  ///< results, run id and configuration, which is many times as large
  results,        ///< results and run id
};

/// Runs a point with prepared files; `kept` is not `all`. Nothing for a point with mistakes or for
/// one that it cannot run: PointRunner then does it itself.
using RunPoint = std::function<std::optional<Expected<RunRecord>>(
    const PointLoader& loader, const Point& point, Evaluation evaluation, Kept kept)>;

class PointRunner {
 public:
  /// The overrides of `options` lie under the settings of every point.
  /// `run`, if any, is tried first: it may know what the points have in common.
  explicit PointRunner(LoadOptions options, Kept kept = Kept::all, RunPoint run = {})
      : loader_(std::move(options)), kept_(kept), run_(std::move(run)) {}
  PointRunner(const PointRunner&) = delete;  // `run_` may refer to the loader
  PointRunner& operator=(const PointRunner&) = delete;

  /// The point's record. If something does not fit, that is the point's problem. A mistake in its
  /// files or settings goes to `diagnostics`, and the result is then invalid.
  PointResult run(const Point& point, Evaluation evaluation, Diagnostics& diagnostics) {
    return run(point, evaluation, kept_, diagnostics);
  }
  PointResult run(const Point& point, Evaluation evaluation, Kept kept, Diagnostics& diagnostics);

  /// The same with the largest batch that fits in the point's tiers.
  PointResult run_largest_batch(Point point, Kept kept, Diagnostics& diagnostics);

  /// The point's configuration. Mistakes in the point are ignored here, since run() reports them.
  Runnable config(const Point& point);
  /// True where the setting of the point is a count; false if there is no such setting.
  bool takes_whole_numbers(const Point& point, const std::string& key);

  std::size_t simulated() const { return done_.size(); }

 private:
  PointLoader loader_;
  Kept kept_;
  RunPoint run_;  // may be empty
  std::map<std::tuple<Point, Evaluation, Kept>, PointResult> done_;
};

}  // namespace tiersim
