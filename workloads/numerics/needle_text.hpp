#pragma once
// A text with needles: single tokens that no query attends to until, late, one query asks for each
// of them in turn. Methods that evict rows cannot foresee this, and the result follows from the
// construction:
//
//   components 0 to 15    standard normal in queries and ordinary keys; 0 in needles' keys
//   component 16 + j      8 in the key of needle j; -4 in every query,
//                         but 8 in the j-th decoded one
//
// A needle's logit is -32 / sqrt(32) before its query, below nearly all others, and 64 / sqrt(32)
// at its query, above any value of normal components. Hidden states are query and key side by side,
// so that W_Q and W_K exist.
#include "workloads/numerics/head_case.hpp"

namespace tiersim::numerics {

inline constexpr Index kNeedles = 16;

struct NeedleText {
  LayerData layer;  ///< one head of dimension 32, 512 tokens, one decoded position for each needle
  std::vector<Index> needles;  ///< the needle row of each decoded position
};

NeedleText needle_text(std::uint64_t seed);

}  // namespace tiersim::numerics
