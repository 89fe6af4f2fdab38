#include "sim/sweep/objectives.hpp"

#include <algorithm>
#include <cmath>
#include <string_view>
#include <utility>

#include <fmt/format.h>

#include "sim/base/text.hpp"
#include "sim/record/metric_names.hpp"
#include "sim/sweep/metric_magnitude.hpp"
#include "sim/sweep/metric_mistake.hpp"

namespace tiersim {
namespace {

// Splits an error of resolve_metric() into the message and the hint in brackets at its end.
Diagnostic mistake(Location where, const std::string& error) {
  auto [message, hint] = metric_mistake(error);
  return {.where = std::move(where), .message = std::move(message), .hint = std::move(hint)};
}

// The place of a byte in the text of element `index` of subject_to.
Location place_of(const Document& document, std::size_t index, std::size_t offset) {
  Location where = document.locate(fmt::format("subject_to.{}", index));
  const Entry* list = document.root().find("subject_to");
  const bool quoted =
      list != nullptr && index < list->value.items.size() && list->value.items[index].quoted;
  where.column += static_cast<int>(offset) + (quoted ? 1 : 0);
  return where;
}

Diagnostic mistake(const Document& document, std::size_t index, const ExpressionError& error) {
  return {.where = place_of(document, index, error.offset),
          .message = error.message,
          .hint = error.hint,
          .path = fmt::format("subject_to.{}", index)};
}

std::optional<SpacePoint> first_point(const DesignSpace& space) {
  std::optional<SpacePoint> first;
  // An error at some point is reported when the points run.
  static_cast<void>(space.for_each([&](const SpacePoint& point) {
    first = point;
    return false;
  }));
  return first;
}

std::optional<std::string> label_of(const std::vector<std::string>& columns,
                                    const SpacePoint& point, std::string_view name) {
  const auto it = std::ranges::find(columns, name);
  if (it == columns.end()) return std::nullopt;
  return point.labels.at(static_cast<std::size_t>(it - columns.begin()));
}

// Values for checking a condition before anything runs: the labels of one point, and 1 for metrics.
class Names {
 public:
  Names(const std::vector<std::string>& columns, const SpacePoint& point)
      : columns_(columns), point_(point) {}

  std::optional<ExpressionValue> operator()(std::string_view name) const {
    if (const auto label = label_of(columns_, point_, name)) return expression_value(*label);
    const auto metric = resolve_metric(std::string(name));
    if (!metric) return std::nullopt;
    return metric_magnitude(*metric, 1);
  }

  /// The mistake in a name; empty if there is none.
  std::string wrong_with(const std::string& name) const {
    if (label_of(columns_, point_, name)) return "";
    const auto metric = resolve_metric(name);
    if (metric) return "";
    if (const auto near = nearest(name, columns_); !near.empty())
      return fmt::format("'{}' is no axis and no metric (did you mean '{}'?)", name, near);
    return metric.error();
  }

  /// True where the point is on all axes that the expression names.
  bool know(const Expression& expression) const {
    return std::ranges::none_of(expression.names(), [&](const std::string& name) {
      const auto label = label_of(columns_, point_, name);
      return label && label->empty();
    });
  }

 private:
  const std::vector<std::string>& columns_;
  const SpacePoint& point_;
};

// Checks a constraint whose expression parses.
void check_constraint(const Expression& expression, const Names& names, const Document& document,
                      std::size_t index, Diagnostics& diagnostics) {
  bool known = true;
  for (const std::string& name : expression.names()) {
    const std::string wrong = names.wrong_with(name);
    if (wrong.empty()) continue;
    known = false;
    const std::size_t at = std::min(expression.text().find(name), expression.text().size());
    Diagnostic diagnostic = mistake(place_of(document, index, at), wrong);
    diagnostic.path = fmt::format("subject_to.{}", index);
    diagnostics.report(std::move(diagnostic));
  }
  if (!known || !names.know(expression)) return;
  const auto value = expression.check(names);
  if (!value)
    diagnostics.report(mistake(document, index, value.error()));
  else if (!std::holds_alternative<bool>(*value))
    diagnostics.report(
        mistake(document, index,
                {.offset = 0,
                 .message = fmt::format("this is {}, not a condition", kind_noun(*value)),
                 .hint = "compare it: ttft.p99 < 200 ms"}));
}

}  // namespace

std::optional<ObjectiveSet> ObjectiveSet::build(const SweepConfig& config, const DesignSpace& space,
                                                const Document& document,
                                                Diagnostics& diagnostics) {
  Diagnostics own;
  ObjectiveSet out;
  for (const SpaceColumn& column : space.columns()) out.columns_.push_back(column.name);
  for (std::size_t i = 0; i < config.objectives.size(); ++i) {
    const SweepObjective& objective = config.objectives[i];
    const bool maximize = objective.minimize.empty();
    const std::string& name = maximize ? objective.maximize : objective.minimize;
    const std::string path = fmt::format("objectives.{}.{}", i, maximize ? "maximize" : "minimize");
    const auto metric = resolve_metric(name);
    const auto same = [&](const ObjectiveEntry& entry) { return entry.metric == *metric; };
    Diagnostic wrong;
    if (!metric)
      wrong = mistake(document.locate(path), metric.error());
    else if (std::ranges::any_of(out.objectives_, same))
      wrong = mistake(document.locate(path), fmt::format("'{}' is an objective twice", name));
    else
      out.objectives_.push_back(
          {.metric = *metric, .direction = maximize ? Sense::maximize : Sense::minimize});
    wrong.path = path;
    if (!wrong.message.empty()) own.report(std::move(wrong));
  }
  const SpacePoint first = first_point(space).value_or(
      SpacePoint{.labels = std::vector<std::string>(out.columns_.size())});
  for (std::size_t i = 0; i < config.subject_to.size(); ++i) {
    auto constraint = Constraint::parse(config.subject_to[i]);
    if (!constraint) {
      own.report(mistake(document, i, constraint.error()));
      continue;
    }
    check_constraint(constraint->whole(), Names(out.columns_, first), document, i, own);
    out.constraints_.push_back(*std::move(constraint));
  }
  for (Diagnostic& diagnostic : own.list()) diagnostics.report(std::move(diagnostic));
  if (!own.ok()) return std::nullopt;
  return out;
}

Senses ObjectiveSet::directions() const {
  Senses out;
  for (const ObjectiveEntry& entry : objectives_) out.push_back(entry.direction);
  return out;
}

double ObjectiveSet::violation(const SpacePoint& point, const Metrics& metrics) const {
  const auto lookup = [&](std::string_view name) -> std::optional<ExpressionValue> {
    if (const auto label = label_of(columns_, point, name)) {
      if (label->empty()) return std::nullopt;
      return expression_value(*label);
    }
    const auto full = resolve_metric(std::string(name));
    if (!full) return std::nullopt;
    const auto it = metrics.find(*full);
    if (it == metrics.end()) return std::nullopt;
    return metric_magnitude(*full, it->second.value);
  };
  double sum = 0;
  for (const Constraint& constraint : constraints_) sum += constraint.violation(lookup);
  return sum;
}

SearchResult ObjectiveSet::result_of(const SpacePoint& point, const Metrics& metrics) const {
  SearchResult out{.violation = violation(point, metrics)};
  for (const ObjectiveEntry& entry : objectives_) {
    const auto it = metrics.find(entry.metric);
    if (it == metrics.end()) return {};
    out.values.push_back(it->second.value);
  }
  return out;
}

}  // namespace tiersim
