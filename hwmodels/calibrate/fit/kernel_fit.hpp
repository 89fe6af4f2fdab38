#pragma once
// Model card: kernel_fit (fitted from timings)
//   Models    the time of one kernel over its sizes, on one device, in one regime of L2.
//   Equation  t = misfit * table(t0 + ((bytes / rate)^p + (flops * tail / peak)^p)^(1/p)),
//             rate = min(bw, bytes_in_flight / latency) where the cases determine the latency.
//   Ignores   clocks that move with power; everything on the GPU beside the kernel.
//   Valid     from `shortest` to `longest`; beyond, the table's end ratios go on, and the
//             predictor reports it.
//   Source    equation: roofline with a smooth corner; numbers: timings of the device.
//   Checked   tests/unit/hwmodels/calibrate_fit_test.cpp: planted truth over 200 seeds
#include <array>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "hwmodels/calibrate/read/timing.hpp"
#include "hwmodels/forms/blend.hpp"

namespace tiersim {

/// A number with its 95 % interval; low <= value <= high.
struct Estimate {
  double value = 0;
  double low = 0;
  double high = 0;
};

/// Memory level that serves the bytes. A working set near the size of L2 is in neither.
enum class Regime : std::uint8_t { memory, l2, link };
inline constexpr std::array<std::string_view, 3> kRegimeNames{"memory", "l2", "link"};

/// Work of the timed kernel at one size: the inputs of the equation.
struct KernelPoint {
  double bytes = 0;  ///< bytes of the level that serves them
  double flops = 0;  ///< as executed
  double tail = 1;
  double bytes_in_flight = 0;  ///< 0: not known, so there is no such limit
};

/// Parameters of the equation. A rate that no case determines is infinite, and p is then 1.
struct KernelParameters {
  double t0 = 0;         ///< s
  double bandwidth = 0;  ///< B/s
  double peak = 0;       ///< FLOP/s
  double sharpness = 1;  ///< p, at least 1
  double latency = 0;    ///< s; 0 where no case determines it
};

/// Time of the bytes alone: bytes / min(bandwidth, bytes_in_flight / latency) [s].
double memory_time(const KernelParameters& parameters, const KernelPoint& point);

/// t0 + ((bytes/rate)^p + (flops*tail/peak)^p)^(1/p) [s]; portable arithmetic.
double kernel_time(const KernelParameters& parameters, const KernelPoint& point);

/// One knot of the monotone table that corrects the equation's time.
struct TimeKnot {
  double modelled = 0;  ///< s
  double measured = 0;  ///< s
};

/// The corrected time at `modelled`: monotone, PCHIP between knots, the end ratios beyond them, and
/// `modelled` itself for an empty table.
double through_table(const std::vector<TimeKnot>& table, double modelled);

/// Errors of predictions against measurements, as (predicted - measured) / measured.
struct ErrorSummary {
  std::int64_t count = 0;
  double signed_mean = 0;
  double median = 0;  ///< of the absolute errors, like the next two
  double p90 = 0;
  double worst = 0;
  std::string worst_case;
  double coverage = 0;  ///< share of the measurements inside the predicted intervals
};

struct CaseError {
  std::string name;
  double measured = 0;  ///< s
  Estimate predicted;   ///< s; of a held-out case, by the fit without it
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
  Estimate sharpness;  ///< profile interval
  /// False: no case determines it, so the rate is unlimited and not reported.
  bool has_bandwidth = false;
  bool has_peak = false;
  bool has_latency = false;
  /// True: the rate is that of a ceiling, which the best fit would exceed.
  bool held_bandwidth = false;
  bool held_peak = false;
  /// Correlations of the logarithms, in the order t0, bandwidth, peak, sharpness: 12 13 14 23 24
  /// 34.
  std::array<double, 6> correlation{};
  std::vector<KernelParameters> draws;  ///< bootstrap draws of `best`
  Estimate misfit{1, 1, 1};             ///< remaining factor between a new case and its prediction
  std::vector<TimeKnot> table;
  KernelPoint middle;          ///< geometric mean of the fitted cases
  double bytes_in_flight = 0;  ///< largest of the fitted cases; 0 where not known
  double shortest = 0;         ///< s, over the fitted cases
  double longest = 0;
  ErrorSummary in_sample;  ///< all cases, by the fit to all
  ErrorSummary held_out;   ///< every third case, by the fit to the others
  ErrorSummary largest;    ///< the largest case, by the fit without it
  std::vector<CaseError> cases;
  std::vector<std::string> notes;  ///< limits of what these cases determine, in words
};

}  // namespace tiersim
