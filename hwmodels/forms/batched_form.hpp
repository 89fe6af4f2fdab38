#pragma once
// Model card: batched_form (fitted from timings)
//   Models    products of equal shape with one matrix each, in one call, such as those of every
//             head that absorb the unpacking of latents (MLA). The quantisation of the input is
//             part of it where the operands have 8 bits.
//   Equation  t = (t0 + max(bytes of matrices / rate + passes * 2 * batch * m * (n + k) / memory
//             rate, FLOPs / peak)) * exp(surface(batch * m)), where the matrices come
//             from L2 in a benchmark that fits, and from memory in a step.
//   Ignores   tiles; the shape beyond bytes and FLOPs.
//   Valid     the timed sizes: 512 x 128 and 128 x 512 for each head.
//   Source    timings, by fit_form.
//   Checked   tests/unit/hwmodels/batched_form_test.cpp: planted truth
#include "hwmodels/forms/kernel_form.hpp"

namespace tiersim {

struct BatchedCase {
  double m = 1;             ///< rows of each product: tokens
  double n = 1;             ///< columns of each
  double k = 1;             ///< depth of each
  double batch = 1;         ///< products
  double weight_bytes = 2;  ///< of an element of the matrices

  std::vector<double> sizes() const { return {m, n, k, batch, weight_bytes}; }
};

const KernelForm& batched_form();

}  // namespace tiersim
