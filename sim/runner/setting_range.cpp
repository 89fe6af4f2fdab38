#include "sim/runner/setting_range.hpp"

#include <charconv>
#include <cmath>

#include <fmt/format.h>

#include "sim/base/base_units.hpp"
#include "sim/base/display.hpp"
#include "sim/base/text.hpp"
#include "sim/base/units_text.hpp"

namespace tiersim {

namespace {

std::string number_text(double x, bool for_people) {
  return for_people ? fmt::format("{:.4g}", x) : fmt::format("{}", x);
}
std::string whole_text(double x, bool) {
  return fmt::format("{:.0f}", x);
}

template <class T>
T nearest(double base) {
  return from_base_units<T>(std::llround(base));
}
template <class T>
double in_base(T value) {
  return static_cast<double>(base_units(value));
}

template <class T>
std::string quantity_text(double x, bool for_people) {
  if constexpr (requires { tiersim::display(T{}); })
    if (for_people) return tiersim::display(nearest<T>(x));
  return format_quantity(nearest<T>(x));
}

struct Ends {
  double low = 0;
  double high = 0;
  std::string (*format)(double, bool) = nullptr;
};

template <class T>
std::optional<Ends> parse_as(const std::string& low, const std::string& high) {
  const auto from = parse_quantity<T>(low);
  const auto to = parse_quantity<T>(high);
  if (!from || !to) return std::nullopt;
  return Ends{in_base(*from), in_base(*to), quantity_text<T>};
}

template <class... T>
struct Dimensions {
  static std::optional<Ends> parse(const std::string& low, const std::string& high) {
    std::optional<Ends> found;
    (void)((found = parse_as<T>(low, high)) || ...);
    return found;
  }
};

Expected<Ends> parse_ends(const std::string& low, const std::string& high, bool whole) {
  const auto from = plain_number(low);
  const auto to = plain_number(high);
  if (from && to) {
    if (whole && (std::floor(*from) != *from || std::floor(*to) != *to))
      return Unexpected(fmt::format("'{}' and '{}' are not whole numbers", low, high));
    return Ends{*from, *to, whole ? whole_text : number_text};
  }
  const auto quantities = WithQuantities<Dimensions>::parse(low, high);
  if (!quantities)
    return Unexpected(fmt::format(
        "'{}' and '{}' are not two numbers or two quantities of one kind (as in YAML: \"10 GB/s\")",
        low, high));
  if (whole)
    return Unexpected(fmt::format("'{}' and '{}' have units; whole numbers have none", low, high));
  return *quantities;
}

}  // namespace

Expected<SettingRange> SettingRange::parse(std::string key, const std::string& low,
                                           const std::string& high, bool whole) {
  const auto ends = parse_ends(low, high, whole);
  if (!ends) return Unexpected(ends.error());
  if (ends->low >= ends->high) return Unexpected(fmt::format("'{}' is not below '{}'", low, high));
  SolveRange range{.low = ends->low, .high = ends->high, .whole = whole};
  if (ends->format != number_text) range.unit_exponent = 0;
  return SettingRange(std::move(key), range, ends->format);
}

SolveRange SettingRange::range(bool sampled) const {
  SolveRange out = range_;
  out.sampled = sampled;
  return out;
}

std::optional<double> SettingRange::number(const std::string& text) const {
  const auto ends = parse_ends(text, text, false);
  if (!ends || (ends->format == number_text) != (format_ == number_text || range_.whole))
    return std::nullopt;
  if (ends->format != number_text && ends->format != format_) return std::nullopt;
  return ends->low;
}

std::string SettingRange::text(double x) const {
  return format_(x, false);
}
std::string SettingRange::display(double x) const {
  return format_(x, true);
}

}  // namespace tiersim
