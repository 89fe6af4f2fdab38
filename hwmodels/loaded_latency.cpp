#include "hwmodels/loaded_latency.hpp"

#include <algorithm>
#include <cmath>

#include <fmt/format.h>

#include "hwmodels/limits.hpp"
#include "sim/base/portable_math.hpp"

namespace tiersim {
namespace {

constexpr double kMostLoad = 4;             // of a port, both directions together
constexpr double kMostOfSaturation = 0.98;  // just above the highest load measured on an H100
constexpr double kSteps = 1048576;          // 2^20

double ps(const Sourced<Duration>& time) {
  return static_cast<double>(time.value.count());
}

double end_of(const LatencyCurve& curve) {
  return curve.formula ? kMostOfSaturation * curve.formula->saturation.value
                       : curve.points.back().load;
}

double formula_at(const LatencyFormula& formula, double load) {
  const double queue = portable_pow(load, formula.exponent.value);
  return ps(formula.scale) * (queue / (1.0 - load / formula.saturation.value));
}

double points_at(const std::vector<LatencyPoint>& points, double load) {
  const auto above = std::ranges::lower_bound(points, load, {}, &LatencyPoint::load);
  if (above == points.end()) return ps(points.back().added);
  const double from = above == points.begin() ? 0 : (above - 1)->load;
  const double low = above == points.begin() ? 0 : ps((above - 1)->added);
  return low + (ps(above->added) - low) * ((load - from) / (above->load - from));
}

// Added latency in ps.
double value_of(const LatencyCurve& curve, double load) {
  const double within = std::min(load, end_of(curve));
  if (within <= 0) return 0;
  return curve.formula ? formula_at(*curve.formula, within) : points_at(curve.points, within);
}

// Rounding in pow() is far below a step, so it cannot make a curve fall.
double in_steps(double load) {
  return std::floor(load * kSteps) / kSteps;
}

double between(double low, double high, double part) {
  return low + (high - low) * part;
}

}  // namespace

LoadedLatency::LoadedLatency(std::vector<LatencyCurve> curves, Bandwidth whole)
    : curves_(std::move(curves)), whole_(whole) {
  TS_EXPECTS(!curves_.empty() && whole_ > Bandwidth{}, curves_.size(), whole_);
}

Duration LoadedLatency::at(Bandwidth rate, double read_share) const {
  const Bandwidth most = Bandwidth::from_base(whole_.in_base() * static_cast<int>(kMostLoad));
  const Int128 steps = (Int128{std::min(rate, most).in_base()} << 20U) / whole_.in_base();
  const double load = static_cast<double>(steps) / kSteps;
  const auto above = std::ranges::lower_bound(curves_, read_share, {}, &LatencyCurve::read_share);
  const auto in_time = [](double value) { return Duration(static_cast<std::int64_t>(value)); };
  if (above == curves_.end()) return in_time(value_of(curves_.back(), load));
  if (above == curves_.begin() || above->read_share == read_share)
    return in_time(value_of(*above, load));
  const LatencyCurve& low = *(above - 1);
  const double part = (read_share - low.read_share) / (above->read_share - low.read_share);
  const double share = in_steps(load / between(end_of(low), end_of(*above), part));
  return in_time(
      between(value_of(low, share * end_of(low)), value_of(*above, share * end_of(*above)), part));
}

void describe(Fields& f, LatencyFormula& c) {
  f.doc("Latency that queueing adds: scale * u^exponent / (1 - u / saturation), u = load.");
  f.required("scale", c.scale, "Added latency in front of the two terms.", latency_limits());
  f.required("exponent", c.exponent, "Power of the load.", in_range(0.1, 8.0));
  f.required("saturation", c.saturation, "Load at which the queue would grow without end.",
             in_range(0.01, kMostLoad));
}

void describe(Fields& f, LatencyPoint& c) {
  f.doc("One point of a loaded-latency curve.");
  f.required("load", c.load, "Payload rate, reads and writes, over that of the device.",
             in_range(1e-6, kMostLoad));
  f.required("added", c.added, "Latency beyond that without load.", latency_limits());
}

void describe(Fields& f, LatencyCurve& c) {
  f.doc("Latency that queueing adds at one read share.");
  f.required("read_share", c.read_share, "Of the payload.", in_range(0.0, 1.0));
  f.optional("formula", c.formula, "Where the curve is one.");
  f.optional("points", c.points, "Where the curve is not: in rising order, joined by lines.");
  f.check(c.formula.has_value() == c.points.empty(), "",
          c.points.empty() ? "has neither formula nor points" : "has a formula and points",
          "one of them");
  for (std::size_t i = 1; i < c.points.size(); ++i) {
    f.check(c.points[i - 1].load < c.points[i].load, fmt::format("points.{}.load", i),
            "is not above that of the point before it", "in rising order");
    f.check(c.points[i - 1].added.value <= c.points[i].added.value,
            fmt::format("points.{}.added", i), "is below that of the point before it",
            "latency never falls with the load");
  }
}

void describe_curves(Fields& f, std::vector<LatencyCurve>& curves) {
  for (std::size_t i = 1; i < curves.size(); ++i)
    f.check(curves[i - 1].read_share < curves[i].read_share,
            fmt::format("by_read_share.{}.read_share", i),
            "is not above that of the curve before it", "in rising order");
}

void describe(Fields& f, LatencyFamily& c) {
  f.doc("Latency that queueing adds, by the share of reads.");
  f.required("by_read_share", c.by_read_share, "Curves in rising order of the read share.");
  f.check(!c.by_read_share.empty(), "by_read_share", "has no curve", "one at least");
  describe_curves(f, c.by_read_share);
}

}  // namespace tiersim
