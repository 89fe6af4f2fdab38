#include "sim/runner/value_grid.hpp"

#include <algorithm>
#include <array>
#include <cmath>

#include "sim/base/check.hpp"

namespace tiersim {
namespace {

constexpr int kMostDigits = 18;
constexpr int kExact = 22;  // largest power of ten that a double holds

constexpr std::array<std::int64_t, kMostDigits + 1> kPowers = [] {
  std::array<std::int64_t, kMostDigits + 1> out{};
  std::int64_t power = 1;
  for (std::int64_t& one : out) {
    one = power;
    if (&one != &out.back()) power *= 10;
  }
  return out;
}();

std::int64_t power(int exponent) {
  return kPowers[static_cast<std::size_t>(exponent)];
}

// Decades above the first, which is counted in units: 10^(digits - 1) to 10^digits.
struct Decimal {
  std::int64_t units = 0;  // the value over its scale
  int scale = 0;           // exponent of ten
};

Decimal decimal_at(std::int64_t place, int digits) {
  const std::int64_t least = power(digits - 1);
  if (place < least) return {place, 0};
  const std::int64_t decade = 9 * least;
  return {least + (place - least) % decade, static_cast<int>((place - least) / decade)};
}

// The correctly rounded quotient or product, since the power of ten is exact.
double scaled(std::int64_t units, int exponent) {
  TS_EXPECTS(exponent >= -kExact && exponent <= kExact, exponent);
  double by = 1;
  for (int i = 0; i < std::abs(exponent); ++i) by *= 10;
  return exponent < 0 ? static_cast<double>(units) / by : static_cast<double>(units) * by;
}

}  // namespace

double ValueGrid::value(std::int64_t place) const {
  if (place < 0) return -value(-place);
  const auto [units, scale] = decimal_at(place, digits);
  return scaled(units, scale + unit_exponent);
}

// By bisection over the places, so that it agrees with value() to the last bit.
std::int64_t ValueGrid::floor(double x) const {
  TS_EXPECTS(std::isfinite(x), x);
  const std::int64_t decades = digits == kMostDigits ? 0 : kExact - unit_exponent;
  const std::int64_t last = power(digits - 1) * (1 + 9 * decades);
  std::int64_t low = -last;  // value(low) <= x < value(high)
  std::int64_t high = last;
  if (x >= value(high)) return high;
  if (x < value(low)) return low;
  while (high - low > 1) {
    const std::int64_t middle = low + (high - low) / 2;
    (value(middle) <= x ? low : high) = middle;
  }
  return low;
}

std::int64_t ValueGrid::nearest(double x) const {
  const std::int64_t below = floor(x);
  return x - value(below) <= value(below + 1) - x ? below : below + 1;
}

std::vector<std::int64_t> ValueGrid::samples(std::int64_t low, std::int64_t high) const {
  constexpr std::array<std::int64_t, 10> kR10{100, 125, 160, 200, 250, 315, 400, 500, 630, 800};
  const double end = value(high);
  const double begin = low > 0 ? value(low) : end / 1000;
  std::vector<std::int64_t> out;
  for (int exponent = unit_exponent - 2; exponent <= kExact; ++exponent) {
    if (scaled(kR10.front(), exponent) >= end) break;
    for (const std::int64_t preferred : kR10) {
      const double x = scaled(preferred, exponent);
      if (x <= begin || x >= end) continue;
      const std::int64_t place = nearest(x);
      if (place > low && place < high && (out.empty() || out.back() < place)) out.push_back(place);
    }
  }
  return out;
}

std::int64_t roundest_between(std::int64_t low, std::int64_t high) {
  TS_EXPECTS(high - low > 1, low, high);
  for (int shift = 62; shift > 0; --shift) {
    const std::int64_t step = std::int64_t{1} << shift;
    const std::int64_t next = ((low >> shift) + 1) * step;
    if (next > low && next < high) return next;
  }
  return low + 1;
}

}  // namespace tiersim
