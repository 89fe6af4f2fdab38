#include "sim/base/units_text.hpp"

#include <algorithm>
#include <array>
#include <cctype>
#include <charconv>
#include <numeric>
#include <optional>
#include <span>

#include <fmt/format.h>

#include "sim/base/base_units.hpp"

namespace tiersim {
namespace {

struct Unit {
  constexpr Unit(std::string_view text, std::int64_t base_units)
      : symbol(text),
        base(base_units),
        nine_decimals(base_units / std::gcd(base_units, std::int64_t{1'000'000'000})) {}

  std::string_view symbol;
  std::int64_t base;           // base units in one unit
  std::int64_t nine_decimals;  // what takes up to nine decimals is a multiple of this
};
struct Dimension {
  std::string_view name;
  std::span<const Unit> units;  // ascending
};

constexpr std::int64_t kKi = 1024;
constexpr std::array kSizeUnits{
    Unit{"B", 1},
    Unit{"KB", 1'000},
    Unit{"KiB", kKi},
    Unit{"MB", 1'000'000},
    Unit{"MiB", kKi* kKi},
    Unit{"GB", 1'000'000'000},
    Unit{"GiB", kKi* kKi* kKi},
    Unit{"TB", 1'000'000'000'000},
    Unit{"TiB", kKi* kKi* kKi* kKi},
};
constexpr std::array kBandwidthUnits{
    Unit{"B/s", 1},
    Unit{"KB/s", 1'000},
    Unit{"MB/s", 1'000'000},
    Unit{"Gbit/s", 125'000'000},
    Unit{"GB/s", 1'000'000'000},
    Unit{"TB/s", 1'000'000'000'000},
};
constexpr std::array kFlopsUnits{
    Unit{"FLOP", 1},
    Unit{"KFLOP", 1'000},
    Unit{"MFLOP", 1'000'000},
    Unit{"GFLOP", 1'000'000'000},
    Unit{"TFLOP", 1'000'000'000'000},
};
constexpr std::array kFlopRateUnits{
    Unit{"FLOP/s", 1},
    Unit{"MFLOP/s", 1'000'000},
    Unit{"GFLOP/s", 1'000'000'000},
    Unit{"TFLOP/s", 1'000'000'000'000},
    Unit{"PFLOP/s", 1'000'000'000'000'000},
};
constexpr std::array kDurationUnits{
    Unit{"ps", 1},
    Unit{"ns", 1'000},
    Unit{"us", 1'000'000},
    Unit{"ms", 1'000'000'000},
    Unit{"s", 1'000'000'000'000},
};
constexpr std::array kEnergyUnits{
    Unit{"nJ", 1},
    Unit{"uJ", 1'000},
    Unit{"mJ", 1'000'000},
    Unit{"J", 1'000'000'000},
    Unit{"kJ", 1'000'000'000'000},
    Unit{"MJ", 1'000'000'000'000'000},
    Unit{"kWh", 3'600'000'000'000'000},
};
constexpr std::array kEnergyPerByteUnits{
    Unit{"fJ/B", 1},       Unit{"fJ/bit", 8},       Unit{"pJ/B", 1'000},
    Unit{"pJ/bit", 8'000}, Unit{"nJ/B", 1'000'000},
};
constexpr std::array kEnergyPerFlopUnits{
    Unit{"aJ/FLOP", 1},
    Unit{"fJ/FLOP", 1'000},
    Unit{"pJ/FLOP", 1'000'000},
    Unit{"nJ/FLOP", 1'000'000'000},
};
constexpr std::array kPowerUnits{
    Unit{"mW", 1},
    Unit{"W", 1'000},
    Unit{"kW", 1'000'000},
    Unit{"MW", 1'000'000'000},
};
constexpr std::array kMoneyUnits{
    Unit{"nUSD", 1},
    Unit{"uUSD", 1'000},
    Unit{"USD", 1'000'000'000},
};
constexpr std::array kMoneyPerByteUnits{
    Unit{"nUSD/GB", 1},
    Unit{"USD/TB", 1'000'000},
    Unit{"USD/GB", 1'000'000'000},
};
constexpr std::array kMoneyPerEnergyUnits{
    Unit{"nUSD/kWh", 1},
    Unit{"USD/MWh", 1'000'000},
    Unit{"USD/kWh", 1'000'000'000},
};
// The entries stand in the order of WithQuantities.
constexpr std::array kDimensions{
    Dimension{"size", kSizeUnits},
    Dimension{"bandwidth", kBandwidthUnits},
    Dimension{"operation count", kFlopsUnits},
    Dimension{"operation rate", kFlopRateUnits},
    Dimension{"duration", kDurationUnits},
    Dimension{"energy", kEnergyUnits},
    Dimension{"energy per byte", kEnergyPerByteUnits},
    Dimension{"energy per operation", kEnergyPerFlopUnits},
    Dimension{"power", kPowerUnits},
    Dimension{"price", kMoneyUnits},
    Dimension{"price per byte", kMoneyPerByteUnits},
    Dimension{"price per energy", kMoneyPerEnergyUnits},
};

template <class... T>
struct Positions {
  static_assert(sizeof...(T) == kDimensions.size());
  template <class X>
  static constexpr std::size_t of() {
    std::size_t position = 0;
    (void)((std::is_same_v<X, T> || (++position, false)) || ...);
    return position;
  }
};
template <class T>
constexpr std::size_t dimension_index() {
  return WithQuantities<Positions>::of<T>();
}

std::string symbols(const Dimension& dimension) {
  std::string out;
  for (const Unit& unit : dimension.units) {
    if (!out.empty()) out += ", ";
    out += unit.symbol;
  }
  return out;
}

const Unit* find(const Dimension& dimension, std::string_view symbol) {
  const auto it = std::ranges::find(dimension.units, symbol, &Unit::symbol);
  return it == dimension.units.end() ? nullptr : &*it;
}

std::string with_article(std::string_view noun) {
  const bool vowel = noun.find_first_of("aeiou") == 0;
  return fmt::format("{} {}", vowel ? "an" : "a", noun);
}

bool same_but_case(std::string_view a, std::string_view b) {
  return std::ranges::equal(a, b, [](char x, char y) {
    return std::tolower(static_cast<unsigned char>(x)) ==
           std::tolower(static_cast<unsigned char>(y));
  });
}

std::string unknown_unit(const Dimension& dimension, std::string_view text,
                         std::string_view symbol) {
  if (const auto at = symbol.find("b/"); at != std::string_view::npos) {
    std::string bits(symbol);
    bits.insert(at + 1, "it");
    if (find(dimension, bits) != nullptr)
      return fmt::format("unknown unit '{}' in '{}' (bits are written '{}')", symbol, text, bits);
  }
  for (const Unit& unit : dimension.units)
    if (same_but_case(unit.symbol, symbol))
      return fmt::format("unknown unit '{}' in '{}' (did you mean '{}'? case matters)", symbol,
                         text, unit.symbol);
  for (const Dimension& other : kDimensions)
    if (find(other, symbol) != nullptr)
      return fmt::format("'{}' is {} where {} is expected (one of: {})", text,
                         with_article(other.name), with_article(dimension.name),
                         symbols(dimension));
  return fmt::format("unknown unit '{}' in '{}' (expected one of: {})", symbol, text,
                     symbols(dimension));
}

// The number digits * 10^-scale, which is exact, unlike a double.
struct Decimal {
  std::int64_t digits = 0;
  int scale = 0;
  std::size_t length = 0;  // characters read
};

std::optional<Decimal> parse_decimal(std::string_view text) {
  Decimal out;
  bool any = false;
  bool point = false;
  std::size_t i = text.starts_with('-') ? 1 : 0;
  for (; i < text.size(); ++i) {
    if (text[i] == '.' && !point) {
      point = true;
      continue;
    }
    if (text[i] < '0' || text[i] > '9') break;
    any = true;
    if (__builtin_mul_overflow(out.digits, 10, &out.digits) ||
        __builtin_add_overflow(out.digits, text[i] - '0', &out.digits))
      return std::nullopt;
    if (point) ++out.scale;
  }
  if (!any) return std::nullopt;
  if (i + 1 < text.size() && (text[i] == 'e' || text[i] == 'E')) {
    int exponent = 0;
    const bool plus = text[i + 1] == '+';
    const char* first = text.data() + i + 1 + (plus ? 1 : 0);
    const auto [end, error] = std::from_chars(first, text.data() + text.size(), exponent);
    if (error != std::errc{} || exponent < -30 || exponent > 30) return std::nullopt;
    out.scale -= exponent;
    i = static_cast<std::size_t>(end - text.data());
  }
  if (text.starts_with('-')) out.digits = -out.digits;
  out.length = i;
  return out;
}

Expected<std::int64_t> to_base_units(const Decimal& number, const Unit& unit,
                                     std::string_view text) {
  Int128 value = Int128{number.digits} * unit.base;  // below 2^63 * 2^53
  constexpr Int128 kLimit = std::numeric_limits<std::int64_t>::max();
  for (int s = number.scale; s < 0; ++s) {
    if (value > kLimit) break;
    value *= 10;
  }
  for (int s = number.scale; s > 0; --s) {
    if (value % 10 != 0)
      return Unexpected(fmt::format("'{}' is not a whole number of base units", text));
    value /= 10;
  }
  if (value > kLimit) return Unexpected(fmt::format("'{}' is too large", text));
  return static_cast<std::int64_t>(value);
}

Expected<std::int64_t> parse(std::string_view text, const Dimension& dimension) {
  const auto number = parse_decimal(text);
  if (!number)
    return Unexpected(fmt::format("'{}' is not {}: a number, a space and one of: {}", text,
                                  with_article(dimension.name), symbols(dimension)));
  std::string_view unit = text.substr(number->length);
  if (unit.empty())
    return Unexpected(
        fmt::format("'{}' has no unit (expected one of: {})", text, symbols(dimension)));
  const bool one_space = unit.size() > 1 && unit[0] == ' ' && unit[1] != ' ';
  while (unit.starts_with(' ')) unit.remove_prefix(1);
  const Unit* found = find(dimension, unit);
  if (found == nullptr) return Unexpected(unknown_unit(dimension, text, unit));
  if (!one_space)
    return Unexpected(fmt::format("'{}' needs one space between number and unit", text));
  if (number->digits < 0) return Unexpected(fmt::format("'{}' is negative", text));
  return to_base_units(*number, *found, text);
}

// A number of base units in a larger unit as an exact decimal.
class ExactDecimal {
 public:
  /// Empty where it takes more than nine decimals.
  ExactDecimal() = default;
  ExactDecimal(std::int64_t base, const Unit& unit) {
    std::int64_t rest = base % unit.base;
    if (rest % unit.nine_decimals != 0) return;
    char* at = std::to_chars(text_.data(), text_.data() + text_.size(), base / unit.base).ptr;
    if (rest != 0) *at++ = '.';
    for (; rest != 0; rest = rest * 10 % unit.base)  // no unit has more than 2^63 / 10 base units
      *at++ = static_cast<char>('0' + rest * 10 / unit.base);
    size_ = static_cast<std::size_t>(at - text_.data());
  }

  std::string_view text() const { return {text_.data(), size_}; }

 private:
  std::array<char, 32> text_{};  // 19 digits, the point and 9 decimals
  std::size_t size_ = 0;
};

void append(std::string& out, std::int64_t base, const Dimension& dimension) {
  if (base == 0) return void(out.append("0 ").append(dimension.units.front().symbol));
  ExactDecimal best;
  std::string_view symbol;
  for (const Unit& unit : dimension.units) {
    const ExactDecimal number(base, unit);
    const std::size_t size = number.text().size() + unit.symbol.size();
    if (number.text().empty()) continue;
    if (!best.text().empty() && size > best.text().size() + symbol.size()) continue;
    best = number;
    symbol = unit.symbol;
  }
  (out.append(best.text()) += ' ') += symbol;
}

}  // namespace

template <class T>
Expected<T> parse_quantity(std::string_view text) {
  const auto base = parse(text, kDimensions[dimension_index<T>()]);
  if (!base) return Unexpected(base.error());
  return from_base_units<T>(*base);
}

template <class T>
std::string format_quantity(T value) {
  std::string out;
  append_quantity(out, value);
  return out;
}

template <class T>
void append_quantity(std::string& out, T value) {
  const std::int64_t base = base_units(value);
  TS_EXPECTS(base >= 0, base);
  append(out, base, kDimensions[dimension_index<T>()]);
}

template <class T>
std::string dimension_noun() {
  return with_article(kDimensions[dimension_index<T>()].name);
}

template <class T>
std::string unit_list() {
  return symbols(kDimensions[dimension_index<T>()]);
}

#define TS_INSTANTIATE(T)                                   \
  template Expected<T> parse_quantity<T>(std::string_view); \
  template std::string format_quantity<T>(T);               \
  template void append_quantity<T>(std::string&, T);        \
  template std::string dimension_noun<T>();                 \
  template std::string unit_list<T>();
TS_INSTANTIATE(Bytes)
TS_INSTANTIATE(Bandwidth)
TS_INSTANTIATE(Flops)
TS_INSTANTIATE(FlopRate)
TS_INSTANTIATE(Duration)
TS_INSTANTIATE(Energy)
TS_INSTANTIATE(EnergyPerByte)
TS_INSTANTIATE(EnergyPerFlop)
TS_INSTANTIATE(Power)
TS_INSTANTIATE(Money)
TS_INSTANTIATE(MoneyPerByte)
TS_INSTANTIATE(MoneyPerEnergy)
#undef TS_INSTANTIATE

}  // namespace tiersim
