#pragma once
// How evenly routed tokens load the GPUs over which experts are spread: the popularity of experts,
// the GPUs that hold them, and copies of the popular ones. The GPU with most rows decides, since
// the others wait for it.
//
// Popularity. The experts of a layer have shares by Zipf's law or a log-normal one, in random
// order, or those that a server counted in each of its layers. A step's rows of an expert are drawn
// around its share of all rows, as independent tokens would give them; no expert has more rows than
// there are tokens. Placement. Each GPU has as many slots as the others. `contiguous`: experts in
// their order, and copies in the order of the experts from the first one on. `balanced` is the
// greedy method of DeepSeek's EPLB (deepseek-ai/EPLB, global policy): the expert whose copies have
// most rows each gets one more, until the slots are full; then slots go to GPUs in the order of
// their rows, each to the GPU with fewest rows that has a free slot. It knows the shares, with an
// error of `drift`, or those that were counted before. The copies of an expert have equal parts of
// its rows. Ignores: correlations between the experts of a token; the cost of moving experts.
// Checked: tests/unit/workloads/expert_balance_test.cpp; against DeepSeek-R1's routing on GB200 as
// TensorRT-LLM published it, in the same file.
#include <array>
#include <cstdint>
#include <string_view>
#include <vector>

#include "workloads/llm/expert_load_config.hpp"

namespace tiersim {

enum class ExpertPlacement : std::uint8_t { contiguous, balanced };
inline constexpr std::array<std::string_view, 2> kExpertPlacementNames{"contiguous", "balanced"};

struct ExpertGroup {
  std::int64_t experts = 1;  ///< of a layer
  std::int64_t top_k = 1;    ///< of a token
  std::int64_t tokens = 1;   ///< of all GPUs
  std::int64_t ranks = 1;    ///< GPUs
  std::int64_t copies = 0;  ///< slots beyond one for each expert; all slots are a multiple of ranks
  ExpertPlacement placement = ExpertPlacement::contiguous;
};

/// The expert of each slot, GPU by GPU. `rows`: by expert, as far as the placement knows them.
std::vector<std::int32_t> place_experts(const ExpertGroup& group, const std::vector<double>& rows);

/// Means over draws of a layer's loads.
struct ExpertBalance {
  double rows = 0;              ///< of the GPU with most
  double reached = 0;           ///< most slots of any GPU with at least one row
  double over_mean = 1;         ///< its rows over the mean of all GPUs
  double slot_over_mean = 1;    ///< the same of slots
  double expert_over_mean = 1;  ///< the same of experts
};
/// Layers that are drawn of a law where nothing else is said.
inline constexpr int kDrawnLayers = 16;

/// The same for the same arguments, always. `draws` layers of a law; of counts all layers.
ExpertBalance expert_balance(const ExpertLoadConfig& load, const ExpertGroup& group,
                             int draws = kDrawnLayers);

}  // namespace tiersim
