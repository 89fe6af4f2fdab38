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
    MetricDefinition{"step_time_s", "s", "time of one step, by the event engine"},
    MetricDefinition{"tpot_s", "s",
                     "time between two tokens: step_time_s of a decode step, over its "
                     "acceptance_length under speculation"},
    MetricDefinition{"ttft_s", "s",
                     "time to the first token: step_time_s of a prefill, without handover_s"},
    MetricDefinition{"bound_s", "s",
                     "lower limit of the step's time: the critical path, or the work of the "
                     "busiest channel or of the GPU"},
    MetricDefinition{"throughput_tokens_per_s", "tokens/s",
                     "tokens of a step on all GPUs, over step_time_s; for a server the "
                     "output tokens in the window, over its length"},
    MetricDefinition{"acceptance_length", "tokens",
                     "mean tokens that a speculative step gives a sequence, the one of the "
                     "verification included; of a server as drawn, over the window"},
    MetricDefinition{"attention_gpu_busy", "1",
                     "share of step_time_s, or of a server's window, in which a GPU that attends "
                     "runs kernels, where other GPUs have the MLPs"},
    MetricDefinition{"ffn_gpu_busy", "1",
                     "share of step_time_s, or of a server's window, in which a GPU that has the "
                     "MLPs runs kernels, where other GPUs attend"},
    MetricDefinition{"draft_time_s", "s", "part of step_time_s in which the draft proposes tokens"},
    MetricDefinition{"speculation_speedup", "1",
                     "tpot_s without speculation over tpot_s, at the same batch and context; of a "
                     "server the mean of its requests on the same server without drafts over "
                     "theirs"},
    MetricDefinition{"draft_acceptance", "1",
                     "part of a server's drafted tokens that were accepted, over the window"},
    MetricDefinition{"kv_footprint_bytes", "B",
                     "cached keys and values of one GPU, in all tiers and layers"},
    MetricDefinition{"kv_keys_bytes", "B", "cached keys of one GPU, in all tiers and layers"},
    MetricDefinition{"far_load_bytes", "B", "payload that one GPU's step reads from the far tier"},
    MetricDefinition{"far_load_bytes_per_layer", "B", "far_load_bytes, mean over the layers"},
    MetricDefinition{"far_round_trips_per_layer", "1",
                     "operations that read the far tier, mean over the layers"},
    MetricDefinition{"screening_flops", "FLOP",
                     "FLOPs of the operations that choose which rows to read"},
    MetricDefinition{"screening_near_bytes", "B", "payload that screening reads from near tiers"},
    MetricDefinition{"screening_far_bytes", "B", "payload that screening reads from the far tier"},
    MetricDefinition{"screening_time_s", "s",
                     "sum of the times of all screening operations, fetches included"},
    MetricDefinition{"step_flops", "FLOP", "FLOPs of one GPU's step, as the kernels count them"},
    MetricDefinition{"padding_flops", "FLOP", "part of step_flops that only pads tiles"},
    MetricDefinition{
        "collective_bytes", "B",
        "bytes that one GPU gives to the collectives of a step, counted as NCCL's tests do"},
    MetricDefinition{"handover_bytes", "B",
                     "bytes of cache that a prefill's GPU sends to the GPUs that decode"},
    MetricDefinition{"handover_s", "s",
                     "time from a prefill's first token until the GPUs that decode have its cache"},
    MetricDefinition{
        "energy_j_per_token", "J",
        "energy of moved bytes, arithmetic, work and idle power, if every device states them; "
        "for a server over its window"},
    MetricDefinition{"gpu_energy_j_per_token", "J",
                     "part of energy_j_per_token that GPUs and their own memories take"},
    MetricDefinition{"power_w.mean", "W",
                     "mean power of a GPU with its own memory over the step, or over the window"},
    MetricDefinition{
        "cost_usd_per_mtoken", "USD",
        "cost of hardware over its working life and of electricity, or of rent, for a million "
        "tokens"},
    MetricDefinition{"break_even_factor", "1",
                     "value of the setting at which a point of a sweep equals its reference, where "
                     "the SPEC asks for it (break_even)"},
    MetricDefinition{"break_even_bytes_per_s", "B/s",
                     "the same as a bandwidth: that of the busiest channel on the path to the far "
                     "tier, of which what_if.far_bandwidth is the factor"},
    MetricDefinition{"max_batch", "sequences",
                     "largest batch of one replica whose tensors fit every tier at this context"},
    MetricDefinition{"kv_capacity_tokens", "tokens",
                     "max_batch times the positions that each sequence keeps"},

    // Metrics of a server under load; window_s defines the window. All requests count except those
    // of the warm-up.
    MetricDefinition{"ttft_s.{mean,p50,p90,p95,p99}", "s",
                     "time to the first token, from the arrival of a request after the warm-up; "
                     "pN: N % of the requests take no longer (nearest rank)"},
    MetricDefinition{"tpot_s.{mean,p50,p90,p95,p99}", "s",
                     "time per output token of a request after the warm-up: from its first token "
                     "to its last, over output tokens - 1; a request of one token has none"},
    MetricDefinition{"inter_token_latency_s.{mean,p50,p90,p95,p99}", "s",
                     "time between two tokens of a request, over all tokens in the window; "
                     "quantiles within 0.1 %"},
    MetricDefinition{"e2e_latency_s.{mean,p50,p90,p95,p99}", "s",
                     "time from the arrival of a request after the warm-up until its last token"},
    MetricDefinition{"queue_time_s.{mean,p50,p90,p95,p99}", "s",
                     "time from the arrival of a request until its first iteration begins"},
    MetricDefinition{"load_time_s.{mean,p50,p90,p95,p99}", "s",
                     "part of queue_time_s in which a request waits for what it loads from the "
                     "tiers of a prefix cache; 0 where it loads nothing"},
    MetricDefinition{"prefill_time_s.{mean,p50,p90,p95,p99}", "s",
                     "time from the start of a request's first iteration to its first token: "
                     "queue_time_s and prefill_time_s make ttft_s"},
    MetricDefinition{"recompute_time_s.{mean,p50,p90,p95,p99}", "s",
                     "part of prefill_time_s, by tokens, for what lower tiers had and loading was "
                     "estimated to take longer; repeats after a preemption are not in it"},
    MetricDefinition{"inner_token_latency_s", "s",
                     "time from first to last token, summed over the requests after the warm-up, "
                     "over all their output tokens"},
    MetricDefinition{
        "e2e_normalized_interactivity.{p50,p75,p90}", "tokens/s",
        "1 / pN of a request's time from its arrival to its last token, over its output tokens: "
        "what N % of the requests after the warm-up reach at least (InferenceX, AIPerf)"},
    MetricDefinition{"window_s", "s",
                     "length of the window: from the first arrival after the warm-up to the last "
                     "arrival, or to the last token if there is no warm-up or all arrive at once"},
    MetricDefinition{"makespan_s", "s", "time from the first arrival to the last token"},
    MetricDefinition{"input_tokens_per_s", "tokens/s",
                     "tokens of the prompts whose first token came in the window, over its length; "
                     "tokens from a prefix cache included"},
    MetricDefinition{"requests_per_s", "1/s", "requests that ended in the window, over its length"},
    MetricDefinition{"slo_attainment", "1",
                     "share of the requests after the warm-up that meet slo_ttft and slo_tpot, if "
                     "these are stated"},
    MetricDefinition{"goodput_requests_per_s", "1/s",
                     "requests that meet the limits: slo_attainment times requests_per_s"},
    MetricDefinition{"session_s.{mean,p50,p90,p95,p99}", "s",
                     "time from the arrival of a session's first request to its last token, for "
                     "sessions that begin after the warm-up; pauses of users and tools included"},
    MetricDefinition{"session_busy_s.{mean,p50,p90,p95,p99}", "s",
                     "the part of session_s in which at least one request of the session is at the "
                     "server: without the pauses"},
    MetricDefinition{"requests_per_session.mean", "requests",
                     "requests of a session that begins after the warm-up, sub-agents included"},
    MetricDefinition{"sessions_per_s", "1/s", "sessions that ended in the window, over its length"},
    MetricDefinition{"session_abandonment", "1",
                     "share of the sessions after the warm-up whose user left before their end"},
    MetricDefinition{"session_context_full", "1",
                     "share of the sessions after the warm-up that ended at max_context"},
    MetricDefinition{"session_slo_attainment", "1",
                     "share of the sessions after the warm-up that nobody left and whose "
                     "session_busy_s is at most slo_session, if this is stated"},
    MetricDefinition{"goodput_sessions_per_s", "1/s",
                     "sessions that meet the limit: session_slo_attainment times sessions_per_s"},
    MetricDefinition{"live_sessions.{mean,max}", "sessions",
                     "sessions that have begun and not ended, pauses included, over the window's "
                     "time"},
    MetricDefinition{
        "in_flight.{mean,max}", "requests",
        "requests that have arrived and not ended, over the window's time: queue_depth + running"},
    MetricDefinition{"queue_depth.{mean,max}", "requests",
                     "requests whose first iteration has not begun, over the window's time"},
    MetricDefinition{"running.{mean,max}", "requests",
                     "requests whose first iteration has begun and that have not ended, preempted "
                     "ones included, over the window's time"},
    MetricDefinition{
        "batch_size.mean", "sequences",
        "sequences that get one more token in an iteration, mean over the iterations that decode"},
    MetricDefinition{"layers_run.mean", "layers",
                     "layers that an iteration passes, mean over the iterations that decode; fewer "
                     "with early exit"},
    MetricDefinition{"kv_use.{mean,max}", "1",
                     "share of the KV blocks of all replicas that sequences hold, over the "
                     "window's time; without idle prefixes"},
    MetricDefinition{
        "gpu_busy_share", "1",
        "share of the window's time in which the GPUs run iterations, mean over the replicas"},
    MetricDefinition{
        "host_wait_share", "1",
        "share of the window's time in which the GPUs wait for the host, mean over the replicas"},
    MetricDefinition{"copy_wait_share", "1",
                     "share of the window's time in which the GPUs wait for copies of KV blocks "
                     "that make room, for copies of states, and for experts that move, mean over "
                     "the replicas"},
    MetricDefinition{
        "prefix_hit_rate", "1",
        "share of the input tokens after the warm-up that were found in a prefix cache"},
    MetricDefinition{
        "prefix_hit_rate.{pool,tier1,tier2,tier3}", "1",
        "of prefix_hit_rate, what lay in the pool of KV blocks when its prompt was admitted or was "
        "on its way there, and in the first, the second and all further tiers of "
        "server.prefix_cache; where it has tiers"},
    MetricDefinition{
        "prefix_recompute_rate", "1",
        "share of the input tokens after the warm-up that lower tiers had and that were computed "
        "again, since loading them was estimated to take longer"},
    MetricDefinition{"preemptions", "1",
                     "number of times that a sequence lost its blocks, in the whole run"},
    MetricDefinition{"restarts", "1",
                     "number of times that a request lost its replica, which failed, in the whole "
                     "run"},
    MetricDefinition{"replicas_up.mean", "1",
                     "replicas that take requests, mean over the window; where replicas fail, or "
                     "are started and stopped"},
    MetricDefinition{"iterations", "1", "number of iterations of all replicas, in the whole run"},
    MetricDefinition{"little_lambda_w", "requests",
                     "arrival rate in the window times e2e_latency_s.mean; by Little's law it is "
                     "in_flight.mean, except for requests in the system at the ends of the window"},
    MetricDefinition{"little_difference", "1",
                     "relative difference: little_lambda_w over in_flight.mean, less 1"},
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
