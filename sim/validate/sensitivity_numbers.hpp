#pragma once
// The numbers of a device that could change how long something takes, found by its describe(): all
// that say their source, and all settings without one that stand in no list (elements of a list are
// coordinates or weights there). What is an energy, a power or a price is left out by its unit.
//
//   for (DeviceNumber& n : numbers_below(view, "links.0.")) n.set(1.2 * n.value());
//
// A reference lives as long as the configuration keeps its members where they are.
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
  /// Counts and quantities take the nearest whole one of their base unit.
  void set(double value);

  /// What to try for about `factor` of the value, the nearest first: that share, at least one unit
  /// off and within the limits; where only listed values are allowed the next of them; and twice or
  /// half. A size of 32 B to 4 KiB that is a power of two is a granule or a largest packet, which
  /// has no 20 %: it takes twice or half. Values equal to this one are left out.
  std::vector<double> near(double factor) const;

 private:
  bool is_whole() const;
  bool is_granule() const;

  std::string path_;
  detail::ScalarValue target_;
  Limits limits_;
};

/// Those whose path begins with `prefix`, in the order of describe().
std::vector<DeviceNumber> numbers_below(const detail::StructValue& config,
                                        const std::string& prefix);
/// The first check of describe() that does not hold, "path: message"; empty where all do.
std::string broken_check_of(const detail::StructValue& config);

}  // namespace tiersim
