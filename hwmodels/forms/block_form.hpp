#pragma once
// Model card: block_form (fitted from timings)
//   Models    MiniMax sparse attention of one layer: the products of grouped queries and of their
//             indexer, the scores of all cached positions, the choice of the best blocks of 128,
//             and attention over those. A decode step is a prompt of one token.
//   Equation  t = (t0 + P + S + K + A) * exp(surface(tokens, context, heads)).
//             P = ((weights / (share * memory rate))^p + (FLOPs / (share * peak))^p)^(1/p), and
//             `row` for each token on an SM.
//             S = FLOPs of the index heads over all pairs of a token and a position before it /
//             (share * bf16 peak), or the index keys, 256 B each, at a share of the memory's rate.
//             K = `choice` for each score of a block on an SM, where there are more blocks than are
//             chosen.
//             A = the rows of keys and values at a share of the memory's rate, or `slot` for each
//             position that a token attends to in a KV head, on an SM. A step reads the chosen rows
//             of each sequence, a prompt all rows once. One block of threads takes all positions of
//             a token and KV head, or several share them, by variant.
//             A benchmark reads the same rows again, and a share of L2 holds some of them: the
//             part 1 - (held / read)^q comes from memory. A step finds no rows in L2.
//             By variant, S of a single KV head is `single` for each pair on an SM.
//             With `part`, it is S, K or A alone, and a share of t0: an operation of a step. That
//             is no timing but what the fit tells the parts of modules apart by.
//   Ignores   sequences of different lengths; blocks that several tokens choose, since scores of
//             the timings were equal; fewer than 16 query heads of a KV head take the time of 16.
//   Valid     the timed sizes and model (MiniMax-M3).
//   Source    MiniMax-M3 (modular_minimax_m3_vl.py of transformers); numbers: timings, by fit_form.
//   Checked   tests/unit/hwmodels/block_form_test.cpp: by hand, and planted truth
#include "hwmodels/forms/kernel_form.hpp"

namespace tiersim {

struct BlockCase {
  double part = 0;  ///< 0: the whole module; 1: scores; 2: choice; 3: attention
  double sequences = 1;
  double tokens = 1;  ///< new ones of a sequence
  double before = 0;  ///< positions before them
  double heads = 64;  ///< of queries
  double kv_heads = 4;
  double top_k = 2048;
  double weights = 0;       ///< elements of the products' matrices
  double weight_bytes = 2;  ///< of an element
  double kv_bytes = 2;      ///< of an element of the cache

  double queries() const { return sequences * tokens; }
  double context() const { return before + tokens; }
  double pairs() const { return queries() * (before + (tokens + 1) / 2); }
  /// Positions that a token attends to, in the mean.
  double attended() const;
  std::vector<double> sizes() const {
    return {part,     sequences, tokens,  before,       heads,
            kv_heads, top_k,     weights, weight_bytes, kv_bytes};
  }
};

const KernelForm& block_form();

}  // namespace tiersim
