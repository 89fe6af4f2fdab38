#pragma once
// What the layers of one decode iteration do under early exit, and the operations that this adds.
#include <cstdint>
#include <span>
#include <vector>

#include "workloads/attention/method.hpp"
#include "workloads/early_exit/early_exit_config.hpp"

namespace tiersim {

/// One layer of one pass over (part of) the batch.
struct ExitLayer {
  int layer = 0;
  std::int64_t rows = 0;      ///< sequences that run it
  std::int64_t measured = 0;  ///< of them, whose confidence is computed after it
  std::int64_t filled = 0;  ///< sequences that left before, whose keys and values are made with it
};

/// An iteration: its layers in the order in which they run.
struct ExitPlan {
  std::vector<ExitLayer> layers;
  /// Sequences whose keys and values of a layer are made by the grouped kernel at the end, by
  /// layer; 0 where none.
  std::vector<std::int64_t> filled_at_end;
  std::int64_t depth = 0;         ///< deepest layer that ran, from 1
  std::int64_t head_batches = 1;  ///< times that the LM head is run for what left
  std::int64_t decisions = 0;  ///< times that the CPU must know the exit status before it goes on
};

/// `depths`: the layer, from 1, after which each sequence of the batch would leave alone.
ExitPlan plan_exits(const EarlyExitConfig& config, std::int64_t layers,
                    std::span<const std::int64_t> depths);

/// The confidence of so many rows after a layer, by the technique; `after` where it needs none.
/// Bytes and FLOPs as the kernels of kernels/device/early_exit_* count them.
OpId add_confidence(StepGraph& graph, const AttentionContext& device, ExitTechnique technique,
                    int layer, std::int64_t rows, OpId after);

/// Keys and values of `rows` positions of so many layers from one hidden state, as one launch.
/// `layers`: how many layers each of `rows`.
OpId add_fill(StepGraph& graph, const AttentionContext& device, std::int64_t rows,
              std::int64_t layers, OpId after);

}  // namespace tiersim
