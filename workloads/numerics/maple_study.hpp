#pragma once
// Choice of rows by MAPLE, SparQ, Loki, Quest, H2O and StreamingLLM on the same queries and keys:
// recall, captured attention and output error against budget and rank, the cost of distillation and
// of eight bits, and checks against theory. The heads are synthetic (synthetic_layer.hpp) or given.
#include <cstdint>
#include <vector>

#include "workloads/numerics/given_arrays.hpp"
#include "workloads/numerics/study.hpp"

namespace tiersim::numerics {

struct SyntheticSpec;

/// Two synthetic layers, a text with needles, and the effect of the size of unread features. It
/// takes a few seconds.
Study maple_study(std::uint64_t seed);
/// The study on other layers.
Study maple_study(std::uint64_t seed, const SyntheticSpec& spec);

/// The same figures of given heads, or every mistake in their shapes (given_heads.hpp). Without
/// hidden states MAPLE is left out, and without the prompt's queries H2O; a note says so.
Expected<Study, std::vector<ArrayProblem>> given_heads_study(const GivenArrays& arrays,
                                                             std::uint64_t seed);

}  // namespace tiersim::numerics
