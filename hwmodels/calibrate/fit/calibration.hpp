#pragma once
// Calibration of a device: one fit for each timed kernel, and the choice of the fit that the
// simulator uses for each kernel family.
#include <array>
#include <functional>
#include <map>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "hwmodels/calibrate/fit/fit.hpp"
#include "sim/model/step_graph.hpp"

namespace tiersim {

/// Cases that no fit uses, with the reason.
struct LeftOut {
  std::string what;  ///< a case, or the cases of one kernel
  std::string why;
};

struct Calibration {
  std::vector<KernelFit> fits;  ///< by kernel, regime
  std::vector<LeftOut> left_out;
  /// As TimingSet::families. A family with such kernels uses no other.
  std::map<std::string, KernelFamily, std::less<>> families = {};
};

/// The device's hard peak of that name; 0 where the set has none.
double hard_peak(const TimingSet& set, std::string_view name);

/// Memory level that served the bytes of a case: the link where any byte crossed it; L2 where the
/// inputs were left there by the previous run and fill at most 0.7 of it; memory where the inputs
/// were not in L2 or fill at least 1.5 of it. Empty in between, where part of a working set fits:
/// nothing is interpolated across that cliff.
std::optional<Regime> regime_of(const TimingCase& timing, double l2_bytes);

/// Inputs of the kernel equation for a case in its regime.
KernelPoint point_of(const TimingCase& timing, Regime regime);

/// Name of the fit that a case belongs to: "dense_decode/fma bf16" for the variants fma.ring2 and
/// fma.ring3. All products of a library are one fit, whatever part of a model uses them. Sizes of
/// rows and of the table that they lie in are part of the name, since the equation has no term for
/// the pattern of access: "gather/loads bytes row_bytes=256 table_rows=1048576". So is the width of
/// a latent that heads attend to, which other programs read.
std::string fit_name(const TimingCase& timing);

/// Fits every kernel of the set that has enough cases, kernels of libraries included;
/// family_kernels() states which kernel stands for a family.
Calibration calibrate(const TimingSet& set, const FitOptions& options = {});

/// The kernels whose fits a family may use, best first; empty where nothing is timed for it.
std::span<const std::string_view> family_kernels(KernelFamily family);

/// The memory-regime fit of the family: that of the user's kernels for it, else of the first of its
/// kernels that was fitted. Among the variants of this kernel, or among the user's kernels, it is
/// the one that takes least time at the middle of all their cases. Null where there is none.
const KernelFit* fit_for(KernelFamily family, const Calibration& calibration);

}  // namespace tiersim
