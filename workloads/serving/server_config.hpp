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
//   replicas       all do the same, or some prefill and hand over to others that decode; some may
//                  fail, be slower, or be started and stopped (fleet_config.hpp)
#include <algorithm>
#include <array>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "sim/base/number_class.hpp"
#include "sim/base/units.hpp"
#include "sim/config/fields.hpp"
#include "workloads/eviction/eviction_policy.hpp"
#include "workloads/serving/fleet_config.hpp"

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

/// Which waiting request is admitted next, and which running one gives up its blocks.
enum class QueueOrder : std::uint8_t {
  fcfs,      ///< the first that came; the last that was admitted
  priority,  ///< the lowest number, the first that came of equal ones; the highest number (vLLM)
};
inline constexpr std::array<std::string_view, 2> kQueueOrderNames{"fcfs", "priority"};

struct SchedulerConfig {
  SchedulerPolicy policy = SchedulerPolicy::chunked;
  QueueOrder order = QueueOrder::fcfs;
  std::int64_t max_sequences = 256;        ///< running at the same time on a replica
  std::int64_t max_batched_tokens = 8192;  ///< new tokens of an iteration
  /// Iterations that prompts wait, beside others that decode, for more of them to come, as long as
  /// their tokens are fewer than this share of max_batched_tokens; 0: they do not wait.
  std::int64_t prompt_wait = 0;
  double prompt_wait_share = 0.9;
  /// Iterations that only decode, after which new requests are looked for. One that reads prompts,
  /// and a replica where nothing runs, look at once.
  std::int64_t receive_interval = 1;
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

/// Compression of what a tier keeps, on each GPU: blocks are compressed before they are written and
/// restored after they are read. Copies at the same time each have these rates.
struct TierCompression {
  double ratio = 1;                                        ///< bytes before over bytes after
  Sourced<Bandwidth> compress = {.source = "not stated"};  ///< bytes before, a second
  Sourced<Bandwidth> restore = {.source = "not stated"};
};
void describe(Fields& f, TierCompression& c);

/// A tier below the pool for blocks of earlier prompts.
struct PrefixTier {
  std::string tier;
  Bytes capacity;  ///< for one replica, or for all where it is shared
  /// Positions of one of its blocks (LMCache's chunk_size); none: those of the tier above it, and
  /// of the first tier those of a named block.
  std::optional<std::int64_t> block = {};
  bool shared = false;  ///< one store for all replicas: what one of them has stored, each can load
  Eviction eviction_policy = Eviction::lru;
  /// A block leaves the tier so long after it came or a prompt last used it; none: it stays until
  /// the room is needed.
  std::optional<Duration> ttl = {};
  /// True: under write-through it has what leaves the tier above it, and not what that one has; a
  /// block that is loaded from it leaves it.
  bool exclusive = false;
  /// A prompt passes the tier over while the loads under way from it take longer than this.
  std::optional<Duration> max_load_wait = {};
  /// Blocks are not written through to it while those that wait take longer than this.
  std::optional<Duration> max_store_wait = {};
  std::optional<TierCompression> compression = {};

  double ratio() const { return compression ? compression->ratio : 1; }
};
void describe(Fields& f, PrefixTier& c);

/// When a block of a prompt is written to the tiers below the pool, by the names of SGLang's
/// HiCache.
enum class WritePolicy : std::uint8_t {
  write_through,            ///< once it is computed, in the background; it may be in several tiers
  write_through_selective,  ///< the same once a second prompt has used it
  write_back,               ///< once it leaves the pool, which waits; it is in one tier at a time
};
inline constexpr std::array<std::string_view, 3> kWritePolicyNames{
    "write_through", "write_through_selective", "write_back"};

/// Which states of linear attention are kept, at the ends of whole named blocks of a prompt.
enum class KeptStates : std::uint8_t {
  /// Of each piece of a prompt that an iteration reads the last one, and the one at which the
  /// prompt
  /// leaves what is cached, as SGLang does. vLLM's `align` ends its pieces there.
  last,
  all,  ///< every one, as vLLM's `all`
};
inline constexpr std::array<std::string_view, 2> kKeptStatesNames{"last", "all"};

/// Whether a prompt loads what lower tiers have of it.
enum class LoadPolicy : std::uint8_t {
  always,
  if_faster,  ///< only where computing it again is estimated to take longer
};
inline constexpr std::array<std::string_view, 2> kLoadPolicyNames{"always", "if_faster"};

/// The treatment of a session's blocks in the pool while its tool or sub-agents run. The names are
/// InferCept's (Abhyankar et al., ICML 2024).
enum class PausedBlocks : std::uint8_t {
  preserve,  ///< they stay, up to a limit of time and of the pool (Continuum, arXiv 2511.02230)
  discard,   ///< they leave, but for those that other sequences use; lower tiers keep theirs
};
inline constexpr std::array<std::string_view, 2> kPausedBlocksNames{"preserve", "discard"};

struct ToolCallsConfig {
  PausedBlocks blocks = PausedBlocks::preserve;
  Duration time{};        ///< preserve: after it the blocks are as any other that nobody uses
  double pool_share = 1;  ///< preserve: of the pool, for all sessions; one beyond it keeps nothing
};
void describe(Fields& f, ToolCallsConfig& c);

/// Where blocks are that were prefetched.
enum class PrefetchInto : std::uint8_t {
  pool,
  nearest_tier,  ///< from tiers below it: storage into the host's memory (SGLang's HiCache)
};
inline constexpr std::array<std::string_view, 2> kPrefetchIntoNames{"pool", "nearest_tier"};

/// When blocks of a prompt are loaded from lower tiers before the prompt is admitted, and whereto.
struct PrefetchConfig {
  PrefetchInto into = PrefetchInto::pool;
  bool at_arrival = true;  ///< and the prompt must wait (SGLang's HiCache)
  /// So long before the end of a session's tool call (KVFlow, arXiv 2507.07400); 0: not then.
  Duration before_tool_ends{};
};
void describe(Fields& f, PrefetchConfig& c);

/// The mover of blocks between the pool and the tiers below it.
enum class MovedBy : std::uint8_t {
  copy_engine,  ///< DMA, which takes nothing from kernels but bandwidth (vLLM's connector)
  kernel,       ///< loads and stores of SMs, at the rates of `system.sm` and with the SMs it takes
};
inline constexpr std::array<std::string_view, 2> kMovedByNames{"copy_engine", "kernel"};

struct PrefixCacheConfig {
  std::vector<PrefixTier> tiers = {};  ///< nearest first; empty: the pool only
  /// What leaves the pool first of the prefixes that no sequence uses.
  Eviction eviction_policy = Eviction::lru;
  WritePolicy write_policy = WritePolicy::write_through;
  LoadPolicy load = LoadPolicy::always;
  /// False: the pool has only what sequences use, as in vLLM without prefix caching on the GPU.
  bool keep_in_pool = true;
  /// By default as SGLang's MambaRadixCache (mamba_radix_cache.py) and vLLM's mamba_cache_mode
  /// `align`, each of which keeps one for a piece; of models without states: none.
  std::optional<KeptStates> states = {};
  /// A block that no sequence uses leaves the pool so long after its last use; none: it stays until
  /// the room is needed.
  std::optional<Duration> ttl = {};
  /// None: blocks of a session that pauses are as any other that nobody uses (vLLM, SGLang).
  std::optional<ToolCallsConfig> tool_calls = {};
  std::optional<PrefetchConfig> prefetch = {};  ///< none: loads begin at a prompt's admission
  /// True: a prompt is computed while its prefix is loaded, layer after layer, as vLLM's connectors
  /// (wait_for_layer_load) and SGLang's HiCache do. False: after its load.
  bool layerwise_load = false;
  MovedBy moved_by = MovedBy::copy_engine;

  /// Positions of one block of a tier, as the tier or else the nearest one above it states; none if
  /// no such tier states it.
  std::optional<std::int64_t> block_of(std::size_t tier) const;
  /// True where all replicas have one store below the pool.
  bool shares_a_tier() const { return std::ranges::any_of(tiers, &PrefixTier::shared); }
  /// True where a prompt may compute what a lower tier has of it.
  bool may_decline() const {
    for (const PrefixTier& tier : tiers)
      if (tier.max_load_wait) return true;
    return load == LoadPolicy::if_faster;
  }
};
void describe(Fields& f, PrefixCacheConfig& c);

enum class Routing : std::uint8_t {
  round_robin,
  fewest_requests,  ///< running and waiting
  fewest_tokens,    ///< of their inputs and outputs
  prefix,           ///< longest cached prefix, then fewest requests
  session,          ///< where the session's first request went, which is by fewest requests
};
inline constexpr std::array<std::string_view, 5> kRoutingNames{
    "round_robin", "fewest_requests", "fewest_tokens", "prefix", "session"};

/// Some replicas prefill and hand over the cache to those that decode.
struct DisaggregationConfig {
  std::int64_t prefill_replicas = 1;  ///< the first ones; the others decode
};
void describe(Fields& f, DisaggregationConfig& c);

/// Where a request that is handed over gets its first token from.
enum class FirstToken : std::uint8_t {
  prefill,        ///< the replica that has read the prompt gives it to the client (DistServe)
  with_handover,  ///< it comes with the cache (SGLang, TensorRT-LLM)
  decode,  ///< the receiving replica computes the prompt's last position again (vLLM's connectors)
};
inline constexpr std::array<std::string_view, 3> kFirstTokenNames{"prefill", "with_handover",
                                                                  "decode"};

/// When a prompt's cache is sent.
enum class HandOverSend : std::uint8_t {
  at_end,    ///< all of it, once the prompt has been read (DistServe, vLLM's NixlConnector)
  by_piece,  ///< each piece of the prompt, once that has been read (SGLang)
  by_layer,  ///< each layer of a piece, once that has been computed (Mooncake, vLLM's P2P
             ///< connector)
};
inline constexpr std::array<std::string_view, 3> kHandOverSendNames{"at_end", "by_piece",
                                                                    "by_layer"};

/// Before the end of a prompt its cache is sent to the replica that is to answer, if that has
/// blocks for the whole prompt to reserve and a place among its sequences when a piece begins; else
/// the prompt is sent at its end, to the replica that is chosen then.
struct HandOverConfig {
  FirstToken first_token = FirstToken::prefill;
  std::optional<HandOverSend> send = {};  ///< none: at_end
};
void describe(Fields& f, HandOverConfig& c);

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
  std::optional<HandOverConfig> handover = {};  ///< none: the defaults
  std::optional<FailuresConfig> failures = {};
  std::optional<StragglersConfig> stragglers = {};
  std::optional<ScalingConfig> scaling = {};  ///< none: all replicas serve all the time
  std::optional<ExpertRebalanceConfig> expert_rebalance = {};  ///< none: experts stay
  ServerHostConfig host = {};

  FirstToken first_token() const { return handover ? handover->first_token : FirstToken::prefill; }
  HandOverSend hand_over_send() const {
    return handover ? handover->send.value_or(HandOverSend::at_end) : HandOverSend::at_end;
  }
  bool shares_a_tier() const { return prefix_cache && prefix_cache->shares_a_tier(); }
};
void describe(Fields& f, ServerConfig& c);

}  // namespace tiersim
