#include "sim/expression/dimension.hpp"

#include <algorithm>
#include <cctype>
#include <charconv>
#include <cmath>
#include <vector>

#include <fmt/format.h>

#include "sim/base/base_units.hpp"
#include "sim/base/text.hpp"
#include "sim/base/units_text.hpp"

namespace tiersim {
namespace {

constexpr std::array<std::string_view, 5> kBaseNames{"B", "FLOP", "s", "J", "USD"};

// The dimension of each quantity, and the number of its base units in one.
template <class T>
struct Basis;
template <>
struct Basis<Bytes> {
  static constexpr Dimension kDimension{{1, 0, 0, 0, 0}};
  static constexpr double kPerUnit = 1;
};
template <>
struct Basis<Bandwidth> {
  static constexpr Dimension kDimension{{1, 0, -1, 0, 0}};
  static constexpr double kPerUnit = 1;
};
template <>
struct Basis<Flops> {
  static constexpr Dimension kDimension{{0, 1, 0, 0, 0}};
  static constexpr double kPerUnit = 1;
};
template <>
struct Basis<FlopRate> {
  static constexpr Dimension kDimension{{0, 1, -1, 0, 0}};
  static constexpr double kPerUnit = 1;
};
template <>
struct Basis<Duration> {
  static constexpr Dimension kDimension{{0, 0, 1, 0, 0}};
  static constexpr double kPerUnit = 1e12;
};
template <>
struct Basis<Energy> {
  static constexpr Dimension kDimension{{0, 0, 0, 1, 0}};
  static constexpr double kPerUnit = 1e9;
};
template <>
struct Basis<EnergyPerByte> {
  static constexpr Dimension kDimension{{-1, 0, 0, 1, 0}};
  static constexpr double kPerUnit = 1e15;
};
template <>
struct Basis<EnergyPerFlop> {
  static constexpr Dimension kDimension{{0, -1, 0, 1, 0}};
  static constexpr double kPerUnit = 1e18;
};
template <>
struct Basis<Power> {
  static constexpr Dimension kDimension{{0, 0, -1, 1, 0}};
  static constexpr double kPerUnit = 1e3;
};
template <>
struct Basis<Money> {
  static constexpr Dimension kDimension{{0, 0, 0, 0, 1}};
  static constexpr double kPerUnit = 1e9;
};
template <>
struct Basis<MoneyPerByte> {
  static constexpr Dimension kDimension{{-1, 0, 0, 0, 1}};
  static constexpr double kPerUnit = 1e18;
};
template <>
struct Basis<MoneyPerEnergy> {
  static constexpr Dimension kDimension{{0, 0, 0, -1, 1}};
  static constexpr double kPerUnit = 1e9 * 3.6e6;
};

template <class T>
void add_unit(std::string_view symbol, std::optional<ScaledUnit>& found) {
  if (found) return;
  if (const auto one = parse_quantity<T>("1 " + std::string(symbol)))
    found =
        ScaledUnit{Basis<T>::kDimension, static_cast<double>(base_units(*one)), Basis<T>::kPerUnit};
}

template <class T>
void add_symbols(std::vector<std::string>& all) {
  const std::string list = unit_list<T>();
  for (std::size_t at = 0; at < list.size();) {
    const std::size_t end = std::min(list.find(", ", at), list.size());
    all.push_back(list.substr(at, end - at));
    at = end + 2;
  }
}

template <class T>
void add_noun(const Dimension& dimension, std::string& noun) {
  if (dimension == Basis<T>::kDimension) noun = dimension_noun<T>();
}

template <class T>
void add_text(double value, const Dimension& dimension, std::optional<std::string>& text) {
  if (dimension == Basis<T>::kDimension)
    text = format_quantity(from_base_units<T>(std::llround(value * Basis<T>::kPerUnit)));
}

template <class T>
void add_size(double value, const Dimension& dimension, double& base) {
  if (dimension == Basis<T>::kDimension) base = value * Basis<T>::kPerUnit;
}

template <class... T>
struct EveryQuantity {
  static std::optional<ScaledUnit> unit(std::string_view symbol) {
    std::optional<ScaledUnit> found;
    (add_unit<T>(symbol, found), ...);
    return found;
  }
  static std::vector<std::string> symbols() {
    std::vector<std::string> all;
    (add_symbols<T>(all), ...);
    return all;
  }
  static std::string noun(const Dimension& dimension) {
    std::string out;
    (add_noun<T>(dimension, out), ...);
    return out;
  }
  static double base(double value, const Dimension& dimension) {
    double out = 0;
    (add_size<T>(value, dimension, out), ...);
    return out;
  }
  static std::optional<std::string> text(double value, const Dimension& dimension) {
    std::optional<std::string> out;
    (add_text<T>(value, dimension, out), ...);
    return out;
  }
};
using Quantities = WithQuantities<EveryQuantity>;

// Units without a dimension, which make numbers easier to read.
constexpr std::array<std::string_view, 6> kCountUnits{"tokens/s", "tokens",   "sequences",
                                                      "layers",   "requests", "sessions"};

std::vector<std::string> all_units() {
  std::vector<std::string> all = Quantities::symbols();
  all.insert(all.end(), kCountUnits.begin(), kCountUnits.end());
  return all;
}

std::optional<Dimension> combined(const Dimension& a, const Dimension& b, int factor) {
  Dimension out;
  for (std::size_t i = 0; i < out.powers.size(); ++i) {
    const int sum = a.powers[i] + factor * b.powers[i];
    if (sum < -100 || sum > 100) return std::nullopt;
    out.powers[i] = static_cast<std::int8_t>(sum);
  }
  return out;
}

}  // namespace

std::string Dimension::text() const {
  std::string above;
  std::string below;
  for (std::size_t i = 0; i < powers.size(); ++i) {
    if (powers[i] == 0) continue;
    const int size = std::abs(powers[i]);
    const std::string factor =
        std::string(kBaseNames[i]) + (size == 1 ? "" : fmt::format("^{}", size));
    if (powers[i] > 0)
      above += (above.empty() ? "" : "*") + factor;
    else
      below += "/" + factor;
  }
  return below.empty() || !above.empty() ? above + below : "1" + below;
}

std::string Dimension::noun() const {
  if (plain()) return "a plain number";
  const std::string name = Quantities::noun(*this);
  return name.empty() ? "in " + text() : name;
}

std::optional<Dimension> Dimension::parse(std::string_view text) {
  Dimension out;
  int sign = 1;
  std::string_view rest = text.starts_with("1/") ? text.substr(1) : text;
  while (!rest.empty()) {
    if (rest.front() == '/') sign = -1;
    if (rest.front() == '/' || rest.front() == '*') rest.remove_prefix(1);
    const std::size_t end = std::min(rest.find_first_of("*/"), rest.size());
    const std::string_view factor = rest.substr(0, end);
    const std::size_t hat = std::min(factor.find('^'), factor.size());
    const auto name = std::ranges::find(kBaseNames, factor.substr(0, hat));
    if (name == kBaseNames.end()) return std::nullopt;
    int size = 1;
    if (hat < factor.size())
      std::from_chars(factor.data() + hat + 1, factor.data() + factor.size(), size);
    out.powers[static_cast<std::size_t>(name - kBaseNames.begin())] =
        static_cast<std::int8_t>(sign * std::clamp(size, 0, 100));
    rest.remove_prefix(end);
  }
  return out.text() == text ? std::optional(out) : std::nullopt;
}

std::optional<Dimension> product(const Dimension& a, const Dimension& b) {
  return combined(a, b, 1);
}
std::optional<Dimension> quotient(const Dimension& a, const Dimension& b) {
  return combined(a, b, -1);
}
std::optional<Dimension> power(const Dimension& a, int exponent) {
  return a.plain() ? a : combined({}, a, std::clamp(exponent, -200, 200));
}
std::optional<Dimension> square_root(const Dimension& a) {
  Dimension out;
  for (std::size_t i = 0; i < out.powers.size(); ++i) {
    if (a.powers[i] % 2 != 0) return std::nullopt;
    out.powers[i] = static_cast<std::int8_t>(a.powers[i] / 2);
  }
  return out;
}

std::optional<ScaledUnit> find_unit(std::string_view symbol) {
  if (auto unit = Quantities::unit(symbol)) return unit;
  return std::ranges::find(kCountUnits, symbol) == kCountUnits.end() ? std::nullopt
                                                                     : std::optional(ScaledUnit{});
}

std::size_t unit_length(std::string_view text) {
  const auto ends_word = [&](std::size_t at) {
    return at == text.size() ||
           (std::isalnum(static_cast<unsigned char>(text[at])) == 0 && text[at] != '_');
  };
  std::size_t longest = 0;
  for (const std::string& unit : all_units())
    if (unit.size() > longest && text.starts_with(unit) && ends_word(unit.size()))
      longest = unit.size();
  return longest;
}

std::string nearest_unit(std::string_view symbol) {
  return std::string(nearest(symbol, all_units()));
}

Expected<std::string> quantity_text(double value, const Dimension& dimension) {
  const double base = Quantities::base(value, dimension);
  if (value < 0) return Unexpected(fmt::format("{:g} {} is negative", value, dimension.text()));
  if (!(base < 9.2e18))
    return Unexpected(fmt::format("{:g} {} is too large", value, dimension.text()));
  if (auto text = Quantities::text(value, dimension)) return *text;
  return Unexpected(fmt::format("is in {}, which no setting has as a unit", dimension.text()));
}

}  // namespace tiersim
