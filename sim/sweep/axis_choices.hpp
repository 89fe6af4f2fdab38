#pragma once
// An axis of a SPEC with all its values: labels, their values in expressions, and settings.
// Internal to sim/sweep.
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "sim/expression/expression.hpp"
#include "sim/sweep/axis_range.hpp"
#include "sim/sweep/spec_places.hpp"

namespace tiersim {

struct AxisChoice {
  std::string label = {};
  ExpressionValue value = {};
  std::vector<std::string> set = {};
  std::string scenario = {};  ///< empty: that of the sweep or grid
  std::string path = {};      ///< place in the SPEC: "axes.0.values.2"
};

struct AxisChoices {
  std::string name = {};
  std::string key = {};   ///< empty for variants
  std::string path = {};  ///< "axes.0", "grids.1.axes.0.zip.2"
  std::vector<AxisChoice> choices = {};
  std::optional<ValueRange> range = {};

  /// The choice with this label or value ("64 KiB" is "65536 B"); nothing if there is none.
  std::optional<std::size_t> find(const std::string& label) const;
  std::vector<std::string> labels() const;
  /// Any value of its key, or one of its variants; nothing if there is no such variant.
  std::optional<AxisChoice> choose(const std::string& label) const;
  /// For an axis with a range: the value at this share of the range (ValueRange::label_at).
  AxisChoice choose_at(double share, std::int64_t parts) const;
};

/// Nothing if a mistake leaves the axis without values; mistakes are reported. `whole` is true
/// where the setting is a count.
std::optional<AxisChoices> expand_axis(const SweepAxis& axis, const std::string& path, bool whole,
                                       const SpecPlaces& places);

}  // namespace tiersim
