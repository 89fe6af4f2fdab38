#pragma once
// What a sweep is after: metrics to maximize or minimize, and conditions that a point must meet.
//
//   const auto wanted = ObjectiveSet::build(config, *space, document, diagnostics);
//   search.tell(point.position, wanted->result_of(point, record.metrics));
//
// A condition sees the axes and derived columns of a point, and its metrics by any name that
// resolve_metric() knows; an axis of the same name hides a metric.
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "sim/base/pareto.hpp"
#include "sim/config/diagnostics.hpp"
#include "sim/config/document.hpp"
#include "sim/record/run_record.hpp"
#include "sim/sweep/design_space.hpp"
#include "sim/sweep/expression.hpp"
#include "sim/sweep/search.hpp"
#include "sim/sweep/sweep_config.hpp"

namespace tiersim {

struct ObjectiveEntry {
  std::string metric = {};  ///< full name, "throughput_tokens_per_s"
  Sense direction = Sense::minimize;
};

/// A condition, with how far a point is from it.
class Constraint {
 public:
  static Expected<Constraint, ExpressionError> parse(const std::string& text);

  const Expression& whole() const { return whole_; }
  /// 0 where it holds. Of `a < b` that does not hold |a - b| over the larger of |a| and |b|,
  /// between 0 and 2; of several joined by `and` the sum; 1 of anything else that does not hold,
  /// and where it has no value.
  double violation(const Expression::Lookup& lookup) const;

 private:
  struct Part {
    Expression condition;
    std::optional<Expression> left;  // of a comparison by <, <=, > or >=
    std::optional<Expression> right;
  };
  explicit Constraint(Expression whole) : whole_(std::move(whole)) {}
  Expression whole_;
  std::vector<Part> parts_;
};

class ObjectiveSet {
 public:
  using Metrics = std::map<std::string, Metric>;

  /// Unknown metrics, a metric that is an objective twice, conditions that do not parse, have names
  /// that are neither axis nor metric, compare what cannot be compared or are no conditions, each
  /// at its place. Nothing where there are any.
  static std::optional<ObjectiveSet> build(const SweepConfig& config, const DesignSpace& space,
                                           const Document& document, Diagnostics& diagnostics);

  const std::vector<ObjectiveEntry>& objectives() const { return objectives_; }
  Senses directions() const;

  /// How far the conditions are from holding, all together; 0 where all hold.
  double violation(const SpacePoint& point, const Metrics& metrics) const;
  /// For a search: no values where the record lacks one of the objectives.
  SearchResult result_of(const SpacePoint& point, const Metrics& metrics) const;

 private:
  std::vector<std::string> columns_;
  std::vector<ObjectiveEntry> objectives_;
  std::vector<Constraint> constraints_;
};

}  // namespace tiersim
