#pragma once
// Building blocks of KV methods: sizes of the KV cache, and the operations that fetch rows, attend
// over them and store new ones. Bytes and FLOPs of each are stated only here.
#include "workloads/attention/method.hpp"

namespace tiersim {

/// Tier of the keys and values, for methods that support either.
enum class KvTier : std::uint8_t { near, far };
inline constexpr std::array<std::string_view, 2> kKvTierNames{"near", "far"};
inline TierId tier_of(const AttentionContext& context, KvTier tier) {
  return tier == KvTier::near ? context.placement.near : context.placement.far;
}

/// Engine that copies the rows, for a method that fetches all of them from the far tier.
struct WholeFetch {
  RequesterKind by = RequesterKind::copy_engine;
};
void describe(Fields& f, WholeFetch& c);

/// One stored row of the cache, of which the last `rotary` elements are a latent's rotary key.
/// Under fp8_block 128 elements share a scale of 32 bits, and the rotary key stays in bf16, as in
/// vLLM's cache `fp8_ds_mla`: 656 bytes of a latent of 512 + 64.
Bytes cached_row(std::int64_t width, std::int64_t rotary, DataType type);

/// Sizes of one layer's KV cache over the whole batch. Under latent attention (MLA) a row is the
/// latent, kept as a key for one head; the values have no bytes of their own.
struct KvShape {
  std::int64_t batch = 0;          ///< sequences
  bool spilled = false;            ///< no room of Method::near_rows() is left for them
  std::int64_t sequences = 0;      ///< (batch, cached head) pairs: each has its own rows
  std::int64_t new_positions = 1;  ///< of a sequence: more than one with drafts
  std::int64_t context = 0;        ///< attended positions; fewer than the context under a window
  std::int64_t key_width = 0;
  std::int64_t value_width = 0;
  std::int64_t rotary_width = 0;     ///< of a key row, where it is a latent
  std::int64_t query_heads = 0;      ///< over the batch and its new positions
  std::int64_t queries_per_row = 0;  ///< query heads that share one cached head
  std::int64_t executed_heads = 0;   ///< query_heads, padded to the tiles of the kernel
  std::int64_t score_width = 0;
  std::int64_t mix_width = 0;
  std::int64_t masked = 0;  ///< pairs of new positions of a sequence that its mask discards
  DataType type = DataType::fp16;

  explicit KvShape(const AttentionContext& context);

  /// One row: the key (or value) of one position and cached head.
  Bytes key_row() const { return cached_row(key_width, rotary_width, type); }
  Bytes value_row() const { return cached_row(value_width, 0, type); }
  Bytes row_pair() const { return key_row() + value_row(); }
  /// All rows of this many positions of every sequence.
  Bytes keys(std::int64_t positions) const { return key_row() * (sequences * positions); }
  Bytes values(std::int64_t positions) const { return value_row() * (sequences * positions); }
  Bytes both(std::int64_t positions) const { return keys(positions) + values(positions); }
  /// Number of positions for this share of the context, rounded up.
  std::int64_t chosen(double share) const;
  /// Index list of this many chosen positions: 2 bytes each up to a context of 65536, else 4.
  Bytes indices(std::int64_t positions) const;
  /// FLOPs of scores and weighted sum over this many positions by every query head, 2 * positions *
  /// (score_width + mix_width) each; and the additional FLOPs of padding.
  Flops attention_flops(std::int64_t positions) const { return flops(query_heads, positions); }
  Flops padding_flops(std::int64_t positions) const {
    return flops(executed_heads - query_heads, positions);
  }
  /// The part of attention_flops(context) that the mask between new positions discards.
  Flops masked_flops() const { return flops(query_heads / new_positions, masked); }
  /// Queries that the attention kernel reads, and outputs that it writes.
  Bytes queries() const { return stored(query_heads * score_width, DataType::bf16); }
  Bytes outputs() const { return stored(query_heads * mix_width, DataType::bf16); }

 private:
  Flops flops(std::int64_t heads, std::int64_t positions) const {
    return Flops::from_base(2 * (score_width + mix_width)) * (heads * positions);
  }
};

/// Adds a tensor, unless its size is zero.
void add_tensor(StepGraph& graph, TensorClass tensor_class, TierId tier, Bytes size);

/// Keys and values of this many positions in the tier, in the form of cached().
std::vector<CachedTensor> cached_rows(const AttentionContext& context, TierId tier,
                                      std::int64_t positions);

/// Bytes of one class that an operation reads from a tier, in runs of `run`; ignored when zero.
struct Part {
  TensorClass tensor_class = TensorClass::keys;
  Bytes payload;
  Bytes run;
};
using Parts = SmallVector<Part, 6>;

/// Keys and values of this many positions, in runs of `neighbours` adjacent rows of a sequence.
Parts row_runs(const KvShape& shape, std::int64_t positions, std::int64_t neighbours);
/// Keys and values where each sequence's rows are one run.
Parts contiguous_rows(const KvShape& shape, std::int64_t positions);

/// Adds an access to the operation, unless its payload is zero. Without `run` it is one run.
void add_access(Op& op, TierId tier, Direction direction, TensorClass tensor_class, Bytes payload);
void add_access(Op& op, TierId tier, Direction direction, const Part& part);

/// Adds a kernel's read of weights of a layer, a part of which it may read in the far tier.
void add_weights(Op& op, const AttentionContext& context, Bytes weights);

/// Copies parts from the far tier into near-tier staging.
struct Fetch {
  Phase phase = Phase::gather;
  RequesterKind by = RequesterKind::sm;
  Parts parts = {};
  Bytes indices{};  ///< index list, read from the near tier first
  Bytes window{};   ///< of the parts (Access); 0: that of the engine
  Duration lookup{};
  OpIds after = {};
};
OpId add_fetch(StepGraph& graph, const AttentionContext& context, int layer, Fetch fetch);

/// Number of layers whose fetched rows are in staging at a time: the attending layer and, under a
/// guessed query, the next one.
std::int64_t layers_in_flight(const StepConfig& step);

/// Exact attention of one new position over `positions` others, whose rows are read from the near
/// tier as `parts`. The kernel is that of the model's cache, or the one that reads rows by index.
enum class RowOrder : std::uint8_t { contiguous, by_index };
OpId add_attention(StepGraph& graph, const AttentionContext& context, int layer,
                   std::int64_t positions, const Parts& parts, OpIds after,
                   RowOrder order = RowOrder::contiguous);
/// Parts that add_attention() reads of rows fetched to staging.
Parts staged_rows(const KvShape& shape, std::int64_t positions);

/// Attention over every row: near rows in place, far rows after a copy to staging, which starts
/// after `fetch_after`. Both wait for `ready` too.
struct WholeAttention {
  KvTier tier = KvTier::far;
  std::int64_t near_positions = 0;  ///< of far rows, those that are near and read in place
  RequesterKind by = RequesterKind::copy_engine;
  OpIds fetch_after = {};
  OpId ready;
};
/// Attention over far rows by the host's CPUs where these are: queries go there and outputs come
/// back, by the copy engine. Its arithmetic is none of the GPU's.
OpId add_cpu_attention(StepGraph& graph, const AttentionContext& context, int layer, OpId ready);
LayerOps add_whole_attention(StepGraph& graph, const AttentionContext& context, int layer,
                             WholeAttention whole);

/// Scores compact data against the queries, and lists the positions of the best scores.
struct Screening {
  Part read;  ///< from the near tier
  Flops flops;
  std::int64_t listed = 0;  ///< entries of each sequence's index list
  Arithmetic arithmetic = Arithmetic::bf16;
  OpId after;
};
OpId add_screening(StepGraph& graph, const AttentionContext& context, int layer,
                   const Screening& screening);

/// Stores the step's new positions in every cached tensor that has no kernel of its own. Far rows
/// are written in the background (only the step's end waits), near rows by a kernel. Returns the
/// operation that attention must wait for: that kernel, or `after`.
OpId add_store(StepGraph& graph, const AttentionContext& context, int layer,
               const std::vector<CachedTensor>& cached, OpId after);

}  // namespace tiersim
