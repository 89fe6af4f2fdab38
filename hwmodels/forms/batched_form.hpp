#pragma once
// Model card: batched_form (fitted from timings)
//   Models    a batched matrix product: one kernel multiplies `batch` inputs of equal shape, each
//             with its own matrix. In absorbed MLA it takes queries to the latent space, and
//             outputs back, head by head. With 8-bit operands it includes the quantisation of the
//             input.
//   Equation  t = (t0 + max(bytes of matrices / rate + passes * 2 * batch * m * (n + k) / memory
//             rate, FLOPs / peak)) * exp(surface(batch * m)). The matrices are read from
//             memory in a step, and from L2 in a benchmark whose matrices fit there.
//   Ignores   tiles, and every effect of the shape beyond its bytes and FLOPs.
//   Valid     the timed sizes, which are matrices of 512 x 128 and 128 x 512.
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
