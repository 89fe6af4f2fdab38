#pragma once
// The weights of a model by what they are for. Of one GPU's part (shard.hpp) they say, beside those
// of the whole model, what is replicated and what is split. All counts are weights, never bytes.
//
//   q_a, q_b, kv_a, kv_b    MLA (DeepSeek-V2, arXiv 2405.04434, section 2.1.2): down to the query's
//                           latent and up to all heads; down to the cached latent and rotary key,
//                           and up to all keys and values, which absorbed decode multiplies with
//   q, kv                   of a model without these: straight from the residual stream
//   o                       from the heads' outputs back to the residual stream
//   other                   norms, biases, and tables of relative positions
#include <array>
#include <cstdint>
#include <string_view>

#include "workloads/llm/llm_config.hpp"

namespace tiersim {

enum class WeightPart : std::uint8_t {
  q_a,
  q_b,
  q,
  kv_a,
  kv_b,
  kv,
  o,
  cross_attention,
  mlp,  ///< of layers without experts
  router,
  experts,  ///< those that tokens are sent to
  shared_experts,
  encoder,    ///< all of it, without the embedding
  embedding,  ///< none where the head is the embedding, or where another pipeline stage has it
  head,
  other,
};
inline constexpr std::array<std::string_view, 16> kWeightPartNames{
    "q_a", "q_b",    "q",       "kv_a",           "kv_b",    "kv",        "o",    "cross_attention",
    "mlp", "router", "experts", "shared_experts", "encoder", "embedding", "head", "other"};

/// Weights by WeightPart; together they are LlmConfig::parameters().
using WeightParts = std::array<std::int64_t, kWeightPartNames.size()>;
WeightParts weight_parts(const LlmConfig& model);

}  // namespace tiersim
