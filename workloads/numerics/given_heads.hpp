#pragma once
// Heads from arrays that somebody recorded, in place of synthetic ones.
//
//   Q  [heads, queries, head_dim] or [queries, head_dim] of one head
//   K  [heads, tokens, head_dim], queries at most tokens: those of the newest positions
//   V  [heads, tokens, value_dim]
//   X  [tokens, hidden], optional: the layer's input, for MAPLE, which also needs every query
//
// as attention multiplies them: after rotary embedding where there is one, except that MAPLE, which
// is linear in X, wants those before. Offline parts are calibrated on the first half of the tokens,
// and the last 48 queries at most are measured.
#include <optional>
#include <string>
#include <vector>

#include "workloads/numerics/head_case.hpp"
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

/// Every mistake in the shapes, or the heads.
Expected<LayerData, std::vector<ArrayProblem>> heads_from(const GivenArrays& arrays);

}  // namespace tiersim::numerics
