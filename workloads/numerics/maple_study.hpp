#pragma once
// Choosing rows by MAPLE, SparQ, Loki, Quest, H2O and StreamingLLM on the same queries and keys:
// recall, attention captured and output error against budget and against rank, what distillation
// and eight bits cost, and what theory says of all of it. The heads are synthetic
// (synthetic_layer.hpp) or given.
#include "workloads/numerics/head_case.hpp"
#include "workloads/numerics/study.hpp"

namespace tiersim::numerics {

/// Two synthetic layers, a text whose needles move, and how much the size of what heads do not read
/// decides. A few seconds.
Study maple_study(std::uint64_t seed);

/// The same figures of given heads; without hidden states there is no MAPLE, and without the
/// prompt's queries no H2O, both said in a note. All heads have one head_dim of at least 16.
Study selection_study(const LayerData& layer, std::uint64_t seed);

}  // namespace tiersim::numerics
