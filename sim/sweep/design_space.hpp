#pragma once
// The points of a sweep, made one at a time in an order that only the SPEC decides. So memory does
// not grow with their number, and a point's position identifies it in every shard.
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

/// One point: its scenario and settings, and its place on every axis.
struct SpacePoint {
  std::int64_t position = 0;             ///< from 0; filtered points do not count
  std::string scenario = {};             ///< file, as the SPEC names it
  std::vector<std::string> set = {};     ///< as --set takes them; a later setting wins
  std::vector<std::string> labels = {};  ///< one per columns(); empty: not on that axis

  bool operator==(const SpacePoint&) const = default;
};

/// A column of the table of points: an axis or a derived value.
struct SpaceColumn {
  std::string name = {};
  std::string key = {};  ///< the setting; empty for variants and for values that set nothing
  bool numeric = false;  ///< every label is a number or a quantity (of one dimension)

  bool operator==(const SpaceColumn&) const = default;
};

/// True where the setting is a count, so that its ranges are of whole numbers (count_settings() of
/// setting_check.hpp makes this function).
using IsCount = std::function<bool(const std::string& key)>;

class DesignSpace {
 public:
  /// Reports every mistake of the SPEC at its place in the document: expressions that do not parse,
  /// names without an axis, ends of a range, zipped axes of different lengths, unknown labels in
  /// exclude and include, objectives and constraints without a known metric, a space without
  /// points, and so on. Null if there are any. `config` may have mistakes that are already in
  /// `diagnostics`: their values are skipped, so that all other mistakes are reported too.
  /// setting_check.hpp checks the settings themselves.
  static std::unique_ptr<DesignSpace> build(const SweepConfig& config, const Document& document,
                                            Diagnostics& diagnostics, const IsCount& is_count = {});
  virtual ~DesignSpace() = default;

  /// "grid" first if there are grids, then axes, then derived values, in the order of the SPEC.
  virtual const std::vector<SpaceColumn>& columns() const = 0;
  /// The size of the product of the axes plus the included points, before filters and samples.
  virtual std::int64_t candidates() const = 0;

  /// Visits all points of the sweep (or of its sample) by position, until `visit` returns false.
  /// The error is a derived value or filter without a value at some point. Several threads may call
  /// it at once.
  virtual std::optional<Diagnostic> for_each(
      const std::function<bool(const SpacePoint&)>& visit) const = 0;

  // For a search: the space as one lattice a grid, in which a point is a place on each axis.
  using Coordinates = std::vector<std::int64_t>;
  virtual std::size_t grids() const = 0;
  virtual std::vector<std::int64_t> sizes(std::size_t grid) const = 0;
  /// The point at a place, with position 0. Nothing if it is filtered, or if a derived value or
  /// filter has no value.
  virtual std::optional<SpacePoint> at(std::size_t grid, const Coordinates& place) const = 0;
};

}  // namespace tiersim
