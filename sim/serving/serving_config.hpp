#pragma once
// Requests over time on a server (`schema: tiersim.serving/v1`): a system, a model with a KV
// method, the requests, and the server that processes them.
#include <array>
#include <cstdint>
#include <optional>
#include <string_view>

#include "sim/step/scenario.hpp"
#include "workloads/early_exit/early_exit_config.hpp"
#include "workloads/serving/server_config.hpp"
#include "workloads/serving/workload_config.hpp"

namespace tiersim {

/// The benchmark whose definitions the metrics follow.
///
///   steady_state  latencies of the requests after the warm-up; rates from the first arrival of
///                 these to the last one; quantiles are nearest-rank
///   vllm_bench    `vllm bench serve`: every request counts, rates are over the whole run, and
///                 quantiles lie between two values (numpy.percentile)
///   sglang_bench  sglang.bench_serving: the same
///   aiperf        AIPerf: the same, and the inter-token latency is a request's time per output
///                 token, not a gap between two tokens
///   trtllm_bench  trtllm-bench: every request counts, inside of the engine's process, so that
///                 no frontend reads the requests; a quantile is the value at the rank rounded down
enum class MeasuredAs : std::uint8_t {
  steady_state,
  vllm_bench,
  sglang_bench,
  aiperf,
  trtllm_bench
};
inline constexpr std::array<std::string_view, 5> kMeasuredAsNames{
    "steady_state", "vllm_bench", "sglang_bench", "aiperf", "trtllm_bench"};

/// The requests that count, and the promised latencies.
struct MeasureConfig {
  MeasuredAs as = MeasuredAs::steady_state;
  /// Share of the requests, in order of arrival, that does not count; by default a tenth in a
  /// steady state, and none for benchmarks.
  std::optional<double> warm_up = {};

  double uncounted() const { return warm_up.value_or(as == MeasuredAs::steady_state ? 0.1 : 0.0); }
  std::optional<Duration> slo_ttft = {};  ///< a request with a longer time is not goodput
  std::optional<Duration> slo_tpot = {};
  /// The same for a session, as the time in which any of its requests was at the server.
  std::optional<Duration> slo_session = {};
};
void describe(Fields& f, MeasureConfig& c);

/// Intervals of a served run by repeated runs, with the same requests in each; 20 draws resolve the
/// ends of an interval as the least and the largest result.
struct ServedDrawsConfig {
  std::int64_t draws = 20;
  std::int64_t seed = 1;
};
void describe(Fields& f, ServedDrawsConfig& c);

/// The replicas that read prompts, where they have a system of their own; all others answer.
struct PrefillPoolConfig {
  SystemConfig system = {};
  ParallelConfig parallel = {};
  std::optional<std::int64_t> max_sequences = {};  ///< none: as server.scheduler has it
  std::optional<std::int64_t> max_batched_tokens = {};
};
void describe(Fields& f, PrefillPoolConfig& c);

struct ServingConfig {
  ScenarioConfig scenario = {};  ///< name, system, model, types, method, placement; no batch
  std::optional<PrefillPoolConfig> prefill = {};
  WorkloadConfig workload = {};
  ServerConfig server = {};
  std::optional<EarlyExitConfig> early_exit = {};
  MeasureConfig measure = {};
  std::optional<ServedDrawsConfig> uncertainty = {};  ///< none: no intervals of numbers
  std::int64_t seed = 1;

  /// How long the frontend reads a prompt, by itself; nothing where the benchmark runs inside of
  /// the engine's process.
  Duration frontend_time(std::int64_t input_tokens) const;
  /// How many named blocks one block of a tier below the pool has. Requires a prefix cache.
  std::int64_t names_of_block(std::size_t tier) const {
    return server.prefix_cache->block_of(tier).value_or(workload.prefix_block) /
           workload.prefix_block;
  }
  /// How many blocks of the pool one block of a tier has, if its size is stated; otherwise 1.
  std::int64_t pool_blocks_of_block(std::size_t tier) const {
    return server.prefix_cache->block_of(tier).value_or(server.kv.block) / server.kv.block;
  }
};
void describe(Fields& f, ServingConfig& c);

}  // namespace tiersim
