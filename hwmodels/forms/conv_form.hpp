#pragma once
// Model card: conv_form (fitted from timings)
//   Models    the short causal convolution before linear attention, with its activation: over the
//             tokens of a prompt, or over one or a few new tokens and the inputs before them.
//   Equation  t = (t0 + (work^p + M^p)^(1/p)) * exp(surface(blocks / SMs, tokens)).
//             A block has up to 8 tokens of a sequence (64 or 1024, by variant) and 256 channels.
//             work = (c0 + c1 * its tokens) * (1 + (blocks / (SMs * resident))^w)^(1/w).
//             M = bytes / (share * memory rate), of which a part is in L2 (warm_memory.hpp): inputs
//             and results in bf16, and what a sequence keeps of its last inputs.
//   Ignores   the type of the weights.
//   Valid     the timed sizes.
//   Source    timings, by fit_form. The kernels are those of vLLM's and Mamba's causal_conv1d.
//   Checked   tests/unit/hwmodels/linear_forms_test.cpp: by hand, and planted truth
#include "hwmodels/forms/kernel_form.hpp"

namespace tiersim {

struct ConvCase {
  double sequences = 1;
  double tokens = 1;  ///< new ones of a sequence
  double decode = 1;  ///< 1: by the kernel of a step; 0: by that of a prompt
  double channels = 8192;
  double taps = 4;  ///< positions under the convolution

  /// Bytes of the inputs of all sequences that the next tokens need.
  double held() const { return 2 * sequences * channels * (taps - 1); }
  double activations() const { return 4 * sequences * tokens * channels; }  ///< [B]
  std::vector<double> sizes() const { return {sequences, tokens, decode, channels, taps}; }
};

const KernelForm& conv_form();

}  // namespace tiersim
