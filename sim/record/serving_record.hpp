#pragma once
// The part of a record that only serving runs have (`results.serving`): how many blocks of keys and
// values fit and why, the requests and tokens served, and the load over time.
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "sim/base/number_class.hpp"

namespace tiersim {

/// The use of every byte of one GPU's tiers on a replica, and the remaining pool.
struct KvCapacity {
  struct Part {
    std::string tier;
    std::string what;  ///< "capacity", "weights", "activations", "runtime reserve", "KV blocks"
    std::int64_t bytes = 0;
    NumberClass number_class = NumberClass::assumed;
  };
  std::vector<Part> parts = {};  ///< in printing order
  std::int64_t block_positions = 0;
  std::int64_t block_bytes = 0;  ///< of one block on one GPU: all layers and tiers
  std::int64_t blocks = 0;       ///< in one replica
  /// Blocks of each sequence that hold states of linear attention; nothing without it.
  std::optional<std::int64_t> state_blocks = {};
  std::int64_t positions = 0;  ///< blocks * block_positions
  /// Sequences of the longest request that fit at the same time.
  std::int64_t max_sequences_full_length = 0;
  std::string limited_by = {};  ///< the tier that is full first
};

/// Blocks of keys and values that were moved, by purpose.
struct KvMove {
  /// "swap_out", "swap_in", "handover", "prefix_load", "prefix_store", "state_load", "state_store",
  /// "prefetch"
  std::string name;
  std::int64_t bytes = 0;
  std::int64_t count = 0;
};

/// Keys and values held in a tier over all replicas, with idle prefixes.
struct KvTierUse {
  std::string name;
  std::int64_t capacity_bytes = 0;
  double mean_bytes = 0;  ///< average over the window
  std::int64_t max_bytes = 0;
};

/// Mean and percentiles of a latency over the requests of one kind, in seconds.
struct ServedLatency {
  double mean = 0;
  double p50 = 0;
  double p90 = 0;
  double p95 = 0;
  double p99 = 0;
};

/// The counted requests of one priority.
struct ServedPriority {
  std::int64_t priority = 0;  ///< a lower number goes first
  std::int64_t requests = 0;
  ServedLatency queue_time_s = {};
  ServedLatency ttft_s = {};
  std::optional<ServedLatency> tpot_s = {};  ///< none: no answer has a second token
  ServedLatency e2e_latency_s = {};
  std::optional<double> slo_attainment = {};  ///< of those of a request, where any is promised
};

struct ServingCounts {
  std::int64_t requests = 0;
  std::int64_t counted = 0;  ///< those after the warm-up, to which the latencies belong
  std::int64_t input_tokens = 0;
  std::int64_t cached_tokens = 0;     ///< input tokens found in a prefix cache
  std::int64_t prefilled_tokens = 0;  ///< including repeats after a preemption
  std::int64_t output_tokens = 0;
  std::int64_t iterations = 0;
  std::int64_t preemptions = 0;
};

/// Means over bins of equal width from time 0; the last bin ends with the run.
struct ServingTimeline {
  struct Series {
    std::string name;
    std::vector<double> values;  ///< one per bin
  };
  double bin_s = 0;
  double last_bin_s = 0;  ///< width of the last bin
  std::vector<double> queue_depth = {};
  std::vector<double> running = {};
  std::vector<double> kv_use = {};      ///< share of the blocks
  std::vector<Series> held_bytes = {};  ///< bytes of keys and values, by tier
  std::vector<double> input_tokens_per_s = {};
  std::optional<std::vector<double>> cached_tokens_per_s =
      {};  ///< of these, found in a prefix cache
  /// The cached tokens by the place where they lay: "pool", "tier1" and so on. Servers without
  /// tiers below the pool have none.
  std::optional<std::vector<Series>> found_tokens_per_s = {};
  std::vector<double> output_tokens_per_s = {};
  std::vector<Series> utilisation = {};  ///< 0 to 1: "gpu" (mean of the replicas), channels
};

struct ServingRecord {
  // the setup, in words
  std::string model = {};
  std::string method = {};
  std::string system = {};
  std::string policy = {};    ///< "chunked, at most 256 sequences and 8192 tokens an iteration"
  std::string workload = {};  ///< "1000 requests, poisson at 5 a second"
  std::int64_t replicas = 1;
  std::int64_t prefill_replicas = 0;  ///< those that only prefill; 0: every replica does everything
  std::string prefill_system = {};    ///< of these, where it is not `system`
  std::int64_t prefill_gpus = 0;      ///< of one of these, where they have such a system
  // results
  Interval<double> window_s = {0, 0};  ///< the measured window (metric window_s)
  ServingCounts counts = {};
  KvCapacity capacity = {};
  std::vector<KvMove> moves = {};
  std::vector<KvTierUse> tiers = {};
  /// None: all requests have the same priority.
  std::optional<std::vector<ServedPriority>> priorities = {};
  ServingTimeline timeline = {};
  std::optional<double> slo_ttft_s = {};
  std::optional<double> slo_tpot_s = {};
  std::optional<double> slo_session_s = {};
  /// "session_s: no session begins after the warm-up": metrics that the run could not measure, with
  /// the reason. None: it has all that its configuration asks for.
  std::optional<std::vector<std::string>> unmeasured = {};
};

}  // namespace tiersim
