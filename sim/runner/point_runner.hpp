#pragma once
// Simulates points of studies. Studies overlap, so a point that was asked for before is not
// simulated again. Files must not change meanwhile.
#include <map>
#include <memory>
#include <string>
#include <vector>

#include "sim/record/run_record.hpp"
#include "sim/runner/point_loader.hpp"
#include "sim/step/simulate.hpp"

namespace tiersim {

struct PointResult {
  std::shared_ptr<const RunRecord> record;  ///< null where it cannot run:
  std::string problem = {};                 ///< why, in one line
};

class PointRunner {
 public:
  /// The overrides of `options` lie under the settings of every point.
  explicit PointRunner(LoadOptions options) : loader_(std::move(options)) {}

  /// The point's record. What does not fit is a problem of the point; a mistake in its files or
  /// settings goes to `diagnostics`, and the result is then not to be used.
  PointResult run(const Point& point, Evaluation evaluation, Diagnostics& diagnostics);

  /// The same with the largest batch that fits the point's tiers.
  PointResult run_largest_batch(Point point, Diagnostics& diagnostics);

  /// Whether the setting of the point is a count; false where there is none. Mistakes in the point
  /// are no matter here: whoever runs it gets them.
  bool takes_whole_numbers(const Point& point, const std::string& key);

  std::size_t simulated() const { return done_.size(); }

 private:
  PointLoader loader_;
  std::map<std::pair<Point, Evaluation>, PointResult> done_;
};

}  // namespace tiersim
