#pragma once
// The goals of a sweep: metrics to maximize or minimize, and constraints on points.
//
//   const auto wanted = ObjectiveSet::build(config, *space, document, diagnostics);
//   search.tell(point.position, wanted->result_of(point, record.metrics));
//
// A condition sees the axes and derived columns of a point, and its metrics by any name that
// resolve_metric() accepts; an axis hides a metric of the same name.
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "sim/base/pareto.hpp"
#include "sim/config/diagnostics.hpp"
#include "sim/config/document.hpp"
#include "sim/expression/expression.hpp"
#include "sim/record/run_record.hpp"
#include "sim/sweep/design_space.hpp"
#include "sim/sweep/search.hpp"
#include "sim/sweep/sweep_config.hpp"

namespace tiersim {

struct ObjectiveEntry {
  std::string metric = {};  ///< full name, "throughput_tokens_per_s"
  Sense direction = Sense::minimize;
};

/// A constraint, with the distance of a point from it.
class Constraint {
 public:
  static Expected<Constraint, ExpressionError> parse(const std::string& text);

  const Expression& whole() const { return whole_; }
  /// 0 if the constraint holds. For a violated `a < b`, |a - b| over the larger of |a| and |b|,
  /// between 0 and 2; for several joined by `and`, the sum; 1 for any other violated constraint, or
  /// one without a value.
  double violation(const Expression::Lookup& lookup) const;
  /// The constant that the metric of this full name is compared with: 1 s in "ttft.p99 < 1 s". None
  /// where the constraint holds no such comparison.
  std::optional<Magnitude> limit_of(const std::string& metric) const;

 private:
  struct Part {
    Expression condition;
    std::optional<Expression> left;  // for a comparison by <, <=, > or >=
    std::optional<Expression> right;
  };
  explicit Constraint(Expression whole) : whole_(std::move(whole)) {}
  Expression whole_;
  std::vector<Part> parts_;
};

class ObjectiveSet {
 public:
  using Metrics = std::map<std::string, Metric>;

  /// Reports each mistake at its place: unknown metrics, a metric that is an objective twice, and
  /// conditions that do not parse, contain unknown names, compare values of different kinds, or are
  /// not conditions. Nothing if there are any.
  static std::optional<ObjectiveSet> build(const SweepConfig& config, const DesignSpace& space,
                                           const Document& document, Diagnostics& diagnostics);

  const std::vector<ObjectiveEntry>& objectives() const { return objectives_; }
  Senses directions() const;

  /// The sum of the violations of all constraints; 0 if all hold.
  double violation(const SpacePoint& point, const Metrics& metrics) const;
  /// For a search: no values if the record lacks one of the objectives.
  SearchResult result_of(const SpacePoint& point, const Metrics& metrics) const;

 private:
  std::vector<std::string> columns_;
  std::vector<ObjectiveEntry> objectives_;
  std::vector<Constraint> constraints_;
};

}  // namespace tiersim
