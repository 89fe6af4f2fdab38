#pragma once
// From the timings of a device to one fit for each kernel, and from those to what the simulator
// uses for each kernel family.
#include <array>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "hwmodels/calibrate/fit/fit.hpp"
#include "sim/model/step_graph.hpp"

namespace tiersim {

/// Cases that no fit takes, and why.
struct LeftOut {
  std::string what;  ///< a case, or the cases of one kernel
  std::string why;
};

struct Calibration {
  std::vector<KernelFit> fits;  ///< by kernel, regime
  std::vector<LeftOut> left_out;
};

/// The hard peak of that name; 0 where the set has none.
double hard_peak(const TimingSet& set, std::string_view name);

/// Which level served the case's bytes: the link where any crossed it; L2 where the inputs stood
/// there from the run before and fill at most 0.7 of it; memory where nothing stood there or they
/// fill at least 1.5 of it. None in between, where a working set is on the cliff: nothing is
/// interpolated across it.
std::optional<Regime> regime_of(const TimingCase& timing, double l2_bytes);

/// The equation's inputs of a case in its regime.
KernelPoint point_of(const TimingCase& timing, Regime regime);

/// What is fitted together: "dense_decode/fma bf16" of the variants fma.ring2 and fma.ring3. A
/// library's products are one, whatever part of a model asks for them.
std::string fit_name(const TimingCase& timing);

/// Fits every kernel of the set that has enough cases, a library's kernels too: which one stands
/// for a family is for family_kernels() to say.
Calibration calibrate(const TimingSet& set, const FitOptions& options = {});

/// The kernels whose fits a family may use, best first; empty where nothing is timed for it.
std::span<const std::string_view> family_kernels(KernelFamily family);

/// The memory-regime fit that the family uses: the first of its kernels that was fitted; of its
/// variants the one that takes least at the middle of all their cases. Null where there is none.
const KernelFit* fit_for(KernelFamily family, const Calibration& calibration);

}  // namespace tiersim
