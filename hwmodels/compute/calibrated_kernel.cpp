#include "hwmodels/compute/calibrated_kernel.hpp"

#include <algorithm>

#include "hwmodels/limits.hpp"

namespace tiersim {
namespace {

// Stands for an absent sharpness; no timings tell a larger p from the larger of the two terms.
constexpr double kSharpest = 64;
// Tolerance: the shortest timed case may have been slow by chance.
constexpr double kShortestTimed = 0.9;

Duration from_seconds(double seconds) {
  const double ps = seconds * static_cast<double>(kPicosecondsPerSecond);
  if (ps >= 9.2e18) throw UnitOverflow();
  const auto whole = static_cast<std::int64_t>(ps);
  return Duration(static_cast<double>(whole) < ps ? whole + 1 : whole);
}

template <class Rate>
double per_second(Rate rate) {
  return static_cast<double>(rate.in_base());
}

template <class T>
NumberClass weaker(NumberClass so_far, const std::optional<Sourced<T>>& number) {
  return number ? weakest(so_far, number->number_class) : so_far;
}

}  // namespace

void describe(Fields& f, TableKnotConfig& c) {
  f.doc("The time by the equation and the measured time of one case.");
  f.required("modelled", c.modelled, "Time by the equation.", positive());
  f.required("measured", c.measured, "Time of the kernel.", positive());
}

void describe(Fields& f, CalibratedKernelConfig& c) {
  f.doc("One kernel family as fitted to timings.");
  f.required("kernel", c.kernel, "The kernel that was timed.");
  f.required("from", c.calibration, "The calibration it comes from: <part>/<date>-<id>.");
  f.required("part", c.part, "The GPU that was timed.");
  f.optional("arithmetic", c.arithmetic, kArithmeticNames, "Of the timed kernel.");
  f.required("launch", c.launch, "t0: dependent launch of a kernel without work.",
             latency_limits());
  f.optional("bandwidth", c.bandwidth,
             "Rate at which it uses the GPU's own memory; that memory's model where absent.",
             bandwidth_limits());
  f.optional("peak", c.peak, "Rate of its arithmetic; by specification where absent.",
             flop_rate_limits());
  f.optional("sharpness", c.sharpness,
             "p of (memory^p + compute^p)^(1/p); the larger of the two where absent.",
             in_range(1.0, kSharpest));
  f.optional("in_flight", c.in_flight, "Bytes that it keeps in flight; no limit where absent.",
             positive());
  f.optional("latency", c.latency, "Of its loads under load; no limit where absent.",
             latency_limits());
  f.optional("misfit", c.misfit, "Factor on its time: what the equation leaves unexplained.",
             in_range(0.01, 100.0));
  f.optional("transfer", c.transfer, "Factor on its time on any GPU but the timed part.",
             in_range(0.01, 100.0));
  f.optional(
      "correlation", c.correlation,
      "Of the logarithms of launch, bandwidth, peak, sharpness, those present: 12 13 ... 34.",
      in_range(-1.0, 1.0));
  f.optional("table", c.table, "Monotone correction of the equation, by rising times.");
  f.required("shortest", c.shortest, "Shortest time that was fitted.", positive());
  f.required("longest", c.longest, "Longest time that was fitted.", positive());
  f.required("part_memory_peak", c.part_memory_peak, "Data-sheet rate of the timed part's memory.",
             bandwidth_limits());
  f.required("part_peak", c.part_peak, "Data-sheet rate of its arithmetic.", flop_rate_limits());
  std::vector<std::string_view> together{"launch"};
  if (c.bandwidth) together.emplace_back("bandwidth");
  if (c.peak) together.emplace_back("peak");
  if (c.sharpness) together.emplace_back("sharpness");
  f.correlated(together, "correlation", c.correlation);
  for (std::size_t i = 1; i < c.table.size(); ++i) {
    const std::string at = "table." + std::to_string(i);
    f.check(c.table[i - 1].modelled < c.table[i].modelled, at, "does not rise",
            "knots stand in the order of their times");
    f.check(c.table[i - 1].measured <= c.table[i].measured, at, "falls", "more work takes longer");
  }
  f.check(c.table.empty() || c.table.size() >= 4, "table", "has fewer than 4 knots",
          "leave it out, or give it 4");
  f.check(c.shortest <= c.longest, "shortest", "is above longest");
}

CalibratedKernel::CalibratedKernel(const CalibratedKernelConfig& config, std::string_view part)
    : config_(config), transferred_(part != config.part) {
  fitted_.t0 = to_seconds(config.launch.value);
  if (config.bandwidth) fitted_.bandwidth = per_second(config.bandwidth->value);
  if (config.peak) fitted_.peak = per_second(config.peak->value);
  fitted_.sharpness = config.sharpness ? config.sharpness->value : kSharpest;
  if (config.latency && config.in_flight) fitted_.latency = to_seconds(config.latency->value);
  for (const TableKnotConfig& knot : config.table)
    table_.push_back({to_seconds(knot.modelled), to_seconds(knot.measured)});
}

// Scales the fitted rates by the ratio of data-sheet ceilings, of this GPU over the timed part.
KernelParameters CalibratedKernel::scaled(const KernelWork& work,
                                          const SpecifiedRates& rates) const {
  KernelParameters p = fitted_;
  if (config_.bandwidth)
    p.bandwidth *= per_second(work.memory_peak) / per_second(config_.part_memory_peak.value);
  if (config_.peak)
    p.peak *= per_second(rates.peak) / per_second(config_.part_peak.value);
  else
    p.peak = per_second(rates.rate);
  return p;
}

KernelTime CalibratedKernel::time(const KernelWork& work, const SpecifiedRates& rates) const {
  TS_EXPECTS(work.memory_peak > Bandwidth{}, work.memory_peak);
  const KernelParameters p = scaled(work, rates);
  const KernelPoint point{
      .bytes = per_second(work.memory_bytes),
      .flops = per_second(work.flops),
      .tail = 1,
      .bytes_in_flight = config_.in_flight ? per_second(config_.in_flight->value) : 0};
  double memory = to_seconds(work.memory_time);
  std::optional<double> own;
  if (config_.bandwidth) {
    own = memory_time(p, point);
    memory = std::max(*own, to_seconds(work.other_time));
  }
  const double compute = point.flops / p.peak;
  const double factor = config_.misfit.value * (transferred_ ? config_.transfer.value : 1);
  const double fitted = through_table(table_, p.t0 + blend(memory, compute, p.sharpness));
  const Duration total = from_seconds(factor * fitted);
  // A random draw of uncertain parameters is never faster than the device or the accesses waited
  // for.
  const Duration by_memory = work.memory_bytes / work.memory_peak;
  const Duration by_others = config_.bandwidth ? work.other_time : work.memory_time;
  KernelTime out;
  out.launch = std::min(from_seconds(p.t0), total);
  out.body = std::max({total - out.launch, by_others, by_memory, work.flops / rates.peak});
  out.compute = std::min(from_seconds(compute), out.body);
  if (own) out.own_memory = std::clamp(from_seconds(*own), by_memory, out.body);
  out.launch_has_latency = true;
  out.beyond_timed = fitted > to_seconds(config_.longest) ||
                     fitted < kShortestTimed * to_seconds(config_.shortest);
  return out;
}

KernelBasis CalibratedKernel::basis(NumberClass specified) const {
  NumberClass weakest_class = weakest(config_.launch.number_class, config_.misfit.number_class);
  weakest_class = weaker(weakest_class, config_.bandwidth);
  weakest_class = weaker(weakest_class, config_.peak);
  weakest_class = weaker(weakest_class, config_.sharpness);
  if (!config_.peak) weakest_class = weakest(weakest_class, specified);
  if (transferred_) weakest_class = weakest(weakest_class, config_.transfer.number_class);
  return {.basis = transferred_ ? "transferred" : "fitted",
          .number_class = weakest_class,
          .source = config_.calibration + ": " + config_.kernel};
}

}  // namespace tiersim
