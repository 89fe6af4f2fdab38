#include <algorithm>
#include <limits>
#include <utility>

#include <fmt/format.h>

#include "sim/base/text.hpp"
#include "sim/sweep/space_builder.hpp"

namespace tiersim {
namespace {

constexpr std::int64_t kMostCandidates = 1'000'000'000;
constexpr const char* kGrid = "grid";

std::string key_of(const std::string& option) {
  return option.substr(0, option.find('='));
}

// Calls `visit` with every axis of the grid.
template <class Visit>
void for_each_axis(const SpaceGrid& grid, const Visit& visit) {
  for (const AxisGroup& group : grid.groups)
    for (const AxisChoices& axis : group.axes) visit(axis);
}

bool is_keyword(const std::string& name) {
  for (const char* word : {"and", "or", "not", "in", "true", "false"})
    if (name == word) return true;
  return false;
}

// An axis without a name is reported where it is read.
void add_named(const std::vector<SweepAxisGroup>& groups, const std::string& path,
               std::vector<NamedAxis>& out) {
  const auto add = [&](const SweepAxis& axis, std::string at) {
    if (!axis_name(axis).empty()) out.push_back({axis_name(axis), axis.key, std::move(at)});
  };
  for (std::size_t i = 0; i < groups.size(); ++i) {
    const std::string at = fmt::format("{}.{}", path, i);
    if (groups[i].zip.empty()) add(groups[i].axis, at);
    for (std::size_t z = 0; z < groups[i].zip.size(); ++z)
      add(groups[i].zip[z], fmt::format("{}.zip.{}", at, z));
  }
}

}  // namespace

// The values of an axis, which are not made for it; none where it has a mistake.
double AxisBuilder::most_values(const SweepAxis& axis) const {
  const bool whole = is_count_ && !axis.key.empty() && is_count_(axis.key);
  const auto of_range = [&](const auto& range) {
    const auto parsed = ValueRange::parse(range, whole);
    return parsed ? parsed->most_values() : 0;
  };
  if (axis.range) return of_range(*axis.range);
  if (axis.log_range) return of_range(*axis.log_range);
  return static_cast<double>(axis.values.size() + axis.variants.size());
}

// Reports a grid of too many points before its axes are made.
bool AxisBuilder::fits(std::size_t grid) const {
  double points = 1;
  const auto multiply = [&](const std::vector<SweepAxisGroup>& groups) {
    for (const SweepAxisGroup& group : groups) {
      double least = group.zip.empty() ? most_values(group.axis) : most_values(group.zip.front());
      for (const SweepAxis& axis : group.zip) least = std::min(least, most_values(axis));
      if (least > 0) points *= least;
    }
  };
  multiply(config_.axes);
  if (!config_.grids.empty()) multiply(config_.grids[grid].axes);
  // A count may have fewer values than that, so that a little more may fit still.
  constexpr double kSurely = 10.0 * static_cast<double>(kMostCandidates);
  if (points <= kSurely) return true;
  report_too_many(grid);
  return false;
}

void AxisBuilder::report_too_many(std::size_t grid) const {
  places_.report(config_.grids.empty() ? "axes" : fmt::format("grids.{}", grid),
                 fmt::format("has more than {} points", kMostCandidates),
                 "fewer values, or values that are zipped");
}

void AxisBuilder::build(CompiledSpace& space) {
  for (std::size_t g = 0; g < std::max<std::size_t>(1, config_.grids.size()); ++g)
    if (!fits(g)) return;
  const std::vector<AxisGroup> common = groups(config_.axes, "axes");
  const bool alone = config_.grids.empty();
  if (alone) space.grids.push_back({.scenario = config_.scenario, .set = config_.set});
  std::set<std::string> names;
  for (std::size_t g = 0; g < config_.grids.size(); ++g) {
    const SweepGrid& own = config_.grids[g];
    SpaceGrid& grid = space.grids.emplace_back();
    grid.name = own.name;
    grid.scenario = own.scenario.empty() ? config_.scenario : own.scenario;
    grid.set = config_.set;
    grid.set.insert(grid.set.end(), own.set.begin(), own.set.end());
    if (!own.name.empty() && !names.insert(own.name).second)
      places_.report(fmt::format("grids.{}.name", g),
                     fmt::format("there are two grids '{}'", own.name));
  }
  for (std::size_t g = 0; g < space.grids.size(); ++g) {
    SpaceGrid& grid = space.grids[g];
    grid.groups = common;
    const std::string path = fmt::format("grids.{}", g);
    if (!alone)
      for (AxisGroup& group : groups(config_.grids[g].axes, path + ".axes"))
        grid.groups.push_back(std::move(group));
    std::vector<NamedAxis> axes;
    add_named(config_.axes, "axes", axes);
    if (!alone) add_named(config_.grids[g].axes, path + ".axes", axes);
    check_names(axes);
    check_keys(axes, grid);
    check_scenario(grid, alone ? "" : path);
  }
  bind(space);
  space.candidates = count(space);
}

std::optional<AxisChoices> AxisBuilder::expand(const SweepAxis& axis, const std::string& path) {
  const bool whole = is_count_ && !axis.key.empty() && is_count_(axis.key);
  std::optional<AxisChoices> choices;
  if (!places_.is_broken(path)) choices = expand_axis(axis, path, whole, places_);
  if (!choices) broken_.insert(axis_name(axis));
  return choices;
}

std::vector<AxisGroup> AxisBuilder::groups(const std::vector<SweepAxisGroup>& groups,
                                           const std::string& path) {
  std::vector<AxisGroup> out;
  for (std::size_t i = 0; i < groups.size(); ++i) {
    AxisGroup group;
    const std::string at = fmt::format("{}.{}", path, i);
    bool whole = true;
    const auto add = [&](const SweepAxis& axis, const std::string& axis_path) {
      auto choices = expand(axis, axis_path);
      whole = whole && choices.has_value();
      if (choices) group.axes.push_back(std::move(*choices));
    };
    if (groups[i].zip.empty()) add(groups[i].axis, at);
    for (std::size_t z = 0; z < groups[i].zip.size(); ++z)
      add(groups[i].zip[z], fmt::format("{}.zip.{}", at, z));
    if (group.axes.empty()) continue;
    if (whole) expect_equal_sizes(group, at);
    group.size = std::numeric_limits<std::int64_t>::max();
    for (const AxisChoices& axis : group.axes)
      group.size = std::min(group.size, static_cast<std::int64_t>(axis.choices.size()));
    out.push_back(std::move(group));
  }
  return out;
}

void AxisBuilder::expect_equal_sizes(const AxisGroup& group, const std::string& path) const {
  const std::size_t size = group.axes.front().choices.size();
  std::string sizes;
  bool equal = true;
  for (const AxisChoices& axis : group.axes) {
    equal = equal && axis.choices.size() == size;
    sizes += fmt::format("{}{} has {}", sizes.empty() ? "" : ", ", axis.name, axis.choices.size());
  }
  if (!equal)
    places_.report(path, "axes that move together need as many values each", std::move(sizes));
}

void AxisBuilder::check_names(const std::vector<NamedAxis>& axes) const {
  std::map<std::string, const NamedAxis*> seen;
  for (const NamedAxis& axis : axes) {
    if (is_keyword(axis.name) || (axis.name == kGrid && !config_.grids.empty()))
      places_.report(
          axis.path, fmt::format("an axis cannot be called '{}'", axis.name),
          axis.name == kGrid ? "the column of the grids' names" : "a word of expressions");
    const auto [first, is_new] = seen.emplace(axis.name, &axis);
    if (is_new) continue;
    const bool by_default = first->second->key != axis.key && !axis.key.empty();
    places_.report(axis.path, fmt::format("there are two axes '{}'", axis.name),
                   by_default ? fmt::format("give that of {} a `name:`", axis.key) : "");
  }
}

void AxisBuilder::check_keys(const std::vector<NamedAxis>& axes, const SpaceGrid& grid) const {
  std::map<std::string, const NamedAxis*> by_key;
  for (const NamedAxis& axis : axes) {
    if (axis.key.empty()) continue;
    const auto [first, is_new] = by_key.emplace(axis.key, &axis);
    if (!is_new)
      places_.report(axis.path, fmt::format("'{}' is varied by two axes", axis.key),
                     "one of them would have no effect");
  }
  for_each_axis(grid, [&](const AxisChoices& axis) {
    if (!axis.key.empty()) return;
    for (const AxisChoice& choice : axis.choices)
      for (std::size_t i = 0; i < choice.set.size(); ++i)
        if (const auto at = by_key.find(key_of(choice.set[i])); at != by_key.end())
          places_.report(
              fmt::format("{}.set.{}", choice.path, i),
              fmt::format("'{}' is also varied by the axis '{}'", at->first, at->second->name),
              "one of them would have no effect");
  });
}

void AxisBuilder::check_scenario(const SpaceGrid& grid, const std::string& path) const {
  const AxisChoices* chooses = nullptr;
  for_each_axis(grid, [&](const AxisChoices& axis) {
    const auto has_file = [](const AxisChoice& choice) { return !choice.scenario.empty(); };
    if (std::ranges::none_of(axis.choices, has_file)) return;
    if (chooses != nullptr)
      places_.report(axis.path, "two axes choose the scenario",
                     fmt::format("'{}' does it, too; only the last would count", chooses->name));
    chooses = &axis;
    if (!grid.scenario.empty()) return;
    for (const AxisChoice& choice : axis.choices)
      if (!has_file(choice))
        places_.report(choice.path, fmt::format("'{}' has no scenario", choice.label),
                       "give it one, or one for all at the top");
  });
  const bool may_choose = broken_.empty();  // missing axes may name files
  if (grid.scenario.empty() && chooses == nullptr && may_choose)
    places_.report(path, "there is no scenario to run", "add `scenario: FILE`");
}

void AxisBuilder::bind(CompiledSpace& space) const {
  if (!config_.grids.empty()) space.columns.take(kGrid);
  for (SpaceGrid& grid : space.grids) {
    std::set<std::string> seen;
    for (AxisGroup& group : grid.groups) {
      for (const AxisChoices& axis : group.axes) {
        const bool is_new = !space.columns.find(axis.name);
        group.columns.push_back(space.columns.take(axis.name));
        SpaceColumn& column = space.columns.columns[group.columns.back()];
        if (is_new) column.key = axis.key;
        const bool reported = axis.name == kGrid || !seen.insert(axis.name).second;
        if (column.key != axis.key && !reported)
          places_.report(
              axis.path,
              fmt::format("'{}' is the axis of another setting in another grid", axis.name),
              "give one of them a `name:`");
      }
    }
  }
}

std::int64_t AxisBuilder::count(const CompiledSpace& space) const {
  std::int64_t total = 0;
  for (std::size_t g = 0; g < space.grids.size(); ++g) {
    std::int64_t points = 1;
    for (const AxisGroup& group : space.grids[g].groups)
      if (__builtin_mul_overflow(points, group.size, &points))
        points = std::numeric_limits<std::int64_t>::max();
    if (space.grids[g].groups.empty()) points = 0;  // only the included points
    if (points > kMostCandidates || (total += points) > kMostCandidates) {
      report_too_many(g);
      return 0;
    }
  }
  return total;
}

}  // namespace tiersim
