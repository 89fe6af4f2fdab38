#pragma once
// Models for the tests of sharing: DeepSeek-V3 by its published dimensions, and small ones whose
// every product can be worked out by hand.
//   small latent   2 layers, hidden 32, 4 heads of 4 + 2 with values of 4, query latent 16, cached
//                  latent 8 + 2, MLP 64, vocabulary 100
//   small experts  the same, its second layer with 8 experts of 16, 2 a token, and 1 shared
#include <cstdint>
#include <string>
#include <utility>
#include <vector>

#include <fmt/format.h>

#include "tests/unit/workloads/small_step.hpp"

namespace tiersim::testing {

inline LlmConfig deepseek_v3() {
  return {.name = "deepseek-v3",
          .layers = 61,
          .hidden = 7168,
          .heads = 128,
          .kv_heads = 128,
          .head_dim = 192,
          .intermediate = 18'432,
          .vocabulary = 129'280,
          .mla = MlaConfig{.q_lora_rank = 1536,
                           .kv_lora_rank = 512,
                           .qk_nope_head_dim = 128,
                           .qk_rope_head_dim = 64,
                           .v_head_dim = 128},
          .moe = MoeConfig{.experts = 256,
                           .experts_per_token = 8,
                           .shared_experts = 1,
                           .expert_intermediate = 2048,
                           .dense_layers = 3}};
}

inline LlmConfig llama3_70b() {
  return {.name = "llama3-70b",
          .layers = 80,
          .hidden = 8192,
          .heads = 64,
          .kv_heads = 8,
          .head_dim = 128,
          .intermediate = 28'672,
          .vocabulary = 128'256};
}

inline LlmConfig small_latent() {
  return {.name = "small",
          .layers = 2,
          .hidden = 32,
          .heads = 4,
          .kv_heads = 4,
          .head_dim = 6,
          .intermediate = 64,
          .vocabulary = 100,
          .mla = MlaConfig{.q_lora_rank = 16,
                           .kv_lora_rank = 8,
                           .qk_nope_head_dim = 4,
                           .qk_rope_head_dim = 2,
                           .v_head_dim = 4}};
}

inline LlmConfig small_experts() {
  LlmConfig m = small_latent();
  m.moe = MoeConfig{.experts = 8,
                    .experts_per_token = 2,
                    .shared_experts = 1,
                    .expert_intermediate = 16,
                    .dense_layers = 1};
  return m;
}

/// A complete replica: 4 sequences of 10 positions in bf16.
inline AttentionContext replica(LlmConfig model, ParallelConfig parallel,
                                StepConfig step = {.batch = 4, .context = 10}) {
  return {.model = std::move(model),
          .step = std::move(step),
          .placement = {kNear, kFar},
          .parallel = parallel};
}

inline StepGraph dense_step(const AttentionContext& context) {
  return build("{name: dense, kv_tier: near}", context);
}

/// "all_reduce tensor 2 256 B", in the order of operations, of one layer. -2: all layers; -1:
/// operations without a layer.
inline std::vector<std::string> collectives(const StepGraph& graph, int layer = -2) {
  std::vector<std::string> out;
  for (const Op& op : graph.ops)
    if (op.kind == OpKind::collective && (layer == -2 || op.layer == layer))
      out.push_back(fmt::format("{} {} {} {} B", name(op.collective.kind),
                                name(op.collective.fabric), op.collective.ranks,
                                op.collective.size.in_base()));
  return out;
}

/// FLOPs of one phase in the whole graph.
inline std::int64_t flops_of(const StepGraph& graph, Phase phase) {
  Flops sum;
  for (const Op& op : graph.ops)
    if (op.phase == phase) sum += op.flops;
  return sum.in_base();
}

/// Bytes of one class that a phase reads or writes.
inline std::int64_t moved(const StepGraph& graph, Phase phase, Direction direction,
                          TensorClass tensor_class) {
  Bytes sum;
  for (const Op& op : graph.ops)
    for (const Access& a : op.accesses)
      if (op.phase == phase && a.direction == direction && a.tensor_class == tensor_class)
        sum += a.payload;
  return sum.in_base();
}

/// Bytes of one class in both tiers.
inline std::int64_t kept(const StepGraph& graph, TensorClass tensor_class) {
  Bytes sum;
  for (const Tensor& t : graph.tensors)
    if (t.tensor_class == tensor_class) sum += t.size;
  return sum.in_base();
}

}  // namespace tiersim::testing
