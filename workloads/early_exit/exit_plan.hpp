#pragma once
// The layers of one decode iteration under early exit, and the operations that early exit adds.
//
//   all_rows       every sequence runs the layers 1 .. D, D the deepest of all. After every such
//                  layer, the last one included, all of them are measured, as in Algorithm 1 of
//                  Miao et al. 2024 (also a sequence that was confident before, to no effect).
//                  Then the caches of the layers D + 1 .. n are filled for all
//   per_sequence   layer l runs for sequences of depth >= l; the others are filled at the end
//   parallel_fill  like per_sequence, but a running layer makes the keys and values of exited
//                  sequences with its own, so that its weights are read once (FREE); layers that
//                  no sequence reaches are filled at the end
//   bucketed       sequences by depth, in groups of equal size or one more; each group is a
//                  separate pass as under all_rows, with the weights read again
//
// In each case, every layer makes a sequence's keys and values once: when it runs, beside others,
// or at the end. `softmax` has its token from the head of the exit layer (the kernel gives the
// best), so no head follows; the others run the head once for all at the end. The CPU decides after
// every measured layer of every pass.
#include <cstdint>
#include <span>
#include <vector>

#include "workloads/attention/method.hpp"
#include "workloads/early_exit/early_exit_config.hpp"

namespace tiersim {

/// One layer of one pass over (part of) the batch.
struct ExitLayer {
  int layer = 0;              ///< from 0
  std::int64_t rows = 0;      ///< sequences that run it
  std::int64_t measured = 0;  ///< number of them whose confidence is computed after the layer
  std::int64_t filled = 0;    ///< exited sequences whose keys and values are made with it

  friend bool operator==(const ExitLayer&, const ExitLayer&) = default;
};

/// An iteration: its layers in execution order.
struct ExitPlan {
  std::vector<ExitLayer> layers = {};
  /// Number of sequences whose keys and values the grouped kernel makes at the end, by layer; 0
  /// where none.
  std::vector<std::int64_t> filled_at_end = {};
  std::int64_t depth = 0;         ///< deepest layer that ran, from 1
  std::int64_t head_batches = 1;  ///< runs of the LM head for exited sequences: 0 or 1
  std::int64_t decisions = 0;     ///< times that the CPU must wait for the exit status
};

/// `depths`: the layer, from 1, after which each sequence of the batch would exit alone; any value
/// for a technique that measures no confidence. The plan does not depend on their order.
ExitPlan plan_exits(const EarlyExitConfig& config, std::int64_t layers,
                    std::span<const std::int64_t> depths);

/// Adds the confidence of `rows` rows after a layer, with the vote of the batch and the word that
/// the decision reads; returns `after` where the technique needs none. Bytes and FLOPs are those of
/// kernels/device/lm_head.cuh (softmax) and residual_vote.cuh (the others, whose measure is fused
/// with the layer's last residual add). Under tensor parallelism each GPU has a part of the
/// vocabulary, and they exchange their best two.
OpId add_confidence(StepGraph& graph, const AttentionContext& device, ExitTechnique technique,
                    int layer, std::int64_t rows, OpId after);

/// Work of one launch of the grouped fill kernel.
struct FillWork {
  std::int64_t layers = 0;  ///< layers whose key and value weights are read
  std::int64_t rows = 0;    ///< hidden states that are read
  std::int64_t pairs = 0;   ///< filled pairs of a row and a layer: at most rows * layers

  friend bool operator==(const FillWork&, const FillWork&) = default;
};
FillWork fill_at_end(const ExitPlan& plan);

/// Adds the keys and values of skipped layers from the states at which sequences exited, as one
/// launch (kernels/device/kv_fill.cuh), stored as the method caches them. The kernel itself writes
/// near tensors; a copy writes far ones, and only the step's end waits for it. An encoder's keys
/// and values exist for all layers already. Returns the kernel, or `after` where nothing is filled.
/// Left out: additional products of a method for a cached tensor (MAPLE's low-rank keys: their
/// bytes are counted).
OpId add_fill(StepGraph& graph, const AttentionContext& device, const Method& method,
              const FillWork& work, OpId after);

/// Adds the same for exited sequences beside a layer that runs for others: the weights are not read
/// again.
OpId add_fill_beside(StepGraph& graph, const AttentionContext& device, const Method& method,
                     int layer, std::int64_t rows, OpId after);

}  // namespace tiersim
