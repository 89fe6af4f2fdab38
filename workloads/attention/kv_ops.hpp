#pragma once
// The pieces that KV methods are made of: sizes of the KV cache, and the operations that fetch
// rows, attend over them and write the new token back. Bytes and FLOPs of each are stated here
// once.
#include "workloads/attention/method.hpp"

namespace tiersim {

/// Sizes of one layer's KV cache over the whole batch.
struct KvShape {
  std::int64_t sequences = 0;  ///< (batch, KV head) pairs: each has its own rows
  std::int64_t context = 0;
  std::int64_t head_dim = 0;
  std::int64_t query_heads = 0;  ///< over the batch
  DataType type = DataType::fp16;

  explicit KvShape(const AttentionContext& context);

  /// One row: the key (or value) of one position and KV head.
  Bytes row() const { return stored(head_dim, type); }
  /// Keys (or values) of so many positions of every sequence.
  Bytes rows(std::int64_t positions) const { return row() * (sequences * positions); }
  /// Whole cache of keys (or values).
  Bytes all() const { return rows(context); }
  /// Positions chosen by a method that fetches `budget` of them, rounded up.
  std::int64_t chosen(double budget) const;
  /// Index list of so many chosen positions: 2 bytes each up to a context of 65536, else 4.
  Bytes indices(std::int64_t positions) const;
  /// Scores and weighted sum over so many positions, every query head: 4 * positions * head_dim
  /// each.
  Flops attention_flops(std::int64_t positions) const;
};

/// Adds a tensor; nothing when its size is zero.
void add_tensor(StepGraph& graph, TensorClass tensor_class, TierId tier, Bytes size);

/// Bytes of one class that come from (or go to) the far tier of a transfer, in runs of `run`.
struct FarPart {
  TensorClass tensor_class = TensorClass::keys;
  Bytes payload;
  Bytes run;
};

/// Moves the parts from the far tier into near-tier staging. Reads the index list from the near
/// tier first when `indices` is not zero.
OpId add_fetch(StepGraph& graph, const AttentionContext& context, int layer, Phase phase,
               Requester requester, const std::vector<FarPart>& parts, Bytes indices, OpId after);

/// Exact attention over `positions` rows of keys and values that lie in the near tier as `from`.
OpId add_attention(StepGraph& graph, const AttentionContext& context, int layer,
                   std::int64_t positions, TensorClass from, OpId after);

/// Writes the new token's rows, one part a class, to their tier. Nothing waits for it but the
/// step's end.
void add_write_back(StepGraph& graph, const AttentionContext& context, int layer,
                    const std::vector<FarPart>& parts, OpId after);

}  // namespace tiersim
