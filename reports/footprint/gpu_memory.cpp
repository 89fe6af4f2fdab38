#include "reports/footprint/gpu_memory.hpp"

#include <algorithm>

#include "sim/base/check.hpp"
#include "sim/model/step_graph.hpp"

namespace tiersim {
namespace {

std::int64_t& sum_of(GpuMemory& memory, const std::string& tensor_class) {
  const auto* it = std::ranges::find(kTensorClassNames, tensor_class);
  TS_EXPECTS(it != kTensorClassNames.end(), tensor_class);
  const auto known = static_cast<TensorClass>(it - kTensorClassNames.begin());
  if (is_kv_cache(known)) return memory.kv_cache;
  switch (known) {
    case TensorClass::weights:
      return memory.weights;
    case TensorClass::activations:
      return memory.activations;
    case TensorClass::workspace:
      return memory.workspace;
    default:
      return memory.rest;
  }
}

}  // namespace

std::vector<GpuMemory> gpu_memory(const RunRecord& record) {
  std::vector<GpuMemory> out;
  for (const auto& [tier, classes] : record.footprint_by_class) {
    const bool own = tier == record.device.tier;
    if (classes.empty() && !own) continue;
    GpuMemory memory{.tier = tier,
                     .by_class = {},
                     .capacity = record.capacity_bytes.at(tier),
                     .shared_by = record.sharers.at(tier)};
    for (const auto& [tensor_class, bytes] : classes) {
      const std::int64_t of_one = bytes / memory.shared_by;  // the record counts all sharers
      memory.by_class[tensor_class] = of_one;
      sum_of(memory, tensor_class) += of_one;
    }
    out.insert(own ? out.begin() : out.end(), std::move(memory));
  }
  return out;
}

}  // namespace tiersim
