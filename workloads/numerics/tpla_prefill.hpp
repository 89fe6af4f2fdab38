#pragma once
// Prefill and decode separated: prefill runs the transformed layers unsliced, and decode reads the
// cache it left in slices. Source: TPLA, sections 4.5, 5.1 and 5.4.2.
#include <cstdint>
#include <span>

#include "workloads/numerics/study.hpp"
#include "workloads/numerics/tpla_errors.hpp"

namespace tiersim::numerics {

/// A stack of layers with PCA; error of what decode gives, with the prompt prefilled exactly or in
/// slices, for these numbers of slices over `count` seeds. Adds a table, a curve and the
/// statements.
void add_prefill_study(std::uint64_t seed, int count, Study& study,
                       std::span<const Eigen::Index> shards = kShardCounts);

}  // namespace tiersim::numerics
