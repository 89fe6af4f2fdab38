#pragma once
// Model card: calibrated_kernel (fitted from timings)
//   Models    one kernel family of a GPU by parameters that were fitted to timings of its kernel.
//   Equation  t = misfit * transfer * table(launch + (m^p + c^p)^(1/p));
//             m = bytes / min(bandwidth, in_flight / latency), at least the time of accesses
//             beyond the GPU's own memory; c = flops / peak. Bandwidth and peak are scaled by the
//             ratio of data-sheet ceilings, of this GPU and arithmetic over those timed; transfer
//             is 1 on the timed part. `launch` holds the latency of the GPU's own memory.
//   Ignores   waves: the fit divides the tail out, and a kernel of a step is taken to fill the
//             GPU; L2: the regime of the fit is memory.
//   Valid     `shortest` to `longest`. Beyond them the end ratios of the table go on, and the
//             record states the share of time this applies to. Never faster than a data-sheet
//             rate.
//   Source    configs/calibration/<part>/<date>-<id>, written by `tiersim calibrate`
//   Checked   tests/unit/hwmodels/calibrated_kernel_test.cpp
#include <optional>
#include <string>
#include <vector>

#include "hwmodels/calibrate/fit/kernel_fit.hpp"
#include "sim/base/number_class.hpp"
#include "sim/config/fields.hpp"
#include "sim/model/device.hpp"

namespace tiersim {

struct TableKnotConfig {
  Duration modelled{};
  Duration measured{};
};
void describe(Fields& f, TableKnotConfig& c);

struct CalibratedKernelConfig {
  std::string kernel;       ///< the timed kernel: "dense_decode/fma.ring3"
  std::string calibration;  ///< "h200/2026-11-21-a1"
  std::string part;         ///< the timed part: "h200"
  Arithmetic arithmetic = Arithmetic::bf16;
  Sourced<Duration> launch;
  std::optional<Sourced<Bandwidth>> bandwidth;  ///< absent: taken from the memory's model
  std::optional<Sourced<FlopRate>> peak;        ///< absent: taken from the GPU's specification
  std::optional<Sourced<double>> sharpness;     ///< absent: the larger of the two terms counts
  std::optional<Sourced<Bytes>> in_flight;
  std::optional<Sourced<Duration>> latency;
  Sourced<double> misfit{1, NumberClass::fitted, "1: the fit's own time"};
  Sourced<double> transfer{1, NumberClass::assumed, "1: as timed"};
  /// Correlations of the logarithms of the numbers present, in the order launch, bandwidth, peak,
  /// sharpness: 12 13 14 23 24 34.
  std::vector<double> correlation;
  std::vector<TableKnotConfig> table;
  Duration shortest{};
  Duration longest{};
  Sourced<Bandwidth> part_memory_peak;
  Sourced<FlopRate> part_peak;
};
void describe(Fields& f, CalibratedKernelConfig& c);

/// Data-sheet rates of the GPU: for parameters that the fit lacks, and for transfers between parts.
struct SpecifiedRates {
  FlopRate rate;  ///< specified rate of the kernel family
  FlopRate peak;  ///< data-sheet peak of the arithmetic
};

class CalibratedKernel {
 public:
  /// `part`: name of the simulated GPU.
  CalibratedKernel(const CalibratedKernelConfig& config, std::string_view part);

  KernelTime time(const KernelWork& work, const SpecifiedRates& rates) const;
  /// `specified`: the weakest number class among the GPU's specifications.
  KernelBasis basis(NumberClass specified) const;

 private:
  KernelParameters scaled(const KernelWork& work, const SpecifiedRates& rates) const;

  CalibratedKernelConfig config_;
  KernelParameters fitted_;
  std::vector<TimeKnot> table_;
  bool transferred_ = false;
};

}  // namespace tiersim
