#include "sim/sweep/space_builder.hpp"

#include <algorithm>
#include <utility>

#include <fmt/format.h>

#include "sim/base/text.hpp"
#include "sim/record/metric_names.hpp"
#include "sim/sweep/metric_magnitude.hpp"

namespace tiersim {
namespace {

std::vector<std::string> names_of(const NameScope& scope) {
  std::vector<std::string> names;
  for (const auto& [name, value] : scope.values) names.push_back(name);
  names.insert(names.end(), scope.broken.begin(), scope.broken.end());
  std::ranges::sort(names);
  names.erase(std::unique(names.begin(), names.end()), names.end());
  return names;
}

std::string hint_of(const std::string& name, const std::vector<std::string>& names) {
  const std::string_view near = nearest(name, names);
  const std::string all = names.empty() ? "there are none" : "there are: " + join(names);
  return near.empty() ? all : fmt::format("did you mean '{}'? {}", near, all);
}

bool uses(const Expression& expression, const std::set<std::string, std::less<>>& names) {
  return std::ranges::any_of(expression.names(),
                             [&](const std::string& name) { return names.contains(name); });
}

}  // namespace

void SpaceBuilder::build(CompiledSpace& space) {
  for (std::size_t g = 0; g < space.grids.size(); ++g) {
    SpaceGrid& grid = space.grids[g];
    NameScope scope = scope_of(grid);
    add_derived(config_.derived, "derived", scope, space, grid);
    const SweepGrid* own = config_.grids.empty() ? nullptr : &config_.grids[g];
    const std::string path = fmt::format("grids.{}", g);
    if (own != nullptr) add_derived(own->derived, path + ".derived", scope, space, grid);
    add_filters(config_.filter, "filter", scope, grid);
    if (own != nullptr) add_filters(own->filter, path + ".filter", scope, grid);
    check_constraints(scope);
  }
  check_objectives();
  check_search();
  add_exclusions(space);
  add_included(space);
}

NameScope SpaceBuilder::scope_of(const SpaceGrid& grid) const {
  NameScope scope;
  scope.broken = broken_;
  scope.grid = grid.name;
  if (!grid.name.empty()) scope.values["grid"] = {grid.name, grid.name};
  for (const AxisGroup& group : grid.groups)
    for (const AxisChoices& axis : group.axes)
      scope.values[axis.name] = {axis.choices.front().value, axis.choices.back().value};
  return scope;
}

std::optional<PlacedExpression> SpaceBuilder::parse(const std::string& text,
                                                    const std::string& path) const {
  auto parsed = Expression::parse(text);
  if (parsed) return PlacedExpression{*std::move(parsed), path};
  places_.report(path, parsed.error());
  return std::nullopt;
}

bool SpaceBuilder::check_names(const PlacedExpression& placed, const NameScope& scope,
                               bool metrics) const {
  bool known = true;
  for (const std::string& name : placed.expression.names()) {
    if (scope.values.contains(name)) continue;
    const auto metric = resolve_metric(name);
    if (metrics && metric) continue;
    known = false;
    if (scope.broken.contains(name)) continue;
    ExpressionError error{placed.expression.offset_of(name), "", ""};
    const std::vector<std::string> names = names_of(scope);
    const std::string where = scope.grid.empty() ? "" : fmt::format(" in grid '{}'", scope.grid);
    if (metric) {
      error.message = fmt::format("'{}' is a metric, which nothing has before it runs", name);
      error.hint = "constraints on metrics stand under subject_to";
    } else if (metrics && nearest(name, names).empty()) {
      error.message = metric.error();
    } else {
      error.message = fmt::format("there is no axis or derived value '{}'{}", name, where);
      error.hint = hint_of(name, names);
    }
    places_.report(placed.path, error);
  }
  return known;
}

std::optional<ExpressionValue> SpaceBuilder::check(const PlacedExpression& placed,
                                                   const NameScope& scope, bool metrics) const {
  if (!check_names(placed, scope, metrics)) return std::nullopt;
  std::optional<ExpressionValue> out;
  for (const bool last : {true, false}) {
    const auto value =
        placed.expression.check([&](std::string_view name) -> std::optional<ExpressionValue> {
          const auto at = scope.values.find(name);
          if (at != scope.values.end()) return last ? at->second.second : at->second.first;
          return metric_magnitude(*resolve_metric(std::string(name)), 1);
        });
    if (!value) {
      places_.report(placed.path, value.error());
      return std::nullopt;
    }
    out = *value;
  }
  return out;
}

void SpaceBuilder::expect_truth(const PlacedExpression& placed, const NameScope& scope,
                                bool metrics, const char* what) const {
  const auto value = check(placed, scope, metrics);
  if (value && !std::holds_alternative<bool>(*value))
    places_.report(placed.path, fmt::format("{} is true or false, not {}", what, kind_noun(*value)),
                   "compare it with something");
}

void SpaceBuilder::add_derived(const std::vector<SweepDerived>& derived, const std::string& path,
                               NameScope& scope, CompiledSpace& space, SpaceGrid& grid) const {
  for (std::size_t i = 0; i < derived.size(); ++i) {
    const SweepDerived& described = derived[i];
    const std::string at = fmt::format("{}.{}", path, i);
    if (places_.is_broken(at)) {
      scope.broken.insert(described.name);
      continue;
    }
    if (scope.values.contains(described.name) || scope.broken.contains(described.name) ||
        described.name == "grid") {
      places_.report(at + ".name", fmt::format("there is already a '{}'", described.name),
                     "axes and derived values need names of their own");
      continue;
    }
    for (const AxisGroup& group : grid.groups)
      for (const AxisChoices& axis : group.axes)
        if (!described.key.empty() && axis.key == described.key)
          places_.report(at + ".key", fmt::format("the axis '{}' varies it already", axis.name));
    auto expression = parse(described.expression, at + ".expression");
    const auto value = expression ? check(*expression, scope, false) : std::nullopt;
    if (!value) {
      scope.broken.insert(described.name);
      continue;
    }
    scope.values[described.name] = {*value, *value};
    scope.derived.insert(described.name);
    const auto* number = std::get_if<Magnitude>(&*value);
    if (number != nullptr && !described.key.empty())
      if (const auto text = setting_text(Magnitude{1, number->dimension}); !text)
        places_.report(at + ".expression", "the value " + text.error());
    const std::size_t column = space.columns.take(described.name);
    space.columns.columns[column].key = described.key;
    space.columns.columns[column].numeric = number != nullptr;
    grid.derived.push_back({described.key, column, std::move(*expression)});
  }
}

void SpaceBuilder::add_filters(const std::vector<std::string>& filters, const std::string& path,
                               const NameScope& scope, SpaceGrid& grid) const {
  for (std::size_t i = 0; i < filters.size(); ++i) {
    auto expression = parse(filters[i], fmt::format("{}.{}", path, i));
    if (!expression) continue;
    expect_truth(*expression, scope, false, "a filter");
    const bool late = uses(expression->expression, scope.derived);
    (late ? grid.filters : grid.early_filters).push_back(std::move(*expression));
  }
}

void SpaceBuilder::check_constraints(const NameScope& scope) const {
  for (std::size_t i = 0; i < config_.subject_to.size(); ++i)
    if (const auto expression = parse(config_.subject_to[i], fmt::format("subject_to.{}", i)))
      expect_truth(*expression, scope, true, "a constraint");
}

// Checked here rather than at reading, so that a mistake in one does not hide these.
void SpaceBuilder::check_search() const {
  if (!config_.search) return;
  if (config_.sample) places_.report("search", "stands beside a sample", "one of the two");
  if (config_.objectives.empty())
    places_.report("search", "has no objectives", "objectives: [{maximize: throughput}]");
  if (!config_.include.empty())
    places_.report("include", "cannot be searched",
                   "a search chooses among the points of the axes");
}

void SpaceBuilder::check_objectives() const {
  std::set<std::string> seen;
  for (std::size_t i = 0; i < config_.objectives.size(); ++i) {
    const SweepObjective& objective = config_.objectives[i];
    if (places_.is_broken(fmt::format("objectives.{}", i))) continue;
    const bool maximize = !objective.maximize.empty();
    const std::string path = fmt::format("objectives.{}.{}", i, maximize ? "maximize" : "minimize");
    const auto metric = resolve_metric(maximize ? objective.maximize : objective.minimize);
    if (!metric)
      places_.report(path, metric.error());
    else if (!seen.insert(*metric).second)
      places_.report(path, fmt::format("{} is an objective already", *metric));
  }
}

}  // namespace tiersim
