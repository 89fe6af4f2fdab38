#include "sim/sweep/axis_range.hpp"

#include <algorithm>
#include <cmath>
#include <cstdlib>

#include <fmt/format.h>

#include "sim/base/check.hpp"
#include "sim/base/portable_math.hpp"
#include "sim/expression/expression.hpp"

namespace tiersim {
namespace {

constexpr std::int64_t kMostPoints = 1'000'000;
// Ends of a logarithmic range, whose ratio is then a normal number.
constexpr double kLeastLogEnd = 1e-150;
constexpr double kMostLogEnd = 1e150;

// Rounds to `digits` significant digits.
double rounded(double value, int digits) {
  return std::strtod(fmt::format("{:.{}e}", value, digits - 1).c_str(), nullptr);
}

bool is_whole(double value) {
  return std::floor(value) == value;
}

struct Ends {
  Magnitude from = {};
  Magnitude to = {};
};

Expected<Magnitude, RangeProblem> parse_number(const char* field, const std::string& text) {
  const ExpressionValue value = expression_value(text);
  if (const auto* magnitude = std::get_if<Magnitude>(&value)) return *magnitude;
  return Unexpected(RangeProblem{field,
                                 fmt::format("'{}' is neither a number nor a quantity", text),
                                 "write a number, or a number, a space and a unit: 10 GB/s"});
}

Expected<Ends, RangeProblem> parse_ends(const std::string& from, const std::string& to,
                                        bool whole) {
  const auto low = parse_number("from", from);
  if (!low) return Unexpected(low.error());
  const auto high = parse_number("to", to);
  if (!high) return Unexpected(high.error());
  if (low->dimension != high->dimension)
    return Unexpected(RangeProblem{
        "to", fmt::format("'{}' is {}, and '{}' {}", to, kind_noun(*high), from, kind_noun(*low))});
  if (low->value == high->value)
    return Unexpected(RangeProblem{"to", fmt::format("'{}' is where the range begins", to),
                                   "a single value is `values: [...]`"});
  for (const auto& [field, end, text] : {std::tuple("from", *low, from), {"to", *high, to}}) {
    if (auto taken = setting_text(end); !taken)
      return Unexpected(RangeProblem{field, fmt::format("'{}': {}", text, taken.error())});
    if (whole && end.dimension.empty() && !is_whole(end.value))
      return Unexpected(
          RangeProblem{field, fmt::format("'{}' is no whole number, which a count is", text)});
  }
  return Ends{*low, *high};
}

RangeProblem too_many(double points) {
  return {"", fmt::format("has {:.0f} values; an axis has a million at most", points)};
}

}  // namespace

Expected<ValueRange, RangeProblem> ValueRange::parse(const SweepRange& range, bool whole) {
  const auto ends = parse_ends(range.from, range.to, whole);
  if (!ends) return Unexpected(ends.error());
  ValueRange out;
  out.low_ = ends->from.value;
  out.high_ = ends->to.value;
  out.dimension_ = ends->from.dimension;
  out.whole_ = whole && out.dimension_.empty();
  if (range.points) {
    out.points_ = *range.points;
    return out;
  }
  const auto step = parse_number("step", range.step);
  if (!step) return Unexpected(step.error());
  if (step->dimension != out.dimension_)
    return Unexpected(
        RangeProblem{"step", fmt::format("'{}' is {}, and the ends are {}", range.step,
                                         kind_noun(*step), kind_noun(ends->from))});
  const double span = out.high_ - out.low_;
  if (step->value == 0 || (step->value < 0) != (span < 0))
    return Unexpected(RangeProblem{"step", fmt::format("'{}' does not lead from '{}' to '{}'",
                                                       range.step, range.from, range.to)});
  const double steps = std::round(span / step->value);
  if (steps >= static_cast<double>(kMostPoints)) return Unexpected(too_many(steps + 1));
  if (std::abs(steps * step->value - span) > 1e-9 * std::abs(span))
    return Unexpected(RangeProblem{
        "step", fmt::format("'{}' steps over '{}'", range.step, range.to),
        fmt::format("the last value before it is {}",
                    label_text(Magnitude{
                        rounded(out.low_ + std::floor(span / step->value) * step->value, 12),
                        out.dimension_}))});
  if (out.whole_ && !is_whole(step->value))
    return Unexpected(
        RangeProblem{"step", fmt::format("'{}' is no whole number, which a count is", range.step)});
  out.points_ = static_cast<std::int64_t>(steps) + 1;
  out.step_ = step->value;
  return out;
}

Expected<ValueRange, RangeProblem> ValueRange::parse(const SweepLogRange& range, bool whole) {
  const auto ends = parse_ends(range.from, range.to, whole);
  if (!ends) return Unexpected(ends.error());
  ValueRange out;
  out.low_ = ends->from.value;
  out.high_ = ends->to.value;
  out.dimension_ = ends->from.dimension;
  out.logarithmic_ = true;
  out.whole_ = whole && out.dimension_.empty();
  for (const auto& [field, end] : {std::pair("from", range.from), {"to", range.to}}) {
    const double value = std::get<Magnitude>(expression_value(end)).value;
    if (value <= 0)
      return Unexpected(RangeProblem{field, fmt::format("'{}' is not above 0", end),
                                     "a range from 0 is linear: `range`"});
    if (value < kLeastLogEnd || value > kMostLogEnd)
      return Unexpected(RangeProblem{field, fmt::format("'{}' is out of range", end),
                                     fmt::format("allowed: {} to {}", kLeastLogEnd, kMostLogEnd)});
  }
  if (range.points) {
    out.points_ = *range.points;
    return out;
  }
  if (!range.factor)  // of a file with mistakes
    return Unexpected(RangeProblem{"factor", "is missing", "or give the number of points"});
  if (!std::isfinite(*range.factor) || *range.factor <= 1)
    return Unexpected(
        RangeProblem{"factor", fmt::format("'{}' is no finite number above 1", *range.factor)});
  // For a falling range, `factor` divides.
  const bool falls = out.high_ < out.low_;
  const double ratio = falls ? out.low_ / out.high_ : out.high_ / out.low_;
  const double steps = std::round(portable_log(ratio) / portable_log(*range.factor));
  if (steps >= static_cast<double>(kMostPoints)) return Unexpected(too_many(steps + 1));
  if (steps < 1 || std::abs(portable_pow(*range.factor, steps) / ratio - 1) > 1e-9)
    return Unexpected(RangeProblem{
        "factor",
        fmt::format("'{}' is no power of {} times '{}'", range.to, *range.factor, range.from),
        "change an end, or give the number of points"});
  out.points_ = static_cast<std::int64_t>(steps) + 1;
  out.step_ = *range.factor;
  return out;
}

double ValueRange::most_values() const {
  const auto points = static_cast<double>(points_);
  return whole_ ? std::min(points, std::abs(high_ - low_) + 1) : points;
}

double ValueRange::value(std::int64_t i) const {
  const std::int64_t last = points_ - 1;
  if (i == 0) return low_;
  if (i == last) return high_;
  const double x = static_cast<double>(i);
  const double share = x / static_cast<double>(last);
  if (!logarithmic_) return step_ != 0 ? low_ + step_ * x : low_ + (high_ - low_) * share;
  if (step_ == 0) return low_ * portable_exp(share * portable_log(high_ / low_));
  // By repeated squaring, so that powers of whole factors are exact.
  double product = 1;
  double factor = step_;
  for (std::int64_t left = i; left > 0; left /= 2) {
    if (left % 2 == 1) product *= factor;
    factor *= factor;
  }
  return high_ < low_ ? low_ / product : low_ * product;
}

std::string ValueRange::text(double value, int digits) const {
  const Magnitude magnitude{whole_ ? std::round(value) : rounded(value, digits), dimension_};
  const auto out = setting_text(magnitude);
  TS_ENSURES(out.has_value(), magnitude.value, dimension_);  // between ends that have a text
  return *out;
}

// Six digits read well; values that lie closer have as many as tell them apart.
int ValueRange::label_digits() const {
  constexpr int kMost = 12;
  if (!logarithmic_ || step_ != 0) return kMost;
  const double growth = std::abs(portable_log(high_ / low_)) / static_cast<double>(points_);
  int digits = 6;
  while (digits < kMost && std::pow(10.0, 1 - digits) > growth) ++digits;
  return digits;
}

std::vector<std::string> ValueRange::labels() const {
  std::vector<std::string> out;
  const int digits = label_digits();
  for (std::int64_t i = 0; i < points_; ++i) {
    const bool end = i == 0 || i == points_ - 1;
    std::string label = text(value(i), end ? 17 : digits);
    if (out.empty() || out.back() != label) out.push_back(std::move(label));
  }
  return out;
}

double ValueRange::value_at(double share) const {
  const double low = std::min(low_, high_);
  const double high = std::max(low_, high_) + (whole_ ? 1 : 0);
  const double value = logarithmic_ ? low * portable_exp(share * portable_log(high / low))
                                    : low + (high - low) * share;
  return whole_ ? std::clamp(std::floor(value), low, high - 1) : value;
}

std::string ValueRange::label_at(double share, std::int64_t parts) const {
  TS_EXPECTS(share >= 0 && share < 1 && parts > 0, share, parts);
  const double value = value_at(share);
  if (whole_) return text(value, 12);
  const double part = std::floor(share * static_cast<double>(parts));
  const double begin = value_at(part / static_cast<double>(parts));
  const double end = value_at((part + 1) / static_cast<double>(parts));
  int digits = 4;
  while (digits < 12 && !(rounded(value, digits) >= begin && rounded(value, digits) < end))
    ++digits;
  return text(value, digits);
}

}  // namespace tiersim
