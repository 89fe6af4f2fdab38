#pragma once
// Choosing rows by MAPLE, SparQ, Loki, Quest, H2O and StreamingLLM on the same queries and keys:
// recall, attention captured and output error against budget and against rank, what distillation
// and eight bits cost, and what theory says of all of it. The heads are synthetic
// (synthetic_layer.hpp) or given.
#include <cstdint>
#include <vector>

#include "workloads/numerics/given_arrays.hpp"
#include "workloads/numerics/study.hpp"

namespace tiersim::numerics {

struct SyntheticSpec;

/// Two synthetic layers, a text whose needles move, and how much the size of what heads do not read
/// decides. A few seconds.
Study maple_study(std::uint64_t seed);
/// The same of other layers.
Study maple_study(std::uint64_t seed, const SyntheticSpec& spec);

/// The same figures of given heads, or every mistake in their shapes (given_heads.hpp). Without
/// hidden states there is no MAPLE, and without the prompt's queries no H2O, both said in a note.
Expected<Study, std::vector<ArrayProblem>> given_heads_study(const GivenArrays& arrays,
                                                             std::uint64_t seed);

}  // namespace tiersim::numerics
