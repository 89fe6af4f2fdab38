#pragma once
// Model card: prefill_form (fitted from timings)
//   Models    causal attention of new tokens over themselves and over a prefix in the cache, by a
//             kernel that gives a tile of query rows to an SM (FlashAttention).
//   Equation  t = (t0 + c0 * waves + (C^p + M^p)^(1/p) + row * sequences / SMs)
//                 * exp(surface(sequences * heads / SMs, new tokens)).
//             tiles = sequences * heads * ceil(tokens / height), or sequences * KV heads *
//             ceil(tokens * group / height) where the query heads of a group share a tile;
//             waves = (1 + (tiles / SMs)^w)^(1/w).
//             C = FLOPs of whole tiles over (share * peak), with `pad` positions more for each
//             row, and at least the longest tile on one SM, times `tail`.
//             M = (kv_passes * keys and values + query_passes * queries and results) / memory rate.
//             Variants: the height of a tile, and whether groups share it.
//   Ignores   sequences of different lengths; pages of the cache; clocks that fall with power.
//   Valid     up to 32768 new tokens and the head widths that were timed.
//   Source    tiles: Dao, FlashAttention-2 (2023); numbers: timings, by fit_form.
//   Checked   tests/unit/hwmodels/attention_forms_test.cpp: planted truth
#include "hwmodels/forms/kernel_form.hpp"

namespace tiersim {

struct PrefillCase {
  double batch = 1;  ///< sequences
  double kv_heads = 1;
  double group = 1;  ///< query heads that share a KV head
  double head_dim = 128;
  double tokens = 1;    ///< new ones of a sequence
  double prefix = 0;    ///< positions before them in the cache
  double window = 0;    ///< positions of a sliding window; 0: none
  double kv_bytes = 2;  ///< of an element of the cache

  double heads() const { return kv_heads * group; }  ///< of queries
  std::vector<double> sizes() const {
    return {batch, kv_heads, group, head_dim, tokens, prefix, window, kv_bytes};
  }
};

const KernelForm& prefill_form();

}  // namespace tiersim
