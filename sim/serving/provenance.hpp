#pragma once
// The numbers behind a served run, and the class of its times.
#include <span>
#include <vector>

#include "sim/record/run_record.hpp"
#include "sim/serving/pools.hpp"
#include "sim/step/system.hpp"

namespace tiersim {

/// A pool with its system of one stage of a replica, and the bytes through each channel of it.
struct UsedPool {
  const ServerPool& pool;
  const System& one;
  const std::vector<Bytes>& taken;
};

/// Adds every number of the configuration with its origin to the record, and says which of them the
/// times depend on. Returns the weakest class of these.
NumberClass add_provenance(const ServingConfig& config, std::span<const UsedPool> pools,
                           RunRecord& out);

}  // namespace tiersim
