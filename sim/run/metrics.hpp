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
    MetricDefinition{"step_time_s", "s", "time of one step, from events"},
    MetricDefinition{"tpot_s", "s", "step_time_s of a decode step: time between two tokens"},
    MetricDefinition{"ttft_s", "s",
                     "step_time_s of a prefill, without handover_s: time to the first token"},
    MetricDefinition{"bound_s", "s",
                     "no step is faster: critical path, or all work of one channel or of the GPU"},
    MetricDefinition{"throughput_tokens_per_s", "tokens/s",
                     "new positions of a step on all GPUs, over step_time_s"},
    MetricDefinition{"kv_footprint_bytes", "B",
                     "whatever is cached of keys and values, all tiers and layers, one GPU"},
    MetricDefinition{"kv_keys_bytes", "B", "the keys alone, all tiers and layers, one GPU"},
    MetricDefinition{"far_load_bytes", "B", "payload that one GPU's step reads from the far tier"},
    MetricDefinition{"far_load_bytes_per_layer", "B", "the same, mean over the layers"},
    MetricDefinition{"far_round_trips_per_layer", "1",
                     "operations that read the far tier, mean over the layers"},
    MetricDefinition{"screening_flops", "FLOP", "operations that choose which rows to read"},
    MetricDefinition{"screening_near_bytes", "B", "payload that screening reads from near tiers"},
    MetricDefinition{"screening_far_bytes", "B", "payload that screening reads from the far tier"},
    MetricDefinition{"screening_time_s", "s",
                     "sum of the times of all screening operations, fetches included"},
    MetricDefinition{"step_flops", "FLOP",
                     "operations of one GPU's step, as the kernels count them"},
    MetricDefinition{"padding_flops", "FLOP", "the part of step_flops that only fills tiles"},
    MetricDefinition{"collective_bytes", "B",
                     "what one GPU brings to collectives of a step, counted as NCCL's tests do"},
    MetricDefinition{"handover_bytes", "B", "cache that one GPU sends to those that decode"},
    MetricDefinition{"handover_s", "s", "from a prefill's first token until its cache has arrived"},
    MetricDefinition{"energy_j_per_token", "J",
                     "bytes moved, arithmetic and idle power, where every device states them"},
    MetricDefinition{"cost_usd_per_mtoken", "USD",
                     "prices over the working time, and electricity, for a million tokens"},
    MetricDefinition{"max_batch", "sequences",
                     "largest batch of one replica whose tensors fit every tier at this context"},
    MetricDefinition{"kv_capacity_tokens", "tokens", "max_batch times the positions kept of each"},
};

}  // namespace tiersim
