#pragma once
// The numbers of a device that could change a time, found through its describe(): all numbers with
// a source, and all settings without one that are not in a list (list elements are coordinates or
// weights there). Energies, powers and prices are left out by their units.
//
//   for (DeviceNumber& n : numbers_below(view, "links.0.")) n.set(1.2 * n.value());
//
// A DeviceNumber is valid as long as the members of the configuration do not move.
#include <functional>
#include <string>
#include <vector>

#include "sim/config/fields.hpp"

namespace tiersim {

class DeviceNumber {
 public:
  DeviceNumber(std::string path, detail::ScalarValue target, Limits limits)
      : path_(std::move(path)), target_(target), limits_(std::move(limits)) {}

  const std::string& path() const { return path_; }  ///< from the root of the configuration
  double value() const;                              ///< in base units
  std::string text() const;                          ///< canonical
  /// Counts and quantities are rounded to the nearest whole number of their base unit.
  void set(double value);

  /// Candidates for about `factor` times the value, the nearest first: that product, at least one
  /// unit off and within the limits; the next listed value if only listed values are allowed; and
  /// twice or half. A power of two from 32 B to 4 KiB is a granule or a largest packet, for which
  /// 20 % is impossible: it takes twice or half. Values equal to this one are left out.
  std::vector<double> near(double factor) const;

 private:
  bool is_whole() const;
  bool is_granule() const;

  std::string path_;
  detail::ScalarValue target_;
  Limits limits_;
};

/// The numbers whose path begins with `prefix`, in the order of describe().
std::vector<DeviceNumber> numbers_below(const detail::StructValue& config,
                                        const std::string& prefix);
/// The first failing check of describe(), "path: message"; empty if all hold.
std::string broken_check_of(const detail::StructValue& config);

}  // namespace tiersim
