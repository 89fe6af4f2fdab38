#pragma once
// What a serving run adds to a record (`results.serving`): how many blocks of keys and values fit
// and why, what passed through the server, and how it was loaded over time.
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "sim/base/number_class.hpp"

namespace tiersim {

/// Where every byte of one GPU's tiers goes on a replica, and the pool that is left.
struct KvCapacity {
  struct Part {
    std::string tier;
    std::string what;  ///< "capacity", "weights", "activations", "runtime reserve", "KV blocks"
    std::int64_t bytes = 0;
    NumberClass number_class = NumberClass::assumed;
  };
  std::vector<Part> parts = {};  ///< in the order in which they are printed
  std::int64_t block_positions = 0;
  std::int64_t block_bytes = 0;  ///< of one block on one GPU, all layers, all tiers
  std::int64_t blocks = 0;       ///< of one replica
  std::int64_t positions = 0;    ///< blocks * block_positions
  /// Sequences of the longest request that fit at the same time.
  std::int64_t max_sequences_full_length = 0;
  std::string limited_by = {};  ///< the tier that is full first
};

/// Blocks of keys and values that were moved, by what for.
struct KvMove {
  std::string name;  ///< "swap_out", "swap_in", "handover", "prefix_load", "prefix_store"
  std::int64_t bytes = 0;
  std::int64_t count = 0;
};

/// What a tier held of keys and values, all replicas; idle prefixes included.
struct KvTierUse {
  std::string name;
  std::int64_t capacity_bytes = 0;
  double mean_bytes = 0;  ///< over the window
  std::int64_t max_bytes = 0;
};

struct ServingCounts {
  std::int64_t requests = 0;
  std::int64_t counted = 0;  ///< of them, after the warm-up: the latencies are theirs
  std::int64_t input_tokens = 0;
  std::int64_t cached_tokens = 0;     ///< of the input, found in a prefix cache
  std::int64_t prefilled_tokens = 0;  ///< again after a preemption included
  std::int64_t output_tokens = 0;
  std::int64_t iterations = 0;
  std::int64_t preemptions = 0;
};

/// Means over bins of equal width from time 0 on; the last one ends with the run.
struct ServingTimeline {
  struct Series {
    std::string name;
    std::vector<double> values;  ///< of every bin
  };
  double bin_s = 0;
  double last_bin_s = 0;  ///< width of the last one
  std::vector<double> queue_depth = {};
  std::vector<double> running = {};
  std::vector<double> kv_use = {};      ///< share of the blocks
  std::vector<Series> held_bytes = {};  ///< of keys and values, by tier
  std::vector<double> input_tokens_per_s = {};
  std::vector<double> output_tokens_per_s = {};
  std::vector<Series> utilisation = {};  ///< 0 to 1: "gpu" (mean of the replicas), channels
};

struct ServingRecord {
  // what was run, in words
  std::string model = {};
  std::string method = {};
  std::string system = {};
  std::string policy = {};    ///< "chunked, at most 256 sequences and 8192 tokens an iteration"
  std::string workload = {};  ///< "1000 requests, poisson at 5 a second"
  std::int64_t replicas = 1;
  std::int64_t prefill_replicas = 0;  ///< of them, that prefill only; 0: all do everything
  // results
  double window_begin_s = 0;  ///< of what is measured (metric window_s)
  double window_end_s = 0;    ///< likewise
  ServingCounts counts = {};
  KvCapacity capacity = {};
  std::vector<KvMove> moves = {};
  std::vector<KvTierUse> tiers = {};
  ServingTimeline timeline = {};
  std::optional<double> slo_ttft_s = {};
  std::optional<double> slo_tpot_s = {};
};

}  // namespace tiersim
