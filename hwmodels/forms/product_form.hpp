#pragma once
// Model card: product_form (fitted from timings)
//   Models    the time of one matrix product, m x k by k x n, as a library runs it on a GPU.
//   Equation  t = (t0 + (M^p + C^p)^(1/p) + Q) * exp(surface(m, n, k)).
//             M = (W + A) / (share * memory rate), with W the weights and A inputs and result;
//             faster by l2_speed where what the repetitions touch lies in L2.
//             C = the least over tiles and splits of the depth of (waves of tiles over the SMs) *
//             (64-deep slices) * (time of a slice) + (cost of adding up the pieces).
//             Q = quantise * (2 + input bytes) * m * k / memory rate, where inputs are quantised.
//             Variants: tiles and splits of a library such as cuBLAS, or the few of an engine.
//   Ignores   other kernels on the GPU; clocks that fall with power; heuristics that choose a
//             kernel which is not the fastest.
//   Valid     m up to 32768, n and k from 32 to 65536; the surface is constant beyond its knots.
//   Source    tiles and waves: NVIDIA, Matrix Multiplication Background User's Guide (2023);
//             numbers: timings, by fit_form (hwmodels/calibrate/fit/form_fit.hpp).
//   Checked   tests/unit/hwmodels/product_form_test.cpp: planted truth
#include "hwmodels/forms/kernel_form.hpp"

namespace tiersim {

/// A product of m x k by k x n, the weights, with the bytes of an element.
struct ProductCase {
  double m = 0;
  double n = 0;
  double k = 0;
  double weight_bytes = 2;
  double input_bytes = 2;
  double quantises = 0;  ///< 1: inputs arrive as bf16 and are quantised within the time
  /// Repetitions of a timing go round this many copies of the weights; 0 where they lie in memory.
  double copies = 0;

  std::vector<double> sizes() const {
    return {m, n, k, weight_bytes, input_bytes, quantises, copies};
  }
};

const KernelForm& product_form();

}  // namespace tiersim
