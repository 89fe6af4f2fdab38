#include "sim/base/portable_math.hpp"

#include <bit>
#include <cstdint>

#include "sim/base/check.hpp"

namespace tiersim {
namespace {

// ln 2 in two parts; the first has 20 trailing zero bits, so that k * kLn2High is exact.
constexpr double kLn2High = 0x1.62e42fee00000p-1;
constexpr double kLn2Low = 0x1.a39ef35793c76p-33;
constexpr double kInverseLn2 = 0x1.71547652b82fep+0;
constexpr double kSqrt2 = 0x1.6a09e667f3bcdp+0;

constexpr std::uint64_t kMantissa = 0x000f'ffff'ffff'ffff;
constexpr std::uint64_t kOne = 0x3ff0'0000'0000'0000;

}  // namespace

// x = 2^k m with m in [sqrt(1/2), sqrt 2); log m = 2 atanh s, s = (m - 1) / (m + 1), |s| < 0.172.
double portable_log(double x) {
  const auto bits = std::bit_cast<std::uint64_t>(x);
  TS_EXPECTS(x >= 0x1p-1022 && x <= 0x1.fffffffffffffp+1023, x);
  auto k = static_cast<int>(bits >> 52U) - 1023;
  double m = std::bit_cast<double>((bits & kMantissa) | kOne);
  if (m > kSqrt2) {
    m *= 0.5;
    ++k;
  }
  const double f = m - 1.0;  // exact
  const double s = f / (2.0 + f);
  const double z = s * s;
  double tail = 0.0;  // sum of z^j / (2 j + 1), j = 1 .. 11; the next term is below 2^-58
#pragma GCC unroll 11
  for (int j = 11; j >= 1; --j) tail = z * (1.0 / (2 * j + 1) + tail);
  // log m = 2 s + 2 s tail, and 2 s = f - s f, which keeps f exact.
  return k * kLn2High + (f - (s * (f - 2.0 * tail) - k * kLn2Low));
}

// x = k ln 2 + r with |r| <= ln2 / 2; the series to r^13 leaves less than 2^-57.
double portable_exp(double x) {
  TS_EXPECTS(x >= -700.0 && x <= 700.0, x);
  const double scaled = x * kInverseLn2;
  const auto k = static_cast<int>(scaled + (scaled < 0 ? -0.5 : 0.5));
  const double high = x - k * kLn2High;
  const double low = k * kLn2Low;
  const double r = high - low;
  const double lost = (high - r) - low;  // rounding error of r
  double tail = 0.0;
#pragma GCC unroll 12
  for (int j = 13; j >= 2; --j) tail = r / j * (1.0 + tail);
  const double mantissa = 1.0 + (r + (r * tail + lost));
  const auto exponent = static_cast<std::uint64_t>(k + 1023) << 52U;
  return mantissa * std::bit_cast<double>(exponent);
}

double portable_pow(double x, double y) {
  return portable_exp(y * portable_log(x));
}

}  // namespace tiersim
