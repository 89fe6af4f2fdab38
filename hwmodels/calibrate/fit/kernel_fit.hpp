#pragma once
// Model card: kernel_fit (fitted from timings)
//   Models    the time of one kernel over its sizes, on one device, in one regime of L2.
//   Equation  t = misfit * table(t0 + ((bytes / rate)^p + (flops * tail / peak)^p)^(1/p)),
//             rate = min(bw, bytes_in_flight / latency) where the latency could be seen.
//   Ignores   clocks that move with power; everything on the GPU beside the kernel.
//   Valid     from `shortest` to `longest`; beyond, the table's end ratios go on, and whoever
//             predicts says so.
//   Source    equation: roofline with a smooth corner; numbers: timings of the device.
//   Checked   tests/unit/hwmodels/calibrate_fit_test.cpp: planted truth over 200 seeds
#include <array>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "hwmodels/calibrate/read/timing.hpp"

namespace tiersim {

/// A number with its 95 % interval; low <= value <= high.
struct Estimate {
  double value = 0;
  double low = 0;
  double high = 0;
};

/// Which level of memory serves the bytes. A working set near the size of L2 is in neither.
enum class Regime : std::uint8_t { memory, l2, link };
inline constexpr std::array<std::string_view, 3> kRegimeNames{"memory", "l2", "link"};

/// What the timed kernel does at one size: the inputs of the equation.
struct KernelPoint {
  double bytes = 0;  ///< of the level that serves them
  double flops = 0;  ///< as executed
  double tail = 1;
  double bytes_in_flight = 0;  ///< 0: not known, so no limit
};

/// The parameters of the equation. A rate that no case shows is infinite, and p then 1.
struct KernelParameters {
  double t0 = 0;         ///< s
  double bandwidth = 0;  ///< B/s
  double peak = 0;       ///< FLOP/s
  double sharpness = 1;  ///< p, at least 1
  double latency = 0;    ///< s; 0 where nothing shows it
};

/// Time of the bytes alone: bytes / min(bandwidth, bytes_in_flight / latency) [s].
double memory_time(const KernelParameters& parameters, const KernelPoint& point);

/// (a^p + b^p)^(1/p), never below the larger; a, b >= 0, p >= 1. Portable arithmetic.
double blend(double a, double b, double p);

/// t0 + ((bytes/rate)^p + (flops*tail/peak)^p)^(1/p) [s]; portable arithmetic.
double kernel_time(const KernelParameters& parameters, const KernelPoint& point);

/// One knot of the monotone table from the equation's time to the kernel's.
struct TimeKnot {
  double modelled = 0;  ///< s
  double measured = 0;  ///< s
};

/// The table at `modelled`; the end ratios go on outside of it; `modelled` where it has no knots.
/// Monotone (PCHIP between knots).
double through_table(const std::vector<TimeKnot>& table, double modelled);

/// Errors of predictions against measurements, as (predicted - measured) / measured.
struct ErrorSummary {
  std::int64_t count = 0;
  double signed_mean = 0;
  double median = 0;  ///< of the absolute errors, as the others
  double p90 = 0;
  double worst = 0;
  std::string worst_case;
  double coverage = 0;  ///< share of the measurements inside the predicted intervals
};

struct CaseError {
  std::string name;
  double measured = 0;  ///< s
  Estimate predicted;   ///< s, by a fit that did not see the case where it is held out
  double error = 0;     ///< (predicted - measured) / measured
  bool held_out = false;
  bool largest = false;  ///< held out as the largest size
};

struct KernelFit {
  std::string kernel;
  std::string dtype;
  Regime regime = Regime::memory;
  std::string device;
  std::string date;
  std::string data_class;  ///< of the timings
  KernelParameters best;
  Estimate t0, bandwidth, peak, latency;
  Estimate sharpness;          ///< its profile interval
  bool has_bandwidth = false;  ///< whether any case shows it; else unlimited, and not reported
  bool has_peak = false;
  bool has_latency = false;
  /// Of the logarithms, in the order t0, bandwidth, peak, sharpness: 12 13 14 23 24 34.
  std::array<double, 6> correlation{};
  std::vector<KernelParameters> draws;  ///< of the bootstrap: `best` as it might have come out
  Estimate misfit{1, 1, 1};             ///< what is left of a new case's time after everything else
  std::vector<TimeKnot> table;
  KernelPoint middle;          ///< geometric mean of the fitted cases
  double bytes_in_flight = 0;  ///< most of the fitted cases; 0 where not known
  double shortest = 0;         ///< s, of the fitted cases
  double longest = 0;
  ErrorSummary in_sample;  ///< all cases, by the fit to all
  ErrorSummary held_out;   ///< every third case, by the fit to the others
  ErrorSummary largest;    ///< the largest case, by the fit without it
  std::vector<CaseError> cases;
  std::vector<std::string> notes;  ///< what could not be told from these cases, in words
};

}  // namespace tiersim
