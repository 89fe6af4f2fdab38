#pragma once
// Model card: calibrated_kernel (fitted from timings)
//   Models    one kernel family of a GPU by what was fitted to timings of its kernel.
//   Equation  t = misfit * transfer * table(launch + (m^p + c^p)^(1/p));
//             m = bytes / min(bandwidth, in_flight / latency), at least the time of accesses
//             beyond the GPU's own memory; c = flops / peak. Bandwidth and peak are scaled by the
//             ratio of data-sheet ceilings, of this GPU and arithmetic over those timed; transfer
//             is 1 on the timed part. t0 holds the latency of the GPU's own memory.
//   Ignores   waves: the fit divides the tail out, and a step's kernel is taken to fill the GPU;
//             L2: the regime of the fit is memory.
//   Valid     `shortest` to `longest`; beyond, the equation goes on with the table's end ratio, and
//             the record says for how much of the time. Never faster than a data-sheet rate.
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
  std::string kernel;       ///< what was timed: "dense_decode/fma.ring3"
  std::string calibration;  ///< "h200/2026-11-21-a1"
  std::string part;         ///< the timed part: "h200"
  Arithmetic arithmetic = Arithmetic::bf16;
  Sourced<Duration> launch;
  std::optional<Sourced<Bandwidth>> bandwidth;  ///< none: the memory's own model says
  std::optional<Sourced<FlopRate>> peak;        ///< none: the GPU's specification says
  std::optional<Sourced<double>> sharpness;     ///< none: the larger of the two terms
  std::optional<Sourced<Bytes>> in_flight;
  std::optional<Sourced<Duration>> latency;
  Sourced<double> misfit{1, NumberClass::fitted, "1: the fit's own time"};
  Sourced<double> transfer{1, NumberClass::assumed, "1: as timed"};
  std::vector<double> correlation;  ///< of the logarithms of the numbers present, in the order
                                    ///< launch, bandwidth, peak, sharpness: 12 13 14 23 24 34
  std::vector<TableKnotConfig> table;
  Duration shortest{};
  Duration longest{};
  Sourced<Bandwidth> part_memory_peak;
  Sourced<FlopRate> part_peak;
};
void describe(Fields& f, CalibratedKernelConfig& c);

/// What the GPU says of itself, for what the fit leaves open and for transfers.
struct SpecifiedRates {
  FlopRate rate;  ///< that the family would reach by specification
  FlopRate peak;  ///< of the arithmetic, by the data sheet
};

class CalibratedKernel {
 public:
  /// `part`: what the GPU is.
  CalibratedKernel(const CalibratedKernelConfig& config, std::string_view part);

  KernelTime time(const KernelWork& work, const SpecifiedRates& rates) const;
  /// `specified`: the weakest class of the GPU's own numbers.
  KernelBasis basis(NumberClass specified) const;

 private:
  KernelParameters scaled(const KernelWork& work, const SpecifiedRates& rates) const;

  CalibratedKernelConfig config_;
  KernelParameters fitted_;
  std::vector<TimeKnot> table_;
  bool transferred_ = false;
};

}  // namespace tiersim
