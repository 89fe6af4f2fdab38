#include "workloads/serving/server_config.hpp"

#include <algorithm>

#include <fmt/format.h>

#include "workloads/serving/law_names.hpp"

namespace tiersim {
namespace {

// Upper limit of the CPU's time for an iteration, a sequence or a kernel.
constexpr Duration kSecond(std::int64_t{1'000'000'000'000});
constexpr std::int64_t kMostSequences = 1'000'000;  // of a replica

}  // namespace

std::optional<std::int64_t> ServerHostConfig::graph_for(std::int64_t sequences) const {
  if (graph_sizes.empty()) return sequences;
  const auto size = std::ranges::lower_bound(graph_sizes, sequences);
  if (size == graph_sizes.end() || (!graph_padding && *size != sequences)) return std::nullopt;
  return *size;
}

void describe(Fields& f, SchedulerConfig& c) {
  f.doc("Who works in an iteration.");
  f.optional(
      "policy", c.policy, kSchedulerPolicyNames,
      "static: a batch until its last answer ends; prefill_first, decode_first: prompts "
      "whole, before or after what decodes; chunked: prompts in pieces beside it; mixed: whole "
      "prompts beside it.");
  f.optional("order", c.order, kQueueOrderNames,
             "Which waiting request is next: the first that came, or that of the lowest priority "
             "number; the highest number is preempted first then.");
  f.optional("max_sequences", c.max_sequences, "That run at the same time on a replica.",
             in_range(1, kMostSequences));
  f.optional("max_batched_tokens", c.max_batched_tokens,
             "New tokens of an iteration, of prompts and of answers.", in_range(1, 100'000'000));
  f.optional("prompt_wait", c.prompt_wait,
             "Iterations that prompts wait for more of them while others decode (mixed alone).",
             in_range(0, 1'000'000));
  f.optional("prompt_wait_share", c.prompt_wait_share,
             "They wait while their tokens are fewer than this share of max_batched_tokens.",
             in_range(0.0, 1.0));
  f.optional("receive_interval", c.receive_interval,
             "Iterations that only decode, after which new requests are looked for (SGLang's "
             "--scheduler-recv-interval); after prompts, and where nothing runs, they are looked "
             "for at once.",
             in_range(1, 1'000'000));
  f.check(c.prompt_wait == 0 || c.policy == SchedulerPolicy::mixed, "prompt_wait",
          "has no effect: prompts wait under policy mixed alone", "leave it out, or policy: mixed");
  f.check(c.receive_interval == 1 || (c.policy != SchedulerPolicy::static_batch &&
                                      c.policy != SchedulerPolicy::decode_first),
          "receive_interval",
          "has no effect: prompts come in only where nothing decodes under policy static and "
          "decode_first",
          "leave it out, or policy: prefill_first, chunked or mixed");
  const bool beside = c.policy == SchedulerPolicy::chunked || c.policy == SchedulerPolicy::mixed;
  f.check(!beside || c.max_batched_tokens >= c.max_sequences, "max_batched_tokens",
          "is below max_sequences, each of which decodes a token in every iteration",
          "at least max_sequences, and more for prompts");
}

void describe(Fields& f, KvCacheConfig& c) {
  f.doc("The pool of KV blocks, which has what weights, activations and the runtime leave.");
  f.optional("block", c.block, "Positions of a block.", in_range(1, 65'536));
  f.optional(
      "memory_layout", c.memory_layout, kMemoryLayoutNames,
      "What is one run of a copy: a block's keys or values of one layer, or all of the block.");
  f.required("runtime_reserve", c.runtime_reserve,
             "Memory of each GPU that the driver, the runtime and captured graphs keep.",
             at_least(Bytes{}));
  f.optional("share", c.share,
             "Share that the pool takes of what weights, activations and the runtime leave.",
             in_range(0.01, 1.0));
  f.optional("admission", c.admission, kAdmissionNames,
             "What must be free for a request: blocks of its prompt, or of its whole length and of "
             "all that runs.");
  f.optional("watermark", c.watermark, "Share of the blocks that admission leaves free.",
             in_range(0.0, 0.5));
  f.optional("preemption", c.preemption, kPreemptionNames,
             "Treatment of the youngest sequence when no block is free.");
  f.optional("swap_space", c.swap_space,
             "Of the far tier, for one replica; what it has free by default.", positive());
  f.check(!c.swap_space || c.preemption == Preemption::swap, "swap_space",
          "has no effect: what is preempted is computed again",
          "leave it out, or preemption: swap");
  f.check(c.admission != Admission::whole || c.preemption != Preemption::swap, "preemption",
          "has no effect: admission: whole leaves no sequence without a block",
          "leave it out, or admission: prompt");
}

void describe(Fields& f, TierCompression& c) {
  f.doc("Compression of the blocks in a tier; what it costs in accuracy is not modelled.");
  f.required("ratio", c.ratio, "Bytes of a block before, over those after.", in_range(1.0, 100.0));
  f.required("compress", c.compress, "Bytes that one GPU's blocks have before it, a second.",
             positive());
  f.required("restore", c.restore, "The same of the way back.", positive());
}

void describe(Fields& f, PrefixTier& c) {
  f.doc("A tier below the pool that keeps blocks of earlier prompts.");
  f.required("tier", c.tier, "Tier of the system.");
  f.required("capacity", c.capacity, "That one replica may fill, or all where it is shared.",
             positive());
  f.optional(
      "block", c.block,
      "Positions of one of its blocks, a multiple of those of the tier above it, which is the "
      "default, and of workload.prefix_block. One is stored once that tier has all of it, "
      "and found only by a prompt that has all of it. Copies between tiers have runs of the "
      "shorter stated blocks, or of the pool's.",
      in_range(1, 1'000'000));
  f.optional("shared", c.shared,
             "True: one store for all replicas, which load what any of them has stored. False: "
             "each has its own.");
  f.optional("eviction_policy", c.eviction_policy, kEvictionNames,
             "What leaves the tier when it is full.");
  f.optional("ttl", c.ttl,
             "A block leaves the tier so long after it came or a prompt last used it; none by "
             "default.",
             positive());
  f.optional("exclusive", c.exclusive,
             "True: it gets what leaves the tier above it, and gives up what is loaded. False: it "
             "gets copies of what that tier has.");
  f.optional("max_load_wait", c.max_load_wait,
             "Prompts pass the tier over while its loads under way take longer; no limit by "
             "default.",
             positive());
  f.optional("max_store_wait", c.max_store_wait,
             "Blocks are not written through to the tier while those that wait take longer; no "
             "limit by default.",
             positive());
  f.optional("compression", c.compression, "Of the blocks in the tier; none by default.");
}

void describe(Fields& f, ToolCallsConfig& c) {
  f.doc("Blocks of a session while its tool, or its sub-agents, run.");
  std::string blocks = spelled(kPausedBlocksNames, c.blocks);
  f.select("blocks", blocks,
           {{"preserve", "they stay in the pool for a time"},
            {"discard", "they leave the pool, but for those that other sequences use"}},
           [&](const std::string& chosen, Fields& fields) {
             if (chosen != "preserve") return;
             fields.required("time", c.time,
                             "How long they stay at most; then they are as other blocks that "
                             "nobody uses.",
                             positive());
             fields.optional("pool_share", c.pool_share,
                             "Share of the pool for the blocks of all sessions that pause. A "
                             "session beyond it keeps none.",
                             in_range(0.001, 1.0));
           });
  c.blocks = enumerator<PausedBlocks>(kPausedBlocksNames, blocks);
}

void describe(Fields& f, PrefetchConfig& c) {
  f.doc("Loads from lower tiers before a prompt is admitted.");
  f.optional("into", c.into, kPrefetchIntoNames,
             "pool: where it has room; nearest_tier: that below the pool, from those below it.");
  f.optional("at_arrival", c.at_arrival, "Once a prompt comes, where others run.");
  f.optional("before_tool_ends", c.before_tool_ends,
             "So long before a session's tool ends, which the server is told; not by default.",
             at_least(Duration{}));
  f.check(c.at_arrival || c.before_tool_ends > Duration{}, "at_arrival",
          "leaves no time at which anything would be loaded", "true, or before_tool_ends");
}

namespace {

bool feeds_exclusive(const PrefixCacheConfig& c, std::size_t tier) {
  return tier + 1 < c.tiers.size() && c.tiers[tier + 1].exclusive;
}

// A tier can be exclusive, shared or limited only where the write policy allows it.
void check_tiers(Fields& f, const PrefixCacheConfig& c) {
  const bool back = c.write_policy == WritePolicy::write_back;
  for (const auto& [key, stated] : {std::pair{"moved_by", c.moved_by != MovedBy::copy_engine},
                                    std::pair{"layerwise_load", c.layerwise_load}})
    f.check(!stated || !c.tiers.empty(), key, "has no effect: there is no tier below the pool",
            "leave it out, or tiers");
  for (std::size_t i = 0; i < c.tiers.size(); ++i) {
    const std::string key = fmt::format("tiers.{}.", i);
    f.check(!c.tiers[i].block || !back, key + "block",
            "is not simulated under write_back, where blocks leave the pool one by one",
            "leave it out, or write_policy: write_through");
    f.check(!c.tiers[i].exclusive || !back, key + "exclusive",
            "has no effect: under write_back a block is in one place at a time",
            "leave it out, or write_policy: write_through");
    f.check(!c.tiers[i].exclusive || back || i > 0, key + "exclusive",
            "is not possible: the first tier is written what the pool has",
            "leave it out, or write_policy: write_back");
    f.check(!c.tiers[i].shared || !back, key + "shared",
            "is not simulated under write_back, where a block is in one place at a time",
            "leave it out, or write_policy: write_through");
    f.check(!c.tiers[i].shared || !(c.tiers[i].exclusive || feeds_exclusive(c, i)), key + "shared",
            "is not simulated beside an exclusive tier, which gets what leaves another one",
            "leave out shared or exclusive");
    f.check(!c.tiers[i].max_store_wait || !back, key + "max_store_wait",
            "has no effect: under write_back the GPU waits for every store",
            "leave it out, or write_policy: write_through");
  }
}

}  // namespace

std::optional<std::int64_t> PrefixCacheConfig::block_of(std::size_t tier) const {
  std::optional<std::int64_t> out;
  for (std::size_t i = 0; i <= tier; ++i)
    if (tiers[i].block) out = tiers[i].block;
  return out;
}

void describe(Fields& f, PrefixCacheConfig& c) {
  f.doc("Blocks of earlier prompts, kept for those that begin alike.");
  f.optional("tiers", c.tiers, "Below the pool, nearest first; none: in the pool only.");
  f.optional("eviction_policy", c.eviction_policy, kEvictionNames,
             "What leaves the pool, of the blocks that no sequence uses.");
  f.optional("write_policy", c.write_policy, kWritePolicyNames,
             "Through: blocks are copied down in the background once they are computed; selective: "
             "once a second prompt has used them. Back: once they leave the pool, while the GPU "
             "waits.");
  f.optional("load", c.load, kLoadPolicyNames,
             "What a prompt does with blocks that lower tiers have: always loads them, or only "
             "where that is estimated to end before they would be computed again.");
  f.optional("keep_in_pool", c.keep_in_pool,
             "False: blocks leave the pool once no sequence uses them, and lower tiers alone keep "
             "them.");
  f.check(c.load == LoadPolicy::always || !c.tiers.empty(), "load",
          "has no effect: there is no tier below the pool", "leave it out, or tiers");
  f.check(c.keep_in_pool || !c.tiers.empty(), "keep_in_pool",
          "would keep nothing: there is no tier below the pool", "leave it out, or tiers");
  f.check(c.keep_in_pool || c.write_policy != WritePolicy::write_back, "keep_in_pool",
          "would make the GPU wait for a copy of every block that a sequence leaves",
          "leave it out, or write_policy: write_through");
  f.check(c.keep_in_pool || c.write_policy != WritePolicy::write_through_selective, "keep_in_pool",
          "would leave no block for a second prompt, which is what stores it",
          "leave it out, or write_policy: write_through");
  f.optional("states", c.states, kKeptStatesNames,
             "States of linear attention that are kept, at the ends of whole named blocks: of each "
             "piece of a prompt the last one, and the one where it leaves what is cached; or all. "
             "By default the last, as SGLang and vLLM do.");
  f.optional("ttl", c.ttl,
             "A block that no sequence uses leaves the pool so long after its last use; none by "
             "default.",
             positive());
  f.optional("tool_calls", c.tool_calls,
             "What the pool does with a session's blocks while its tool runs; nothing by default, "
             "so that the eviction policy alone decides.");
  f.optional("prefetch", c.prefetch,
             "Loads from lower tiers before a prompt is admitted; none by default.");
  f.optional("layerwise_load", c.layerwise_load,
             "True: a prompt is computed while its prefix is loaded, layer after layer. False: "
             "after that.");
  f.optional("moved_by", c.moved_by, kMovedByNames,
             "What copies blocks between the pool and tiers, and from tier to tier: a copy engine, "
             "or a kernel, whose rates and SMs system.sm has.");
  f.check(c.keep_in_pool || !c.ttl, "ttl", "has no effect: keep_in_pool: false leaves nothing",
          "leave it out, or a ttl of the tiers");
  f.check(c.keep_in_pool || !c.tool_calls || c.tool_calls->blocks != PausedBlocks::discard,
          "tool_calls", "has no effect: keep_in_pool: false leaves nothing", "leave it out");
  check_tiers(f, c);
  f.check(!c.prefetch || !c.tiers.empty(), "prefetch",
          "has no effect: there is no tier below the pool", "leave it out, or tiers");
  const bool raises = c.prefetch && c.prefetch->into == PrefetchInto::nearest_tier;
  f.check(!raises || c.tiers.size() > 1, "prefetch.into",
          "has no effect: no tier lies below the nearest one", "leave it out, or a second tier");
  f.check(!raises || (c.write_policy != WritePolicy::write_back &&
                      std::ranges::none_of(c.tiers, &PrefixTier::exclusive)),
          "prefetch.into", "needs tiers that keep what the nearest one gets",
          "into: pool, or tiers that are written through and none of them exclusive");
  f.check(!c.prefetch || c.keep_in_pool || raises, "prefetch",
          "would load what leaves the pool at once, since keep_in_pool is false",
          "leave it out, or keep_in_pool: true");
}

void describe(Fields& f, DisaggregationConfig& c) {
  f.doc("Some replicas read prompts and hand the cache over to those that decode.");
  f.optional("prefill_replicas", c.prefill_replicas, "That read prompts; the others decode.",
             in_range(1, 1023));
}

void describe(Fields& f, HandOverConfig& c) {
  f.doc("How requests go from replicas that read prompts to those that answer.");
  f.optional("first_token", c.first_token, kFirstTokenNames,
             "prefill: the replica that read the prompt gives the first token; with_handover: it "
             "comes with the cache; decode: the receiving replica computes it.");
  f.optional(
      "send", c.send, kHandOverSendNames,
      "at_end: the cache is sent when the prompt has been read; by_piece: that of each piece "
      "when it has been read; by_layer: that of each layer when it has been computed. "
      "at_end where absent.");
}

void describe(Fields& f, ServerHostConfig& c) {
  f.doc("Work of the CPU for an iteration. The GPU waits for it unless they overlap.");
  f.required("iteration", c.iteration, "Once an iteration: scheduler, building of inputs.",
             in_range(Duration{}, kSecond));
  f.required("sequence", c.sequence,
             "For each sequence of it: bookkeeping, sampling, detokenising.",
             in_range(Duration{}, kSecond));
  f.optional("launch", c.launch,
             "For each kernel; a GPU that is faster waits. None where graphs are captured.",
             in_range(Duration{}, kSecond));
  f.optional("eager_launch", c.eager_launch,
             "Instead of `launch` in an iteration that no captured graph covers.",
             in_range(Duration{}, kSecond));
  f.optional(
      "graph_sizes", c.graph_sizes,
      "Numbers of sequences of a GPU that have a captured graph, ascending; by default every "
      "number has one.");
  for (std::size_t i = 0; i < c.graph_sizes.size(); ++i) {
    const std::string key = fmt::format("graph_sizes.{}", i);
    f.check(c.graph_sizes[i] >= 1 && c.graph_sizes[i] <= kMostSequences, key,
            fmt::format("is {}", c.graph_sizes[i]), fmt::format("1 to {}", kMostSequences));
    f.check(i == 0 || c.graph_sizes[i] > c.graph_sizes[i - 1], key,
            "is not above the one before it", "each once, the smallest first");
  }
  f.optional("graph_padding", c.graph_padding,
             "True: other numbers take the next larger graph, whose products compute the rows of "
             "the padding, too. False: they run eagerly.");
  f.optional("graphs_with_prompts", c.graphs_with_prompts,
             "True: captured graphs cover iterations that read prompts, too.");
  f.optional("sync", c.sync,
             "The GPU waits for the CPU: once an iteration, and at each decision of early exit.",
             in_range(Duration{}, kSecond));
  f.optional("sync_sequence", c.sync_sequence, "The same for each sequence of the iteration.",
             in_range(Duration{}, kSecond));
  f.optional("request", c.request,
             "For each request, before it can be scheduled: HTTP, parsing. One request at a time, "
             "beside all other work.",
             in_range(Duration{}, kSecond));
  f.optional("prompt_token", c.prompt_token, "The same for each token of its prompt: tokeniser.",
             in_range(Duration{}, kSecond));
  f.optional("overlap", c.overlap,
             "True: the CPU prepares the next iteration while the GPU works.");
  f.optional("workers", c.workers, "Replicas that are served at the same time; 0: all.",
             in_range(0, 1024));
}

void describe(Fields& f, ServerConfig& c) {
  f.doc("An inference server: batches, KV blocks, replicas and the CPU's part.");
  f.optional("scheduler", c.scheduler, "How batches form.");
  f.required("kv", c.kv, "The pool of KV blocks.");
  f.optional("prefix_cache", c.prefix_cache,
             "Reuse of the cache of earlier prompts; none by default.");
  f.optional("routing", c.routing, kRoutingNames, "Which replica a request goes to.");
  f.optional("disaggregation", c.disaggregation,
             "Replicas for prompts and others for answers; all do both by default.");
  f.optional("handover", c.handover, "Of requests from replicas for prompts to those for answers.");
  f.optional("failures", c.failures, "Replicas that fail and come back; none by default.");
  f.optional("stragglers", c.stragglers, "Replicas that are slower; none by default.");
  f.optional("scaling", c.scaling,
             "Replicas that are started and stopped; by default all serve all the time.");
  f.optional("expert_rebalance", c.expert_rebalance,
             "Pauses in which experts are placed anew; none by default.");
  f.required("host", c.host, "The CPU's part.");
  f.check(c.routing != Routing::prefix || c.prefix_cache, "routing",
          "by prefix, where no prefix is kept", "another routing, or a prefix_cache");
  const bool in_batches = c.scheduler.policy == SchedulerPolicy::static_batch;
  f.check(!in_batches || !c.disaggregation, "disaggregation",
          "a static batch is read and answered by the same replica",
          "leave it out, or another scheduler.policy");
  // Copies between replicas or tiers would have to be taken back.
  const bool comes_and_goes = c.failures || c.scaling;
  const std::string key = c.failures ? "failures" : "scaling";
  f.check(!comes_and_goes || !in_batches, key, "is not modelled beside a static batch",
          "another scheduler.policy, or leave it out");
  f.check(!comes_and_goes || !c.disaggregation, key,
          "is not modelled beside replicas that hand over to each other",
          "leave it out, or disaggregation");
  f.check(!comes_and_goes || c.kv.preemption != Preemption::swap, key,
          "is not modelled beside blocks that are swapped out", "kv.preemption: recompute");
  f.check(!comes_and_goes || !c.prefix_cache || c.prefix_cache->tiers.empty(), key,
          "is not modelled beside prefixes in tiers below the pool",
          "prefix_cache.tiers: [], or leave it out");
  f.check(!in_batches || !c.prefix_cache, "prefix_cache",
          "a static batch reads its prompts whole, padded to the longest",
          "leave it out, or another scheduler.policy");
}

}  // namespace tiersim
