#pragma once
// The names, units and definitions of every metric that a record can hold: one list, printed by
// `tiersim list metrics` and asserted by the code that fills a record.
#include <array>
#include <string_view>

namespace tiersim {

struct MetricDefinition {
  /// For several statistics of one quantity, the names in braces: "ttft_s.{mean,p50,p99}" stands
  /// for ttft_s.mean, ttft_s.p50 and ttft_s.p99.
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
                     "new positions of a step on all GPUs, over step_time_s; of a server: output "
                     "tokens that came in the window, over the window"},
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

    // Metrics of a server under load; window_s defines the window. All requests count except those
    // of the warm-up.
    MetricDefinition{"ttft_s.{mean,p50,p90,p95,p99}", "s",
                     "time to first token of the requests that count: from arrival until it is "
                     "there; pN: N % have no more (nearest rank)"},
    MetricDefinition{"tpot_s.{mean,p50,p90,p95,p99}", "s",
                     "time per output token of the requests that count: from first to last, over "
                     "output tokens - 1; those of one token have none"},
    MetricDefinition{"inter_token_latency_s.{mean,p50,p90,p95,p99}", "s",
                     "from each token to the next of its request, over all that came in the "
                     "window; quantiles within 0.1 %"},
    MetricDefinition{"e2e_latency_s.{mean,p50,p90,p95,p99}", "s",
                     "from arrival until the last token, of the requests that count"},
    MetricDefinition{"queue_time_s.{mean,p50,p90,p95,p99}", "s",
                     "from arrival until the first iteration begins that works on it"},
    MetricDefinition{"inner_token_latency_s", "s",
                     "time from first to last token of all requests that count, over all their "
                     "output tokens"},
    MetricDefinition{"window_s", "s",
                     "the window: from the first arrival after the warm-up to the last arrival; "
                     "without a warm-up, or where all arrive at once, to the last token"},
    MetricDefinition{"makespan_s", "s", "from the first arrival to the last token"},
    MetricDefinition{"input_tokens_per_s", "tokens/s",
                     "prompts whose first token came in the window, over the window; tokens from a "
                     "prefix cache included"},
    MetricDefinition{"requests_per_s", "1/s", "requests that ended in the window, over it"},
    MetricDefinition{"slo_attainment", "1",
                     "share of the requests that count within slo_ttft and slo_tpot, where stated"},
    MetricDefinition{"goodput_requests_per_s", "1/s", "slo_attainment times requests_per_s"},
    MetricDefinition{"in_flight.{mean,max}", "requests",
                     "that have arrived and not ended, over the window's time: queue_depth + "
                     "running"},
    MetricDefinition{"queue_depth.{mean,max}", "requests",
                     "that have arrived and whose first iteration has not begun, likewise"},
    MetricDefinition{"running.{mean,max}", "requests",
                     "whose first iteration has begun and that have not ended, preempted ones "
                     "included, likewise"},
    MetricDefinition{"batch_size.mean", "sequences",
                     "that get one more token in an iteration, of those that decode"},
    MetricDefinition{"layers_run.mean", "layers",
                     "that an iteration passes, of those that decode; fewer under early exit"},
    MetricDefinition{"kv_use.{mean,max}", "1",
                     "share of the blocks of all replicas' pools that sequences hold, over the "
                     "window's time; idle prefixes not counted"},
    MetricDefinition{"gpu_busy_share", "1",
                     "of the window's time and all replicas: iterations on the GPU"},
    MetricDefinition{"host_wait_share", "1",
                     "likewise: iterations in which the GPU waits for the host"},
    MetricDefinition{"prefix_hit_rate", "1",
                     "share of the input tokens of requests that count, found in a prefix cache"},
    MetricDefinition{"preemptions", "1", "times that a sequence lost its blocks, of the whole run"},
    MetricDefinition{"iterations", "1", "of all replicas, of the whole run"},
    MetricDefinition{"little_lambda_w", "requests",
                     "arrivals in the window over it, times e2e_latency_s.mean: by Little's law "
                     "in_flight.mean, but for what is in the system at the window's ends"},
    MetricDefinition{"little_difference", "1", "little_lambda_w over in_flight.mean, less 1"},
};

/// True where the definition covers a metric of this name in a record.
constexpr bool defines(const MetricDefinition& definition, std::string_view name) {
  const std::string_view all = definition.name;
  const std::size_t brace = all.find('{');
  if (brace == std::string_view::npos) return name == all;
  if (name.size() <= brace || name.substr(0, brace) != all.substr(0, brace)) return false;
  const std::string_view statistic = name.substr(brace);
  for (std::size_t at = brace; all[at] != '}';) {
    const std::size_t end = all.find_first_of(",}", at + 1);
    if (all.substr(at + 1, end - at - 1) == statistic) return true;
    at = end;
  }
  return false;
}

/// The definition of a metric of a record; null if there is none.
constexpr const MetricDefinition* find_metric(std::string_view name) {
  for (const MetricDefinition& definition : kMetrics)
    if (defines(definition, name)) return &definition;
  return nullptr;
}

}  // namespace tiersim
