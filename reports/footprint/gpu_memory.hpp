#pragma once
// Memory of one GPU in one tier, summed by purpose.
#include <cstdint>
#include <string>
#include <vector>

#include "sim/record/run_record.hpp"

namespace tiersim {

/// Bytes of one GPU, where the tier is shared as well.
struct GpuMemory {
  std::string tier;
  BytesByClass by_class;
  std::int64_t weights = 0;
  std::int64_t kv_cache = 0;  ///< keys and values with everything that the method keeps beside them
  std::int64_t activations = 0;
  std::int64_t workspace = 0;
  std::int64_t rest = 0;       ///< staging and lists of methods
  std::int64_t capacity = 0;   ///< of one instance: the bytes that a step may fill
  std::int64_t shared_by = 1;  ///< GPUs that share one instance; each holds these bytes in it

  std::int64_t sum() const { return weights + kv_cache + activations + workspace + rest; }
  bool fits() const { return sum() * shared_by <= capacity; }
};

/// The GPU's own memory first, then the other tiers that are not empty.
std::vector<GpuMemory> gpu_memory(const RunRecord& record);

}  // namespace tiersim
