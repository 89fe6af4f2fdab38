#pragma once
// An inference server: its batching, its cache of keys and values, and the distribution of requests
// over replicas of a model.
//
//   scheduler      the sequences of an iteration
//     static         a batch of requests is prefilled, padded to the longest, and decoded until the
//                    last one ends; then the next batch (FasterTransformer)
//     prefill_first  every iteration, waiting prompts that fit go first and whole; otherwise every
//                    running sequence decodes (Orca, vLLM until 0.5)
//     decode_first   prompts are read only when nothing decodes
//     chunked        every running sequence decodes, and pieces of prompts fill the rest of the
//                    token budget (Sarathi-Serve, vLLM since 0.6)
//     mixed          every running sequence decodes, and whole prompts fill the rest of the token
//                    budget (TensorRT-LLM, unless it reads prompts in chunks)
//   kv             paged blocks, and the policy of a full pool for the youngest sequence
//   prefix_cache   blocks of earlier prompts: in the pool while no sequence needs the room, then in
//                  the tiers below it
//   replicas       all do the same, or some prefill and hand over to others that decode
#include <array>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "sim/base/number_class.hpp"
#include "sim/base/units.hpp"
#include "sim/config/fields.hpp"

namespace tiersim {

/// Zero, with a source that says it was not stated.
template <class T>
Sourced<T> unstated_zero() {
  return {.source = "not stated: none"};
}

enum class SchedulerPolicy : std::uint8_t {
  static_batch,
  prefill_first,
  decode_first,
  chunked,
  mixed
};
inline constexpr std::array<std::string_view, 5> kSchedulerPolicyNames{
    "static", "prefill_first", "decode_first", "chunked", "mixed"};

struct SchedulerConfig {
  SchedulerPolicy policy = SchedulerPolicy::chunked;
  std::int64_t max_sequences = 256;        ///< running at the same time on a replica
  std::int64_t max_batched_tokens = 8192;  ///< new tokens of an iteration
  /// Iterations that prompts wait, beside others that decode, for more of them to come, as long as
  /// their tokens are fewer than this share of max_batched_tokens; 0: they do not wait.
  std::int64_t prompt_wait = 0;
  double prompt_wait_share = 0.9;
};
void describe(Fields& f, SchedulerConfig& c);

/// Treatment of the youngest running sequence when a block is needed and none is free.
enum class Preemption : std::uint8_t {
  recompute,  ///< its blocks are dropped; it is prefilled again with its generated tokens
  swap,       ///< its blocks are moved to the far tier and back
};
inline constexpr std::array<std::string_view, 2> kPreemptionNames{"recompute", "swap"};

/// What must be free before a request is admitted.
enum class Admission : std::uint8_t {
  prompt,  ///< blocks for its prompt; what grows beyond the pool preempts (vLLM, SGLang)
  whole,   ///< blocks for prompt and answer of all that runs (TensorRT-LLM, GUARANTEED_NO_EVICT)
};
inline constexpr std::array<std::string_view, 2> kAdmissionNames{"prompt", "whole"};

/// The contiguous piece of the pool, which is one run of a copy; the names are SGLang HiCache's.
enum class MemoryLayout : std::uint8_t {
  layer_first,  ///< the keys, or the values, of a block in one layer
  page_first,   ///< the keys and values of a block in all layers (vLLM: cross-layer blocks)
};
inline constexpr std::array<std::string_view, 2> kMemoryLayoutNames{"layer_first", "page_first"};

struct KvCacheConfig {
  std::int64_t block = 16;  ///< positions of a block
  MemoryLayout memory_layout = MemoryLayout::layer_first;
  /// Part of each GPU's memory that the driver, the runtime and captured graphs occupy.
  Sourced<Bytes> runtime_reserve = unstated_zero<Bytes>();
  /// Share that the pool takes of what weights, activations and the runtime leave of the near tier.
  double share = 1;
  Admission admission = Admission::prompt;
  double watermark = 0.01;  ///< share of the blocks that admission leaves free
  Preemption preemption = Preemption::recompute;
  std::optional<Bytes> swap_space = {};  ///< in the far tier, for one replica; all of it by default
};
void describe(Fields& f, KvCacheConfig& c);

/// A tier below the pool for blocks of earlier prompts.
struct PrefixTier {
  std::string tier;
  Bytes capacity;  ///< for one replica
};
void describe(Fields& f, PrefixTier& c);

/// When a block of a prompt is written to the tiers below the pool, by the names of SGLang's
/// HiCache.
enum class WritePolicy : std::uint8_t {
  write_through,  ///< once it is computed, in the background; it may be in several tiers
  write_back,     ///< once it leaves the pool, which waits; it is in one tier at a time
};
inline constexpr std::array<std::string_view, 2> kWritePolicyNames{"write_through", "write_back"};

/// Which states of linear attention are kept, at the ends of whole named blocks of a prompt.
enum class KeptStates : std::uint8_t {
  /// Of each piece of a prompt that an iteration reads the last one, and the one at which the
  /// prompt
  /// leaves what is cached, as SGLang does. vLLM's `align` ends its pieces there.
  last,
  all,  ///< every one, as vLLM's `all`
};
inline constexpr std::array<std::string_view, 2> kKeptStatesNames{"last", "all"};

struct PrefixCacheConfig {
  std::vector<PrefixTier> tiers = {};  ///< nearest first; empty: the pool only
  WritePolicy write_policy = WritePolicy::write_through;
  /// By default as SGLang's MambaRadixCache (mamba_radix_cache.py) and vLLM's mamba_cache_mode
  /// `align`, each of which keeps one for a piece; of models without states: none.
  std::optional<KeptStates> states = {};
};
void describe(Fields& f, PrefixCacheConfig& c);

enum class Routing : std::uint8_t {
  round_robin,
  fewest_requests,  ///< running and waiting
  fewest_tokens,    ///< of their inputs and outputs
  prefix,           ///< longest cached prefix, then fewest requests
};
inline constexpr std::array<std::string_view, 4> kRoutingNames{"round_robin", "fewest_requests",
                                                               "fewest_tokens", "prefix"};

/// Some replicas prefill and hand over the cache to those that decode.
struct DisaggregationConfig {
  std::int64_t prefill_replicas = 1;  ///< the first ones; the others decode
};
void describe(Fields& f, DisaggregationConfig& c);

/// CPU time of an iteration, by purpose. The CPU and the GPU alternate unless `overlap`.
struct ServerHostConfig {
  Sourced<Duration> iteration =
      unstated_zero<Duration>();  ///< for each iteration: the scheduler, building inputs
  Sourced<Duration> sequence =
      unstated_zero<Duration>();  ///< each sequence in it: bookkeeping, sampling, detokenising
  Sourced<Duration> launch =
      unstated_zero<Duration>();  ///< for each kernel; a faster GPU waits for its launches
  /// Instead of `launch` in an iteration that no captured graph covers: one with prompts, unless
  /// graphs_with_prompts, or with a number of sequences that has no graph; see graph_for().
  Sourced<Duration> eager_launch = unstated_zero<Duration>();
  std::vector<std::int64_t> graph_sizes = {};  ///< sequences, ascending; empty: every number
  bool graph_padding = true;                   ///< other numbers take the next larger graph
  bool graphs_with_prompts = true;
  Sourced<Duration> sync =
      unstated_zero<Duration>();  ///< the GPU waits for the CPU: each iteration, each decision
  Sourced<Duration> sync_sequence =
      unstated_zero<Duration>();  ///< the same for each sequence of the iteration
  Sourced<Duration> request =
      unstated_zero<Duration>();  ///< for each request, before it can be scheduled: HTTP
  Sourced<Duration> prompt_token =
      unstated_zero<Duration>();  ///< the same for each token of its prompt: the tokeniser
  bool overlap = false;           ///< the next iteration is prepared while the GPU works
  std::int64_t workers = 0;       ///< replicas that the CPU serves at a time; 0: no limit

  /// Size of the captured graph that decodes this many sequences of a GPU; none: it runs eagerly.
  std::optional<std::int64_t> graph_for(std::int64_t sequences) const;
};
void describe(Fields& f, ServerHostConfig& c);

struct ServerConfig {
  SchedulerConfig scheduler;
  KvCacheConfig kv;
  std::optional<PrefixCacheConfig> prefix_cache = {};
  Routing routing = Routing::fewest_requests;
  std::optional<DisaggregationConfig> disaggregation = {};
  ServerHostConfig host = {};
};
void describe(Fields& f, ServerConfig& c);

}  // namespace tiersim
