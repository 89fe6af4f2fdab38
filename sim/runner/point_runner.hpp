#pragma once
// Simulates points of studies. Studies overlap, so a repeated point is not simulated again. Files
// must not change meanwhile.
#include <map>
#include <memory>
#include <string>
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

class PointRunner {
 public:
  /// The overrides of `options` lie under the settings of every point.
  explicit PointRunner(LoadOptions options, Provenance provenance = Provenance::full)
      : loader_(std::move(options)), provenance_(provenance) {}

  /// The point's record. If something does not fit, that is the point's problem. A mistake in its
  /// files or settings goes to `diagnostics`, and the result is then invalid.
  PointResult run(const Point& point, Evaluation evaluation, Diagnostics& diagnostics);

  /// The same with the largest batch that fits in the point's tiers.
  PointResult run_largest_batch(Point point, Diagnostics& diagnostics);

  /// The point's configuration. Mistakes in the point are ignored here, since run() reports them.
  Runnable config(const Point& point);
  /// True where the setting of the point is a count; false if there is no such setting.
  bool takes_whole_numbers(const Point& point, const std::string& key);

  std::size_t simulated() const { return done_.size(); }

 private:
  PointLoader loader_;
  Provenance provenance_;  // of the records that are kept
  std::map<std::pair<Point, Evaluation>, PointResult> done_;
};

}  // namespace tiersim
