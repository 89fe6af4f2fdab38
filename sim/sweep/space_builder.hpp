#pragma once
// Compiles a SPEC into grids, or reports every mistake of it. Internal to sim/sweep.
#include <map>
#include <set>
#include <string>
#include <vector>

#include "sim/sweep/space_grid.hpp"

namespace tiersim {

/// A point of the `include` list.
struct IncludedPoint {
  std::size_t grid = 0;
  std::vector<AxisChoice> choices = {};  ///< for each axis, in the order of the groups
  std::string path = {};
};

struct CompiledSpace {
  SpaceColumns columns = {};
  std::vector<SpaceGrid> grids = {};
  std::vector<IncludedPoint> included = {};
  std::int64_t candidates = 0;  ///< points of the product
};

/// The values of names in a grid: the first and the last value of each, so that expressions can be
/// checked before anything runs.
struct NameScope {
  std::map<std::string, std::pair<ExpressionValue, ExpressionValue>, std::less<>> values = {};
  std::set<std::string, std::less<>> broken = {};  ///< with mistakes that were reported
  std::set<std::string, std::less<>> derived = {};
  std::string grid = {};
};

/// An axis by its name in the SPEC, also if its values have mistakes.
struct NamedAxis {
  std::string name = {};
  std::string key = {};
  std::string path = {};
};

/// Compiles the axes of a SPEC: every group of every grid.
class AxisBuilder {
 public:
  AxisBuilder(const SweepConfig& config, const SpecPlaces& places, const IsCount& is_count)
      : config_(config), places_(places), is_count_(is_count) {}

  /// Adds grids with their groups, and the columns; reports mistakes of axes.
  void build(CompiledSpace& space);
  /// Names of axes whose values have mistakes.
  const std::set<std::string, std::less<>>& broken() const { return broken_; }

 private:
  double most_values(const SweepAxis& axis) const;
  bool fits(std::size_t grid) const;
  void report_too_many(std::size_t grid) const;
  std::vector<AxisGroup> groups(const std::vector<SweepAxisGroup>& groups, const std::string& path);
  std::optional<AxisChoices> expand(const SweepAxis& axis, const std::string& path);
  void expect_equal_sizes(const AxisGroup& group, const std::string& path) const;
  void check_names(const std::vector<NamedAxis>& axes) const;
  void check_keys(const std::vector<NamedAxis>& axes, const SpaceGrid& grid) const;
  void check_scenario(const SpaceGrid& grid, const std::string& path) const;
  void bind(CompiledSpace& space) const;
  std::int64_t count(const CompiledSpace& space) const;

  const SweepConfig& config_;
  const SpecPlaces& places_;
  const IsCount& is_count_;
  std::set<std::string, std::less<>> broken_;
};

/// Compiles expressions and lists of points, after the axes.
class SpaceBuilder {
 public:
  SpaceBuilder(const SweepConfig& config, const SpecPlaces& places,
               const std::set<std::string, std::less<>>& broken)
      : config_(config), places_(places), broken_(broken) {}

  void build(CompiledSpace& space);

 private:
  NameScope scope_of(const SpaceGrid& grid) const;
  void add_derived(const std::vector<SweepDerived>& derived, const std::string& path,
                   NameScope& scope, CompiledSpace& space, SpaceGrid& grid) const;
  void add_filters(const std::vector<std::string>& filters, const std::string& path,
                   const NameScope& scope, SpaceGrid& grid) const;
  void check_constraints(const NameScope& scope) const;
  void check_objectives() const;
  void check_search() const;
  std::optional<PlacedExpression> parse(const std::string& text, const std::string& path) const;
  /// The value if all names have values that fit; reports mistakes otherwise.
  std::optional<ExpressionValue> check(const PlacedExpression& placed, const NameScope& scope,
                                       bool metrics) const;
  bool check_names(const PlacedExpression& placed, const NameScope& scope, bool metrics) const;
  void expect_truth(const PlacedExpression& placed, const NameScope& scope, bool metrics,
                    const char* what) const;
  void add_exclusions(CompiledSpace& space) const;
  void add_included(CompiledSpace& space) const;
  /// The choices in the grid that a match names; nothing if the grid cannot have them.
  std::optional<Exclusion> match_in(const SpaceGrid& grid, const SweepMatch& match) const;
  void report_match(const CompiledSpace& space, const SweepMatch& match,
                    const std::string& path) const;
  std::optional<std::size_t> grid_of(const CompiledSpace& space, const SweepMatch& match,
                                     const std::string& path) const;

  const SweepConfig& config_;
  const SpecPlaces& places_;
  const std::set<std::string, std::less<>>& broken_;
};

}  // namespace tiersim
