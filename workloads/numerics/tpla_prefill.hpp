#pragma once
// Separated prefill and decode: prefill runs the transformed layers unsliced, and decode reads the
// resulting cache in slices. Source: TPLA, sections 4.5, 5.1 and 5.4.2.
#include <cstdint>
#include <span>

#include "workloads/numerics/study.hpp"
#include "workloads/numerics/tpla_errors.hpp"

namespace tiersim::numerics {

/// Runs a stack of layers with PCA: errors of decode after an exact or a sliced prefill of the
/// prompt, for these numbers of slices over `count` seeds. Adds a table, a curve and the
/// statements.
void add_prefill_study(std::uint64_t seed, int count, Study& study,
                       std::span<const Eigen::Index> shards = kShardCounts);

}  // namespace tiersim::numerics
