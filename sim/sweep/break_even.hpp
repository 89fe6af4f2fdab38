#pragma once
// The `break_even` question of a SPEC: for each point with certain labels on one axis, the value of
// a setting at which a metric of the point equals that of its reference, which is the point with
// another label on this axis and the same labels on all others.
//
//   const auto question = BreakEvenQuestion::build(config, *space, document, loader, diagnostics);
//   BreakEvenSolver solver(loader, *question, reading);      // one a thread
//   outcome.answer = solver.answer(point);                   // JSON, or empty
//
// Method: both ends of the range tell whether the better of the two changes. If it does, solve()
// finds the value. With `reading: all` the search is repeated for every draw of the points'
// uncertain numbers (sim/config/resample.hpp). A number that both configurations hold at the same
// path is drawn equally for both, so that what they share cancels out. A draw begins at the value
// of the best numbers and brackets its own crossing, by steps along the slope and then by false
// position (Illinois), to 0.2 % of the value.
//
// Assumption: the difference changes its sign once within the range. Left out: servers, whose
// tails have noise.
#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "sim/base/pareto.hpp"
#include "sim/record/break_even_record.hpp"
#include "sim/runner/point_loader.hpp"
#include "sim/runner/setting_range.hpp"
#include "sim/sweep/design_space.hpp"
#include "sim/sweep/sweep_config.hpp"

namespace tiersim {

class BreakEvenQuestion {
 public:
  /// Reports every mistake at its place in the SPEC; nothing if there are any, or if the SPEC asks
  /// nothing. The files of all points are loaded.
  static std::shared_ptr<const BreakEvenQuestion> build(const SweepConfig& config,
                                                        const DesignSpace& space,
                                                        const Document& document,
                                                        const PointLoader& loader,
                                                        Diagnostics& diagnostics);

  struct Reference {
    std::string label = {};
    const Point* point = nullptr;  ///< null if the sweep has no such point
  };
  /// Nothing for a point that is not asked about.
  std::optional<Reference> reference_of(const SpacePoint& point) const;

  const SettingRange& range() const { return *range_; }
  const std::string& metric() const { return metric_; }
  Sense sense() const { return sense_; }

 private:
  std::string place_of(const SpacePoint& point, const std::string& label) const;
  void find_references(const DesignSpace& space);

  std::size_t axis_ = 0;
  std::map<std::string, std::string> against_;
  std::optional<SettingRange> range_;
  std::string metric_;
  Sense sense_ = Sense::maximize;
  std::map<std::string, Point> references_;  // by their labels
};

/// Reports axes of `summary` that there are not.
void check_summary(const SweepConfig& config, const DesignSpace& space, const Document& document,
                   Diagnostics& diagnostics);

/// Answers the question for one point after another.
class BreakEvenSolver {
 public:
  /// All arguments outlive the solver.
  BreakEvenSolver(const PointLoader& loader, const BreakEvenQuestion& question,
                  SweepReading reading);
  BreakEvenSolver(const BreakEvenSolver&) = delete;
  BreakEvenSolver& operator=(const BreakEvenSolver&) = delete;
  ~BreakEvenSolver();

  /// The answer as JSON (break_even_record.hpp) for a point that runs. Empty for a point that is
  /// not asked about.
  std::string answer(const SpacePoint& point);
  bool is_asked(const SpacePoint& point) const { return question_.reference_of(point).has_value(); }

 private:
  struct Drawn;
  const Drawn& reference(const Point& point, std::int64_t draws, std::int64_t seed);

  const PointLoader& loader_;
  const BreakEvenQuestion& question_;
  bool draws_;
  std::vector<std::unique_ptr<Drawn>> references_;  // the most recently used first
};

}  // namespace tiersim
