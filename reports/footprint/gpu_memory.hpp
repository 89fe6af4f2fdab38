#pragma once
// What one GPU keeps in one tier, added up as people ask for it.
#include <cstdint>
#include <string>
#include <vector>

#include "sim/record/run_record.hpp"

namespace tiersim {

/// Bytes of one GPU, also where the tier is shared.
struct GpuMemory {
  std::string tier;
  BytesByClass by_class;
  std::int64_t weights = 0;
  std::int64_t kv_cache = 0;  ///< all that a method keeps of keys and values
  std::int64_t activations = 0;
  std::int64_t workspace = 0;
  std::int64_t rest = 0;       ///< staging and lists of methods
  std::int64_t capacity = 0;   ///< of one instance: what the step may fill
  std::int64_t shared_by = 1;  ///< GPUs that fill one instance, each with this

  std::int64_t sum() const { return weights + kv_cache + activations + workspace + rest; }
  bool fits() const { return sum() * shared_by <= capacity; }
};

/// The GPU's own memory first, then other tiers that hold something.
std::vector<GpuMemory> gpu_memory(const RunRecord& record);

}  // namespace tiersim
