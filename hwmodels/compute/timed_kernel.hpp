#pragma once
// Model card: timed_kernel (fitted from timings)
//   Models    kernels of a GPU by the forms of hwmodels/forms, with numbers that `tiersim calibrate
//             --table` fitted to timings of them: matrix products, decode and prefill attention,
//             experts of a layer.
//   Equation  t = misfit * transfer * form(sizes, data sheet). Of the kernels with the arithmetic
//             and family of an operation, the one whose timed sizes are nearest counts.
//             A product whose input comes quantised is faster by the time of the quantisation, as
//             far as both were timed.
//             A product of `count` matrices is taken as one with `count` times the columns.
//             The products of a layer's experts share the time of all of them by their weights:
//             that of the routed experts, of which all that are reached have the same number of
//             tokens, and that of two products for the shared ones.
//             On another part the form has that GPU's data sheet; transfer is 1 on the timed part.
//   Ignores   what the form ignores; inputs in L2, which a whole step does not have.
//   Valid     the timed sizes. Beyond them the form goes on with the surface of the nearest
//             timed sizes, misfit counts twice, so that its interval is wider, and the record
//             states the share of time this applies to. Never faster than a data-sheet rate, but
//             for warm inputs.
//   Source    configs/calibration/<part>/<engine>-<version>, written by `tiersim calibrate --table`
//   Checked   tests/unit/hwmodels/timed_kernel_test.cpp
#include <array>
#include <map>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "hwmodels/forms/kernel_form.hpp"
#include "sim/base/number_class.hpp"
#include "sim/config/fields.hpp"
#include "sim/model/device.hpp"

namespace tiersim {

/// Data sheet of the GPU that was timed.
struct TimedPartConfig {
  std::string name;  ///< "h200"
  Bandwidth memory;
  FlopRate peak;  ///< of the kernel's arithmetic
  Bytes l2;
  std::int64_t sms = 0;
};
void describe(Fields& f, TimedPartConfig& c);

struct TimedKernelConfig {
  std::string form;
  KernelFamily family = KernelFamily::gemm;  ///< of the operations that it runs
  std::string variant;
  std::string kernel;       ///< name in the timings: "torch_flow bfloat16"
  std::string calibration;  ///< "h200/trtllm-1.3.0rc20"
  Arithmetic arithmetic = Arithmetic::bf16;
  TimedPartConfig part;
  std::map<std::string, double> parameters;
  std::vector<double> surface;
  std::map<std::string, double> least;  ///< of each size that was timed
  std::map<std::string, double> most;
  Sourced<double> misfit{1, NumberClass::fitted, "1: the fit's own time"};
  Sourced<double> transfer{1, NumberClass::assumed, "1: as timed"};
};
void describe(Fields& f, TimedKernelConfig& c);

/// The kernels of one GPU that were timed.
class TimedKernels {
 public:
  /// `gpu`: the simulated one.
  TimedKernels(const std::map<std::string, TimedKernelConfig>& configs, ComputeSheet gpu);

  /// Nothing where no kernel of the operation's family and arithmetic was timed.
  std::optional<KernelTime> time(const KernelWork& work) const;
  /// True where a kernel of the family was timed.
  bool has(KernelFamily family) const { return has_[static_cast<std::size_t>(family)]; }
  /// Provenance of the times of the kernels that ran, or, if that is null, of all that the family
  /// may use. Nothing where there is none.
  std::optional<KernelBasis> basis(KernelFamily family, const TimedNames* ran) const;

 private:
  struct Kernel {
    std::string name;  ///< in the configuration
    std::string kernel, calibration;
    KernelFamily family = KernelFamily::gemm;
    Arithmetic arithmetic = Arithmetic::bf16;
    TimedPartConfig part;
    FittedForm fitted;
    std::vector<double> least, most;
    double misfit = 1;
    Interval<double> scatter{1, 1};  ///< 95 % interval of misfit
    double transfer = 1;             ///< 1 on the timed part
    Interval<double> carried{1, 1};  ///< 95 % interval of transfer
    bool transferred = false;
    NumberClass number_class = NumberClass::fitted;

    std::vector<double> within(KernelSizes sizes) const;  ///< the nearest timed sizes
  };
  struct Estimate {
    double seconds = 0;
    double launch = 0;  ///< part of it [s]
    bool beyond_timed = false;
    std::string_view kernel;        ///< of the routed experts, where there are several
    Interval<double> spread{1, 1};  ///< 95 % interval of the time, as factors
  };
  /// Nothing where no kernel of the family and arithmetic was timed.
  std::optional<Estimate> estimate(KernelFamily family, const KernelWork& work,
                                   KernelSizes sizes) const;
  double shortest_kernel() const;  ///< [s]; 0: not timed
  double dividing_time(const KernelWork& work, std::span<const double> sizes) const;
  void take_quantisation(const KernelWork& work, Estimate& product) const;
  bool has_batches_in(Arithmetic arithmetic) const;
  double least_time_of_shared(const KernelWork& work) const;
  /// False where the shared experts of `work` have no timed product.
  bool add_shared(const KernelWork& work, Estimate& sum) const;
  /// The kernel whose timed sizes are nearest, of this form alone unless it is null.
  const Kernel* nearest(KernelFamily family, Arithmetic arithmetic, KernelSizes sizes,
                        const KernelForm* form) const;

  GpuSheet sheet_of(const Kernel& kernel, const KernelWork& work) const;

  ComputeSheet gpu_;
  std::vector<Kernel> kernels_;
  std::array<bool, kKernelFamilyNames.size()> has_{};
};

}  // namespace tiersim
