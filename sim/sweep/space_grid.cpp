#include "sim/sweep/space_grid.hpp"

#include <algorithm>
#include <utility>

#include <fmt/format.h>

#include "sim/base/check.hpp"

namespace tiersim {
namespace {

bool is_excluded(const SpaceGrid& grid, const GridPlace& place) {
  return std::ranges::any_of(grid.exclusions, [&](const Exclusion& exclusion) {
    return std::ranges::all_of(exclusion, [&](const auto& at) {
      return place[at.first].share < 0 && place[at.first].index == at.second;
    });
  });
}

std::string place_text(const SpaceGrid& grid, const SpacePoint& point) {
  std::string out = grid.name.empty() ? "" : "grid = " + grid.name;
  for (const AxisGroup& group : grid.groups)
    for (std::size_t i = 0; i < group.axes.size(); ++i)
      out += fmt::format("{}{} = {}", out.empty() ? "" : ", ", group.axes[i].name,
                         point.labels[group.columns[i]]);
  return out;
}

}  // namespace

std::optional<SpaceGrid::At> SpaceGrid::find_axis(const std::string& axis) const {
  for (std::size_t g = 0; g < groups.size(); ++g)
    for (std::size_t a = 0; a < groups[g].axes.size(); ++a)
      if (groups[g].axes[a].name == axis) return At{g, a};
  return std::nullopt;
}

std::vector<std::string> SpaceGrid::axis_names() const {
  std::vector<std::string> names;
  for (const AxisGroup& group : groups)
    for (const AxisChoices& axis : group.axes) names.push_back(axis.name);
  return names;
}

std::optional<std::size_t> SpaceColumns::find(std::string_view name) const {
  for (std::size_t i = 0; i < columns.size(); ++i)
    if (columns[i].name == name) return i;
  return std::nullopt;
}

std::size_t SpaceColumns::take(const std::string& name) {
  if (const auto at = find(name)) return *at;
  columns.push_back({.name = name});
  return columns.size() - 1;
}

void PointMaker::begin(const SpaceGrid& grid, SpacePoint& point) {
  values_.assign(columns_.columns.size(), std::nullopt);
  point.position = 0;
  point.scenario = grid.scenario;
  point.set = grid.set;
  point.labels.resize(columns_.columns.size());
  for (std::string& label : point.labels) label.clear();
  if (grid.name.empty()) return;
  point.labels[0] = grid.name;
  values_[0] = grid.name;
}

void PointMaker::put(const AxisChoice& choice, std::size_t column, SpacePoint& point) {
  point.labels[column] = choice.label;
  values_[column] = choice.value;
  point.set.insert(point.set.end(), choice.set.begin(), choice.set.end());
  if (!choice.scenario.empty()) point.scenario = choice.scenario;
}

bool PointMaker::make(const SpaceGrid& grid, const GridPlace& place, SpacePoint& point) {
  TS_EXPECTS(place.size() == grid.groups.size(), place.size());
  if (is_excluded(grid, place)) return false;
  begin(grid, point);
  for (std::size_t g = 0; g < place.size(); ++g) {
    const AxisGroup& group = grid.groups[g];
    if (place[g].share >= 0) {
      const AxisChoices& axis = group.axes.front();
      put(axis.choose_at(place[g].share, place[g].parts), group.columns.front(), point);
      continue;
    }
    for (std::size_t a = 0; a < group.axes.size(); ++a)
      put(group.axes[a].choices[static_cast<std::size_t>(place[g].index)], group.columns[a], point);
  }
  for (const PlacedExpression& filter : grid.early_filters)
    if (!holds(grid, filter, point)) return false;
  derive(grid, point);
  return std::ranges::all_of(
      grid.filters, [&](const PlacedExpression& filter) { return holds(grid, filter, point); });
}

void PointMaker::make(const SpaceGrid& grid, const std::vector<AxisChoice>& choices,
                      SpacePoint& point) {
  begin(grid, point);
  std::size_t next = 0;
  for (const AxisGroup& group : grid.groups)
    for (const std::size_t column : group.columns) put(choices[next++], column, point);
  TS_EXPECTS(next == choices.size(), next);
  derive(grid, point);
}

ExpressionValue PointMaker::evaluate(const SpaceGrid& grid, const PlacedExpression& placed,
                                     const SpacePoint& point) const {
  auto value =
      placed.expression.evaluate([this](std::string_view name) -> std::optional<ExpressionValue> {
        const auto column = columns_.find(name);
        return column ? values_[*column] : std::nullopt;
      });
  if (!value) throw Fault{placed.path, value.error(), place_text(grid, point)};
  return *std::move(value);
}

bool PointMaker::holds(const SpaceGrid& grid, const PlacedExpression& placed,
                       const SpacePoint& point) const {
  const ExpressionValue value = evaluate(grid, placed, point);
  if (const bool* truth = std::get_if<bool>(&value)) return *truth;
  throw Fault{placed.path,
              {0, fmt::format("a filter is true or false, not {}", kind_noun(value)), ""},
              place_text(grid, point)};
}

void PointMaker::derive(const SpaceGrid& grid, SpacePoint& point) {
  for (const DerivedColumn& derived : grid.derived) {
    ExpressionValue value = evaluate(grid, derived.value, point);
    point.labels[derived.column] = label_text(value);
    if (!derived.key.empty()) {
      const auto text = setting_text(value);
      if (!text)
        throw Fault{
            derived.value.path, {0, "the value " + text.error(), ""}, place_text(grid, point)};
      point.set.push_back(derived.key + '=' + *text);
    }
    values_[derived.column] = std::move(value);
  }
}

}  // namespace tiersim
