#pragma once
// Model card: experts_form (fitted from timings)
//   Models    the grouped products of the experts of one layer on one GPU, gate and up, activation,
//             down, with the sorting of tokens by expert and the sum over the experts of a token.
//             The GPU is the one of an expert-parallel group with most rows (expert_loads.hpp).
//   Equation  t = (t0 + B + R) * exp(surface).
//             B = (M^p + C^p)^(1/p), with a tile of 8 to 256 rows of an expert and 128 columns.
//             M = the sum over both products of (active weights, and weights that a later tile of
//             the same expert reads again) / (share * memory rate). An expert's weights are read
//             again as far as they exceed the part `reread` of L2. Few active columns stream no
//             more than `stream` times their share of the memory's rate. Active weights that fit
//             into the warm part of L2 are faster by l2_speed. C = the sum over both products of
//             (waves of tiles over the SMs) * (time of a tile). R = bytes of the rows and of the
//             tokens at the memory's rate, each times a factor, plus a time for each expert, each
//             expert of this GPU and each pair of token, expert. Variants: the tile that takes
//             least time; the same, where the kernels around the products handle the rows of all
//             GPUs; the tile that an engine chooses from the mean rows of an expert, half of the
//             power of two above it, up to 64, with widths padded to 128; and a contiguous layout,
//             in which all rows lie in tiles of 128. The host does not know how many rows an expert
//             gets, so there are as many tiles as the most uneven choice of experts could fill,
//             rows and 127 more for each expert, and both products and the activation between
//             them go over all of these.
//   Ignores   sending tokens between GPUs; routing by the gate; shared experts.
//   Valid     up to 32768 tokens and 1024 experts; widths of an expert from 32 to 65536.
//   Source    tiles by the mean: FlashInfer, computeSelectedTileN; contiguous layout: DeepGEMM,
//             m_grouped_fp8_gemm_nt_contiguous, and vLLM, compute_aligned_M; loads: power law
//             sampling of aiconfigurator (arXiv:2601.06288); numbers: timings, by fit_form.
//   Checked   tests/unit/hwmodels/experts_form_test.cpp: planted truth
#include "hwmodels/forms/kernel_form.hpp"
#include "sim/model/expert_loads.hpp"

namespace tiersim {

struct ExpertsCase {
  double tokens = 1;  ///< of all GPUs of the group
  double hidden = 1024;
  double intermediate = 1024;  ///< width of an expert on this GPU, after a split of its columns
  double top_k = 1;            ///< experts of a token
  double experts = 1;          ///< of all GPUs of the group
  double expert_parallel = 1;  ///< GPUs of the group
  double gated = 1;            ///< 1: gate and up; 0: up alone
  double weight_bytes = 2;     ///< of an element, with its share of the scales
  double input_bytes = 2;
  double skew = 0;  ///< exponent of the power law of loads; 0: balanced

  std::vector<double> sizes() const {
    return {tokens,          hidden, intermediate, top_k,       experts,
            expert_parallel, gated,  weight_bytes, input_bytes, skew};
  }
};

const KernelForm& experts_form();

/// Features of a layer whose loads are known.
std::vector<double> experts_features(const ExpertsCase& layer, const ExpertLoads& loads);

}  // namespace tiersim
