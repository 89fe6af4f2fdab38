#pragma once
// Heads that somebody recorded, as arrays:
//
//   Q  [heads, queries, head_dim] or [queries, head_dim] of one head
//   K  [heads, tokens, head_dim], queries at most tokens: those of the newest positions
//   V  [heads, tokens, value_dim]
//   X  [tokens, hidden], optional: the layer's input, for MAPLE, which also needs every query
//
// as attention multiplies them: after rotary embedding where there is one, except that MAPLE, which
// is linear in X, wants those before. At least 64 tokens and a head_dim of 16. Elements are within
// +-1e30, and of each head the largest is 1e-30 or more, with X also in the first half of the
// tokens. The keys of a head are not all the same.
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
