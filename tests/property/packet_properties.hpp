#pragma once
// Common parts of the properties of random packet fabrics.
#include <string>
#include <string_view>

#include <fmt/format.h>

#include "sim/base/units.hpp"
#include "tests/support/choices.hpp"

namespace tiersim::testing {

/// Little's law is exact on whole numbers; the means are doubles of 15 digits.
inline constexpr double kLittleSlack = 1e-12;

inline Bandwidth half(Bandwidth rate) {
  return Bandwidth::from_base(rate.in_base() / 2);
}

/// Rates at which every byte takes an even number of picoseconds, so that halving them is exact.
inline Bandwidth draw_rate(Choices& c, const std::string& name) {
  return Bandwidth::from_base(1'000'000'000 *
                              c.one_of<std::int64_t>(name, {1, 2, 4, 5, 10, 20, 25, 50}));
}
inline Duration draw_ns(Choices& c, const std::string& name, std::int64_t most) {
  return Duration(1000 * c.pick(name, 0, most));
}

inline bool is_longer(Duration time, Duration than, double slack) {
  return static_cast<double>(time.count()) > static_cast<double>(than.count()) * (1 + slack);
}

inline std::string compared_times(std::string_view what, Duration expected, Duration time) {
  return fmt::format("{}: {} ps expected, {} ps found ({:+.3f} %)", what, expected.count(),
                     time.count(),
                     100.0 * static_cast<double>((time - expected).count()) /
                         static_cast<double>(expected.count()));
}

}  // namespace tiersim::testing
