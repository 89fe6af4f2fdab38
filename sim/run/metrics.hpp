#pragma once
// The names, units and definitions of every metric that a record can hold: one list, printed by
// `tiersim list metrics` and asserted by the code that fills a record.
#include <array>
#include <string_view>

namespace tiersim {

struct MetricDefinition {
  std::string_view name;
  std::string_view unit;
  std::string_view meaning;
};

inline constexpr std::array kMetrics{
    MetricDefinition{"step_time_s", "s", "time of one decode step, from events"},
    MetricDefinition{"bound_s", "s",
                     "no step is faster: critical path, or all work of one channel or of the GPU"},
    MetricDefinition{"throughput_tokens_per_s", "tokens/s", "tokens of a step over step_time_s"},
    MetricDefinition{"kv_footprint_bytes", "B",
                     "keys, values, key copies and low-rank keys, all tiers and layers"},
    MetricDefinition{"kv_keys_bytes", "B", "the keys alone, all tiers and layers"},
    MetricDefinition{"far_load_bytes", "B", "payload that one step reads from the far tier"},
    MetricDefinition{"near_screening_bytes", "B",
                     "low-rank keys that one step reads from the near tier"},
    MetricDefinition{"step_flops", "FLOP", "operations of one step, as the kernels count them"},
    MetricDefinition{"max_batch", "sequences",
                     "largest batch whose tensors fit every tier at this context"},
    MetricDefinition{"kv_capacity_tokens", "tokens", "max_batch times the context"},
};

}  // namespace tiersim
