#pragma once
// A text in which what matters moves: single tokens that no query looks at until, late, one query
// asks for each of them in turn. What methods that evict rows cannot know, made so that the verdict
// follows from the construction:
//
//   components 0 to 15    standard normal in queries and ordinary keys; 0 in needles' keys
//   component 16 + j      8 in the key of needle j; -4 in every query,
//                         but 8 in the j-th decoded one
//
// so before it is asked for a needle's logit is -32 / sqrt(32), below nearly all others, and when
// it is, 64 / sqrt(32), above anything that normal components reach. Hidden states are query and
// key side by side, so that W_Q and W_K exist.
#include "workloads/numerics/head_case.hpp"

namespace tiersim::numerics {

inline constexpr Index kNeedles = 16;

struct NeedleText {
  LayerData layer;  ///< one head of dimension 32, 512 tokens, a decoded position a needle
  std::vector<Index> needles;  ///< the row that each decoded position asks for
};

NeedleText needle_text(std::uint64_t seed);

}  // namespace tiersim::numerics
