#pragma once
// The pieces that KV methods are made of: sizes of the KV cache, and the operations that fetch
// rows, attend over them and store the new ones. Bytes and FLOPs of each are stated here once.
#include "workloads/attention/method.hpp"

namespace tiersim {

/// Where a method that works in either keeps keys and values.
enum class KvTier : std::uint8_t { near, far };
inline constexpr std::array<std::string_view, 2> kKvTierNames{"near", "far"};
inline TierId tier_of(const AttentionContext& context, KvTier tier) {
  return tier == KvTier::near ? context.placement.near : context.placement.far;
}

/// How the rows of a method that fetches all of them come from the far tier.
struct WholeFetch {
  RequesterKind by = RequesterKind::copy_engine;
};
void describe(Fields& f, WholeFetch& c);

/// Sizes of one layer's KV cache over the whole batch. Under latent attention (MLA) a row is the
/// latent, kept as a key for one head; values have no bytes of their own.
struct KvShape {
  std::int64_t sequences = 0;  ///< (batch, cached head) pairs: each has its own rows
  std::int64_t context = 0;    ///< positions that are attended to; fewer than asked under a window
  std::int64_t key_width = 0;
  std::int64_t value_width = 0;
  std::int64_t query_heads = 0;      ///< over the batch
  std::int64_t queries_per_row = 0;  ///< query heads that share one cached head
  std::int64_t executed_heads = 0;   ///< query_heads, padded to the tiles of the kernel
  std::int64_t score_width = 0;
  std::int64_t mix_width = 0;
  DataType type = DataType::fp16;

  explicit KvShape(const AttentionContext& context);

  /// One row: the key (or value) of one position and cached head.
  Bytes key_row() const { return stored(key_width, type); }
  Bytes value_row() const { return stored(value_width, type); }
  Bytes row_pair() const { return key_row() + value_row(); }
  /// Rows of so many positions of every sequence.
  Bytes keys(std::int64_t positions) const { return key_row() * (sequences * positions); }
  Bytes values(std::int64_t positions) const { return value_row() * (sequences * positions); }
  Bytes both(std::int64_t positions) const { return keys(positions) + values(positions); }
  /// Positions chosen by a method that wants this share of them, rounded up.
  std::int64_t chosen(double share) const;
  /// Index list of so many chosen positions: 2 bytes each up to a context of 65536, else 4.
  Bytes indices(std::int64_t positions) const;
  /// Scores and weighted sum over so many positions, every query head:
  /// 2 * positions * (score_width + mix_width) each; and what padding adds to that.
  Flops attention_flops(std::int64_t positions) const { return flops(query_heads, positions); }
  Flops padding_flops(std::int64_t positions) const {
    return flops(executed_heads - query_heads, positions);
  }
  /// Queries as the attention kernel reads them, and what it writes.
  Bytes queries() const { return stored(query_heads * score_width, DataType::bf16); }
  Bytes outputs() const { return stored(query_heads * mix_width, DataType::bf16); }

 private:
  Flops flops(std::int64_t heads, std::int64_t positions) const {
    return Flops::from_base(2 * (score_width + mix_width)) * (heads * positions);
  }
};

/// Adds a tensor; nothing when its size is zero.
void add_tensor(StepGraph& graph, TensorClass tensor_class, TierId tier, Bytes size);

/// Keys and values of so many positions in the tier, as cached() lists them.
std::vector<CachedTensor> cached_rows(const AttentionContext& context, TierId tier,
                                      std::int64_t positions);

/// Bytes of one class that an operation reads from a tier, in runs of `run`; nothing when zero.
struct Part {
  TensorClass tensor_class = TensorClass::keys;
  Bytes payload;
  Bytes run;
};
/// Keys and values of so many positions, in runs of so many neighbouring rows of a sequence.
std::vector<Part> row_runs(const KvShape& shape, std::int64_t positions, std::int64_t neighbours);
/// The same where each sequence's rows are one run.
std::vector<Part> contiguous_rows(const KvShape& shape, std::int64_t positions);

/// Adds an access to the operation; nothing when its payload is zero. Without `run`, one run.
void add_access(Op& op, TierId tier, Direction direction, TensorClass tensor_class, Bytes payload);
void add_access(Op& op, TierId tier, Direction direction, const Part& part);

/// Copies parts from the far tier into near-tier staging.
struct Fetch {
  Phase phase = Phase::gather;
  RequesterKind by = RequesterKind::sm;
  std::vector<Part> parts = {};
  Bytes indices{};  ///< index list that it reads from the near tier first
  std::vector<OpId> after = {};
};
OpId add_fetch(StepGraph& graph, const AttentionContext& context, int layer, Fetch fetch);

/// Layers whose fetched rows lie in staging at the same time: the one that attends, and under a
/// guessed query the next.
std::int64_t layers_in_flight(const StepConfig& step);

/// Exact attention of one new position over so many others, whose rows are read from the near tier
/// as `parts`. The kernel is the one for the model's cache, or the one that reads rows by index.
enum class RowOrder : std::uint8_t { contiguous, by_index };
OpId add_attention(StepGraph& graph, const AttentionContext& context, int layer,
                   std::int64_t positions, const std::vector<Part>& parts, std::vector<OpId> after,
                   RowOrder order = RowOrder::contiguous);
/// What add_attention reads of rows that were fetched to staging.
std::vector<Part> staged_rows(const KvShape& shape, std::int64_t positions);

/// Attention over every row: near ones where they are, far ones once they are copied to staging,
/// which starts after `fetch_after`. Either waits for `ready` too.
struct WholeAttention {
  KvTier tier = KvTier::far;
  RequesterKind by = RequesterKind::copy_engine;
  std::vector<OpId> fetch_after = {};
  OpId ready;
};
LayerOps add_whole_attention(StepGraph& graph, const AttentionContext& context, int layer,
                             WholeAttention whole);

/// Scores something small against the queries and lists what the best of it stands for.
struct Screening {
  Part read;  ///< from the near tier
  Flops flops;
  std::int64_t listed = 0;  ///< entries of each sequence's index list
  Arithmetic arithmetic = Arithmetic::bf16;
  OpId after;
};
OpId add_screening(StepGraph& graph, const AttentionContext& context, int layer,
                   const Screening& screening);

/// Stores the step's new positions in every cached tensor that has no kernel of its own: far ones
/// beside the rest (nothing waits but the step's end), near ones by a kernel. Returns what
/// attention must wait for: that kernel, or `after`.
OpId add_store(StepGraph& graph, const AttentionContext& context, int layer,
               const std::vector<CachedTensor>& cached, OpId after);

}  // namespace tiersim
