#pragma once
// The points of a sweep: made one at a time, in an order that nothing but the SPEC decides, so that
// memory does not grow with them and a point's position is its name in every shard.
#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "sim/config/diagnostics.hpp"
#include "sim/config/document.hpp"
#include "sim/sweep/sweep_config.hpp"

namespace tiersim {

/// One point: what to run, and its place on every axis.
struct SpacePoint {
  std::int64_t position = 0;             ///< from 0, without those that are filtered away
  std::string scenario = {};             ///< file, as the SPEC names it
  std::vector<std::string> set = {};     ///< as --set takes them; a later one wins
  std::vector<std::string> labels = {};  ///< one for each of columns(); empty: not on that axis

  bool operator==(const SpacePoint&) const = default;
};

/// A column of the table of points: an axis or something derived.
struct SpaceColumn {
  std::string name = {};
  std::string key = {};  ///< the setting; empty for variants, and for what is no setting
  bool numeric = false;  ///< every label is a number or a quantity (of one dimension)

  bool operator==(const SpaceColumn&) const = default;
};

/// Whether the setting is a count, so that ranges of it are of whole numbers (count_settings() of
/// setting_check.hpp knows).
using IsCount = std::function<bool(const std::string& key)>;

class DesignSpace {
 public:
  /// Every mistake of the SPEC at its place in the document: expressions that do not parse, names
  /// that no axis has, ends of a range, zipped axes of different lengths, labels that exclude and
  /// include do not find, objectives and constraints that name no metric, a space without points...
  /// Null where there are any. `config` may have mistakes that `diagnostics` has already: what they
  /// are of is passed over, so that all others come up, too. Whether the settings themselves are
  /// any good is setting_check.hpp.
  static std::unique_ptr<DesignSpace> build(const SweepConfig& config, const Document& document,
                                            Diagnostics& diagnostics, const IsCount& is_count = {});
  virtual ~DesignSpace() = default;

  /// "grid" first where there are grids, then axes, then what is derived, as they come in the SPEC.
  virtual const std::vector<SpaceColumn>& columns() const = 0;
  /// Before filters and samples: the product of the axes, and the included points.
  virtual std::int64_t candidates() const = 0;

  /// All points of the sweep (of its sample, where it has one), by position. Stops where `visit`
  /// returns false. The error is a derived value or filter that has none at some point. May be
  /// called by several threads.
  virtual std::optional<Diagnostic> for_each(
      const std::function<bool(const SpacePoint&)>& visit) const = 0;

  // For a search: the space as lattices, one a grid, of which a point is a place on each axis.
  using Coordinates = std::vector<std::int64_t>;
  virtual std::size_t grids() const = 0;
  virtual std::vector<std::int64_t> sizes(std::size_t grid) const = 0;
  /// Nothing where it is filtered away, or where a derived value or filter has none. Its position
  /// is 0.
  virtual std::optional<SpacePoint> at(std::size_t grid, const Coordinates& place) const = 0;
};

}  // namespace tiersim
