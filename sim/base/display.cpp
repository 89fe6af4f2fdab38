#include "sim/base/display.hpp"

#include <cmath>
#include <span>
#include <string_view>

#include <fmt/format.h>

namespace tiersim {
namespace {

constexpr std::string_view kSizes[] = {"B", "KiB", "MiB", "GiB", "TiB", "PiB"};
constexpr std::string_view kBandwidths[] = {"B/s", "KB/s", "MB/s", "GB/s", "TB/s", "PB/s"};
constexpr std::string_view kRates[] = {"FLOP/s",  "KFLOP/s", "MFLOP/s",
                                       "GFLOP/s", "TFLOP/s", "PFLOP/s"};
constexpr std::string_view kCounts[] = {"FLOP", "KFLOP", "MFLOP", "GFLOP", "TFLOP", "PFLOP"};
constexpr std::string_view kTimes[] = {"ps", "ns", "us", "ms", "s"};
constexpr std::string_view kEnergies[] = {"nJ", "uJ", "mJ", "J", "kJ", "MJ", "GJ"};
constexpr std::string_view kDollars[] = {"USD"};
constexpr std::string_view kPowers[] = {"mW", "W", "kW", "MW"};

std::string scaled(double value, double step, std::span<const std::string_view> units) {
  std::size_t unit = 0;
  while (value >= step && unit + 1 < units.size()) {
    value /= step;
    ++unit;
  }
  if (value >= 9999.5) return fmt::format("{:.0f} {}", value, units[unit]);  // no exponents
  return fmt::format("{:.4g} {}", value, units[unit]);
}

// Rounds before it chooses the unit, so that 999.96 us is shown as 1 ms.
std::string rounded_up(double value, double step, std::span<const std::string_view> units) {
  std::size_t unit = 0;
  while (std::abs(value) >= 0.99995 * step && unit + 1 < units.size()) {
    value /= step;
    ++unit;
  }
  return fmt::format("{:.4g} {}", value, units[unit]);
}

std::string plain(double value) {
  if (std::abs(value) >= 1000) return fmt::format("{:.0f}", value);  // no exponents
  return fmt::format("{:.4g}", value);
}

}  // namespace

std::string display(Bytes bytes) {
  return scaled(static_cast<double>(bytes.in_base()), 1024, kSizes);
}
std::string display(Bandwidth bandwidth) {
  return scaled(static_cast<double>(bandwidth.in_base()), 1000, kBandwidths);
}
std::string display(FlopRate rate) {
  return scaled(static_cast<double>(rate.in_base()), 1000, kRates);
}
std::string display(Flops flops) {
  return scaled(static_cast<double>(flops.in_base()), 1000, kCounts);
}
std::string display(Duration duration) {
  return scaled(static_cast<double>(duration.count()), 1000, kTimes);
}
std::string display(Energy energy) {
  return scaled(static_cast<double>(energy.in_base()), 1000, kEnergies);
}
std::string display(Power power) {
  return scaled(static_cast<double>(power.in_base()), 1000, kPowers);
}
std::string display(Money money) {
  return scaled(to_usd(money), 1000, kDollars);
}

std::string display(double value, std::string_view unit) {
  if (unit == "s")
    return value == 0 ? "0" : rounded_up(value * 1e9, 1000, std::span(kTimes).subspan(1));
  if (unit == "B") return value == 0 ? "0" : rounded_up(value, 1024, kSizes);
  if (unit == "B/s") return rounded_up(value, 1000, std::span(kBandwidths).first(5));
  if (unit == "FLOP") return rounded_up(value, 1000, kCounts);
  if (unit == "FLOP/s") return rounded_up(value, 1000, kRates);
  if (unit == "ratio") return fmt::format("{:.1f} %", 100 * value);
  if (unit == "J" || unit == "USD") return fmt::format("{} {}", plain(value), unit);
  return plain(value);
}

}  // namespace tiersim
