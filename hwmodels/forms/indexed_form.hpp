#pragma once
// Model card: indexed_form (fitted from timings)
//   Models    DeepSeek sparse attention of one layer: the products of latent attention and of its
//             indexer, the scores of all cached positions, the choice of the best, and attention
//             over the latents of those. A decode step is a prompt of one token.
//   Equation  t = (t0 + P + S + K + A) * exp(surface(tokens, context, heads)).
//             P = ((weights / (share * memory rate))^p + (FLOPs / (share * peak))^p)^(1/p).
//             S = FLOPs of the index heads over all pairs of a token and a position before it /
//             (share * fp8 peak), or the bytes of the index keys at .8 of the memory's rate.
//             K = choice + passes * 4 bytes of each such pair / memory rate, where the context is
//             longer than the choice.
//             A = slot * slots * waves: a block has a token, some of its query heads and all of its
//             slots; waves = ceil(blocks / (SMs * r)), r of 1 or 2 by variant, or smooth. Kernels
//             that pad the list of positions have as many slots as the choice, others as there are
//             positions. Variants differ in the query heads of a block: 64; or 64 for models with
//             fewer than 64 heads and 128 for others; or 8 and 32, in kernels that swap the
//             operands of the product for few heads.
//             With `part`, it is S, K or A alone, and a share of t0: an operation of a step. That
//             is no timing but what the fit tells the parts of modules apart by.
//   Ignores   sequences of different lengths; positions that scores prefer, since scores of the
//             timings were equal.
//   Valid     the timed sizes and models (DeepSeek-V3.2, GLM-5).
//   Source    DeepSeek-AI, DeepSeek-V3.2 (arXiv 2512.02556); numbers: timings, by fit_form.
//   Checked   tests/unit/hwmodels/indexed_form_test.cpp: by hand, and planted truth
#include "hwmodels/forms/kernel_form.hpp"

namespace tiersim {

struct IndexedCase {
  double part = 0;  ///< 0: the whole module; 1: scores; 2: choice; 3: attention
  double sequences = 1;
  double tokens = 1;   ///< new ones of a sequence
  double before = 0;   ///< positions before them
  double heads = 128;  ///< of queries
  double index_heads = 64;
  double top_k = 2048;
  double weights = 0;       ///< elements of the products' matrices
  double weight_bytes = 2;  ///< of an element
  double kv_bytes = 2;      ///< of an element of the cache

  double queries() const { return sequences * tokens; }
  double context() const { return before + tokens; }
  double pairs() const { return queries() * (before + (tokens + 1) / 2); }
  std::vector<double> sizes() const {
    return {part,        sequences, tokens,  before,       heads,
            index_heads, top_k,     weights, weight_bytes, kv_bytes};
  }
};

const KernelForm& indexed_form();

}  // namespace tiersim
