#pragma once
// Model card: decode_form (fitted from timings)
//   Models    one decode step of attention: a query token of each sequence over its cached keys
//             and values, by a kernel that splits long contexts over the SMs (FlashDecoding).
//   Equation  t = (t0 + work + (chain^p + M^p)^(1/p) + prepare)
//                 * exp(surface(blocks / SMs, context)).
//             A block is a sequence and KV head (a query head in the variant `heads`), split s
//             ways: s = SMs / blocks, from 1 to max_splits and to a piece of 128 positions.
//             work = (c0 + cg * query heads of a KV head) * (1 + (blocks * s / SMs)^w)^(1/w), and
//             times `unplanned` above 512 sequences, where engines plan no splits ahead.
//             chain = bytes of a piece / stream, the rate of one block.
//             M = bytes of the cache / (share * memory rate), of which a part is in L2:
//             min(1, (l2_share * warm * L2 / bytes)^2), together with bytes of all blocks at L2's
//             rate.
//             prepare = (row * sequences + head_row * sequences * heads) / SMs, up to 512
//             sequences.
//   Ignores   sequences of different lengths; pages of the cache; other kernels on the GPU.
//   Valid     contexts up to 131072 and the head widths that were timed.
//   Source    splits: Dao et al., Flash-Decoding (2023); numbers: timings, by fit_form.
//   Checked   tests/unit/hwmodels/attention_forms_test.cpp: planted truth
#include "hwmodels/forms/kernel_form.hpp"

namespace tiersim {

struct DecodeCase {
  double batch = 1;  ///< sequences
  double kv_heads = 1;
  double group = 1;  ///< query heads that share a KV head
  double head_dim = 128;
  double context = 1;   ///< positions that a token attends to without a window
  double window = 0;    ///< positions of a sliding window; 0: none
  double kv_bytes = 2;  ///< of an element of the cache

  double heads() const { return kv_heads * group; }  ///< of queries
  std::vector<double> sizes() const {
    return {batch, kv_heads, group, head_dim, context, window, kv_bytes};
  }
};

const KernelForm& decode_form();

}  // namespace tiersim
