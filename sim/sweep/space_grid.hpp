#pragma once
// One grid of a design space, compiled: its axes with all values, its expressions parsed, every
// name bound to a column. Internal to sim/sweep.
#include <cstdint>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "sim/sweep/axis_choices.hpp"
#include "sim/sweep/design_space.hpp"

namespace tiersim {

/// Axes that change together.
struct AxisGroup {
  std::vector<AxisChoices> axes = {};
  std::vector<std::size_t> columns = {};  ///< one per axis
  std::int64_t size = 0;                  ///< number of choices of each axis
};

/// An expression with its place in the SPEC.
struct PlacedExpression {
  Expression expression;
  std::string path;
};

struct DerivedColumn {
  std::string key = {};
  std::size_t column = 0;
  PlacedExpression value;
};

/// An excluded combination of choices: pairs of a group and its choice.
using Exclusion = std::vector<std::pair<std::size_t, std::int64_t>>;

struct SpaceGrid {
  std::string name = {};  ///< empty if the sweep has no grids
  std::string scenario = {};
  std::vector<std::string> set = {};
  std::vector<AxisGroup> groups = {};
  std::vector<DerivedColumn> derived = {};
  std::vector<PlacedExpression> early_filters = {};  ///< only of axes: before derived values
  std::vector<PlacedExpression> filters = {};
  std::vector<Exclusion> exclusions = {};

  /// The group and axis of a name.
  struct At {
    std::size_t group = 0;
    std::size_t axis = 0;
  };
  std::optional<At> find_axis(const std::string& axis) const;
  std::vector<std::string> axis_names() const;
};

/// A choice on a group: one of its values, or a share of its range.
struct GroupChoice {
  std::int64_t index = 0;
  double share = -1;       ///< below 0: the choice `index`
  std::int64_t parts = 1;  ///< number of parts of the range
};

/// A choice on every group, and for included points the choices themselves.
using GridPlace = std::vector<GroupChoice>;

/// Columns of all grids, with their values in expressions.
struct SpaceColumns {
  std::vector<SpaceColumn> columns = {};

  std::optional<std::size_t> find(std::string_view name) const;
  /// The index of the column of this name, which is added if it is missing.
  std::size_t take(const std::string& name);
};

/// Makes points of a grid. It keeps buffers, so each thread needs its own.
class PointMaker {
 public:
  explicit PointMaker(const SpaceColumns& columns) : columns_(columns) {}

  /// A derived value or filter without a value at a point.
  struct Fault {
    std::string path = {};
    ExpressionError error = {};
    std::string point = {};  ///< "batch = 4, method = Quest"
  };

  /// True where the place is a point, which is then written to `point` without its position. Throws
  /// Fault.
  bool make(const SpaceGrid& grid, const GridPlace& place, SpacePoint& point);
  /// An included point with these choices, one per axis in the order of the groups; not filtered.
  void make(const SpaceGrid& grid, const std::vector<AxisChoice>& choices, SpacePoint& point);

 private:
  void begin(const SpaceGrid& grid, SpacePoint& point);
  void put(const AxisChoice& choice, std::size_t column, SpacePoint& point);
  ExpressionValue evaluate(const SpaceGrid& grid, const PlacedExpression& placed,
                           const SpacePoint& point) const;
  bool holds(const SpaceGrid& grid, const PlacedExpression& placed, const SpacePoint& point) const;
  void derive(const SpaceGrid& grid, SpacePoint& point);

  const SpaceColumns& columns_;
  std::vector<std::optional<ExpressionValue>> values_;  // by column
  AxisChoice continuous_;
};

}  // namespace tiersim
