// Points given by their labels: excluded ones and included ones.
#include <algorithm>
#include <utility>

#include <fmt/format.h>

#include "sim/base/text.hpp"
#include "sim/sweep/space_builder.hpp"

namespace tiersim {
namespace {

std::string choice_hint(const std::string& name, const std::vector<std::string>& names) {
  constexpr std::size_t kMost = 12;
  // Numbers are not misspelt, so they get no suggestion.
  const bool is_text = std::holds_alternative<std::string>(expression_value(name));
  const std::string_view near = is_text ? nearest(name, names) : std::string_view();
  const std::vector<std::string> some(
      names.begin(), names.begin() + static_cast<std::ptrdiff_t>(std::min(kMost, names.size())));
  const std::string all =
      "one of: " + join(some) +
      (names.size() > kMost ? fmt::format(" and {} more", names.size() - kMost) : "");
  return near.empty() ? all : fmt::format("did you mean '{}'? {}", near, all);
}

constexpr const char* kGrid = "grid";

// Names of all axes, or labels of one axis, over all grids.
std::vector<std::string> all_axes(const CompiledSpace& space) {
  std::vector<std::string> names;
  for (const SpaceGrid& grid : space.grids)
    for (const std::string& name : grid.axis_names())
      if (std::ranges::find(names, name) == names.end()) names.push_back(name);
  return names;
}
std::vector<std::string> all_labels(const CompiledSpace& space, const std::string& axis) {
  std::vector<std::string> labels;
  for (const SpaceGrid& grid : space.grids) {
    const auto at = grid.find_axis(axis);
    if (!at) continue;
    for (const std::string& label : grid.groups[at->group].axes[at->axis].labels())
      if (std::ranges::find(labels, label) == labels.end()) labels.push_back(label);
  }
  return labels;
}
std::vector<std::string> grid_names(const CompiledSpace& space) {
  std::vector<std::string> names;
  for (const SpaceGrid& grid : space.grids) names.push_back(grid.name);
  return names;
}

}  // namespace

std::optional<Exclusion> SpaceBuilder::match_in(const SpaceGrid& grid,
                                                const SweepMatch& match) const {
  Exclusion out;
  for (const auto& [axis, label] : match) {
    if (axis == kGrid && !grid.name.empty()) {
      if (label != grid.name) return std::nullopt;
      continue;
    }
    const auto at = grid.find_axis(axis);
    if (!at) return std::nullopt;
    const auto index = grid.groups[at->group].axes[at->axis].find(label);
    if (!index) return std::nullopt;
    const auto chosen = static_cast<std::int64_t>(*index);
    for (const auto& [group, other] : out)
      if (group == at->group && other != chosen) return std::nullopt;  // zipped with another label
    out.emplace_back(at->group, chosen);
  }
  return out;
}

// Reports the reason why no grid has points with these labels.
void SpaceBuilder::report_match(const CompiledSpace& space, const SweepMatch& match,
                                const std::string& path) const {
  bool reported = false;
  for (const auto& [axis, label] : match) {
    const SweepMatch one{{axis, label}};
    const bool is_grid = axis == kGrid && !config_.grids.empty();
    const std::vector<std::string> labels = is_grid ? grid_names(space) : all_labels(space, axis);
    if (broken_.contains(axis)) {
      reported = true;
    } else if (labels.empty()) {
      places_.report_key(path, axis, fmt::format("there is no axis '{}'", axis),
                         choice_hint(axis, all_axes(space)));
      reported = true;
    } else if (std::ranges::find(labels, label) == labels.end() &&
               std::ranges::none_of(space.grids, [&](const SpaceGrid& grid) {
                 return match_in(grid, one).has_value();
               })) {
      places_.report_value(path, axis, fmt::format("'{}' has no '{}'", axis, label),
                           choice_hint(label, labels));
      reported = true;
    }
  }
  if (!reported) places_.report(path, "no point has these labels together");
}

void SpaceBuilder::add_exclusions(CompiledSpace& space) const {
  for (std::size_t i = 0; i < config_.exclude.size(); ++i) {
    const SweepMatch& match = config_.exclude[i];
    const std::string path = fmt::format("exclude.{}", i);
    if (places_.is_broken(path)) continue;
    if (match.empty()) {
      places_.report(path, "names no axis", "labels by axis: {method: Quest, context: 8192}");
      continue;
    }
    bool found = false;
    for (SpaceGrid& grid : space.grids) {
      auto exclusion = match_in(grid, match);
      if (!exclusion) continue;
      found = true;
      grid.exclusions.push_back(std::move(*exclusion));
    }
    if (!found) report_match(space, match, path);
  }
}

std::optional<std::size_t> SpaceBuilder::grid_of(const CompiledSpace& space,
                                                 const SweepMatch& match,
                                                 const std::string& path) const {
  if (config_.grids.empty()) return 0;
  const auto named = match.find(kGrid);
  const std::vector<std::string> names = grid_names(space);
  if (named == match.end()) {
    places_.report(path, "says of no grid which it is of", "grid: " + join(names, " or "));
    return std::nullopt;
  }
  const auto at = std::ranges::find(names, named->second);
  if (at != names.end()) return static_cast<std::size_t>(at - names.begin());
  places_.report_value(path, kGrid, fmt::format("there is no grid '{}'", named->second),
                       choice_hint(named->second, names));
  return std::nullopt;
}

void SpaceBuilder::add_included(CompiledSpace& space) const {
  for (std::size_t i = 0; i < config_.include.size(); ++i) {
    const SweepMatch& match = config_.include[i];
    const std::string path = fmt::format("include.{}", i);
    if (places_.is_broken(path)) continue;
    const auto g = grid_of(space, match, path);
    if (!g) continue;
    const SpaceGrid& grid = space.grids[*g];
    for (const auto& [axis, label] : match)
      if (!grid.find_axis(axis) && !(axis == kGrid && !grid.name.empty()) &&
          !broken_.contains(axis))
        places_.report_key(path, axis, fmt::format("there is no axis '{}'", axis),
                           choice_hint(axis, grid.axis_names()));
    IncludedPoint point{.grid = *g, .path = path};
    for (const AxisGroup& group : grid.groups) {
      for (const AxisChoices& axis : group.axes) {
        const auto label = match.find(axis.name);
        if (label == match.end()) {
          places_.report(path, fmt::format("leaves out the axis '{}'", axis.name),
                         "a single point has a label for every axis");
          continue;
        }
        auto choice = axis.choose(label->second);
        if (!choice) {
          places_.report_value(path, axis.name,
                               fmt::format("'{}' has no '{}'", axis.name, label->second),
                               choice_hint(label->second, axis.labels()));
          continue;
        }
        choice->path = path + '.' + axis.name;
        point.choices.push_back(std::move(*choice));
      }
    }
    space.included.push_back(std::move(point));
  }
}

}  // namespace tiersim
