#pragma once
// The range over which a setting is varied, as text with units: "0.5" to "64", "10 GB/s" to "2
// TB/s", or whole numbers. Turns points of the range into --set options. Quantities move in whole
// base units (B, B/s, ps), since a configuration takes no others.
#include <optional>
#include <string>

#include "sim/base/expected.hpp"
#include "sim/runner/solve.hpp"

namespace tiersim {

class SettingRange {
 public:
  /// The error names the problem of the ends: not numbers, different units, or the wrong order.
  static Expected<SettingRange> parse(std::string key, const std::string& low,
                                      const std::string& high, bool whole);

  const std::string& key() const { return key_; }
  /// Plain numbers unchanged; quantities in base units.
  SolveRange range() const { return range_; }
  /// The same with `sampled` as given.
  SolveRange range(bool sampled) const;
  /// A number or quantity of this kind as range() has it; none for any other text.
  std::optional<double> number(const std::string& text) const;
  /// "120 GB/s", "3.5", as a configuration takes it.
  std::string text(double x) const;
  /// The same with four significant digits, for people.
  std::string display(double x) const;
  /// "step.batch=4".
  std::string option(double x) const { return key_ + '=' + text(x); }

 private:
  using Format = std::string (*)(double x, bool for_people);
  SettingRange(std::string key, SolveRange range, Format format)
      : key_(std::move(key)), range_(range), format_(format) {}

  std::string key_;
  SolveRange range_;
  Format format_ = nullptr;
};

}  // namespace tiersim
