#pragma once
// Model card: quantise_form (fitted from timings)
//   Models    the quantisation of activations from bf16 with a scale that is found on the way: the
//             largest magnitude, the scale, the division.
//   Equation  t = (t0 + passes * (2 + output_bytes) * m * k / memory rate) * exp(surface(m * k)).
//   Ignores   the shape beyond m * k; the number of kernels.
//   Valid     the timed sizes; a kernel that shares its read with another one is faster.
//   Source    timings, by fit_form.
//   Checked   tests/unit/hwmodels/quantise_form_test.cpp: planted truth
#include "hwmodels/forms/kernel_form.hpp"

namespace tiersim {

struct QuantiseCase {
  double m = 1;             ///< rows: tokens
  double k = 1;             ///< columns
  double output_bytes = 1;  ///< of an element

  std::vector<double> sizes() const { return {m, k, output_bytes}; }
};

const KernelForm& quantise_form();

}  // namespace tiersim
