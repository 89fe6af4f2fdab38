#pragma once
// What the layers of one decode iteration do under early exit, and the operations that this adds.
//
//   all_rows       every sequence runs the layers 1 .. D, D the deepest of all; every layer that
//                  runs is measured for all of them, the last one included, as in Algorithm 1 of
//                  Miao et al. 2024 (a sequence that was confident once is measured on, to no
//                  effect); then the caches of the layers D + 1 .. n are filled for all
//   per_sequence   layer l runs for those of depth >= l; the others are filled at the end
//   parallel_fill  the same, but a layer that runs makes the keys and values of those that have
//                  left with its own, so that its weights are read once (FREE); what no sequence
//                  reaches is filled at the end
//   bucketed       sequences by depth, in groups of equal size or one more; each group is a pass by
//                  itself as under all_rows, with the weights read again
//
// In each, a sequence has every layer's keys and values once: run, filled beside, or at the end.
// `softmax` has its token from the head of the layer where it left (the kernel gives the best), so
// no head follows; the others run the head once for all at the end. The CPU decides after every
// measured layer of every pass.
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
  std::int64_t measured = 0;  ///< of them, whose confidence is computed after it
  std::int64_t filled = 0;  ///< sequences that left before, whose keys and values are made with it

  friend bool operator==(const ExitLayer&, const ExitLayer&) = default;
};

/// An iteration: its layers in the order in which they run.
struct ExitPlan {
  std::vector<ExitLayer> layers = {};
  /// Sequences whose keys and values of a layer are made by the grouped kernel at the end, by
  /// layer; 0 where none.
  std::vector<std::int64_t> filled_at_end = {};
  std::int64_t depth = 0;         ///< deepest layer that ran, from 1
  std::int64_t head_batches = 1;  ///< times that the LM head is run for what left: 0 or 1
  std::int64_t decisions = 0;  ///< times that the CPU must know the exit status before it goes on
};

/// `depths`: the layer, from 1, after which each sequence of the batch would leave alone; of a
/// technique that does not measure, any. The plan does not depend on their order.
ExitPlan plan_exits(const EarlyExitConfig& config, std::int64_t layers,
                    std::span<const std::int64_t> depths);

/// The confidence of so many rows after a layer, by the technique, with the vote of the batch and
/// the word that the decision reads; `after` where the technique needs none. Bytes and FLOPs are
/// those of kernels/device/lm_head.cuh (softmax) and residual_vote.cuh (the others, which are the
/// layer's last residual add with the measure in it). Under tensor parallelism each GPU has a part
/// of the vocabulary and they exchange their best two.
OpId add_confidence(StepGraph& graph, const AttentionContext& device, ExitTechnique technique,
                    int layer, std::int64_t rows, OpId after);

/// What one launch of the grouped kernel fills.
struct FillWork {
  std::int64_t layers = 0;  ///< whose weights of keys and values are read
  std::int64_t rows = 0;    ///< hidden states that are read
  std::int64_t pairs = 0;   ///< of a row and a layer that are filled: rows * layers, or fewer

  friend bool operator==(const FillWork&, const FillWork&) = default;
};
FillWork fill_at_end(const ExitPlan& plan);

/// Keys and values of skipped layers from the states in which sequences left, as one launch
/// (kernels/device/kv_fill.cuh), stored as the method caches them: near tensors by the kernel
/// itself, far ones by a copy that nothing waits for but the step's end. An encoder's keys and
/// values are there for all layers already. Returns the kernel, or `after` where nothing is filled.
/// Left out: products that a method adds of its own to make a cached tensor (MAPLE's low-rank keys:
/// their bytes are counted).
OpId add_fill(StepGraph& graph, const AttentionContext& device, const Method& method,
              const FillWork& work, OpId after);

/// The same for sequences that left before, beside a layer that runs for others: the weights are
/// not read again.
OpId add_fill_beside(StepGraph& graph, const AttentionContext& device, const Method& method,
                     int layer, std::int64_t rows, OpId after);

}  // namespace tiersim
