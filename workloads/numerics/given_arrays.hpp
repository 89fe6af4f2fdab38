#pragma once
// Recorded heads, as arrays:
//
//   Q  [heads, queries, head_dim] or [queries, head_dim] of one head
//   K  [heads, tokens, head_dim], queries at most tokens: those of the newest positions
//   V  [heads, tokens, value_dim]
//   X  [tokens, hidden], optional: the layer's input, for MAPLE, which also needs every query
//
// The values are those that attention multiplies: after rotary embedding, if there is one. MAPLE is
// linear in X and needs those before it. There must be at least 64 tokens and a head_dim of 16.
// Elements are within +-1e30, and the largest of each head is at least 1e-30; for runs with X, also
// in the first half of the tokens. The keys of a head must not all be equal.
#include <optional>
#include <string>

#include "workloads/numerics/npy.hpp"

namespace tiersim::numerics {

struct GivenArrays {
  NpyArray q;
  NpyArray k;
  NpyArray v;
  std::optional<NpyArray> x;
};

enum class ArrayName { q, k, v, x };

struct ArrayProblem {
  ArrayName array;
  std::string what;
};

}  // namespace tiersim::numerics
