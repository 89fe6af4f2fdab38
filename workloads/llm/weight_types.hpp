#pragma once
// Element types of a model's weights by what they are for, as quantised checkpoints mix them:
// experts in 4 bits, attention in 8 or 16. What is not named has the type of all weights.
//
//   q_a, q_b, kv_a, kv_b    MLA (DeepSeek-V2, arXiv 2405.04434, section 2.1.2): down to the query's
//                           latent and up to all heads; down to the cached latent and rotary key,
//                           and up to all keys and values, which absorbed decode multiplies with
//   q, kv                   of a model without latents: directly from the residual stream
//   linear_attention        all products of such a layer; indexer: those of DeepSeek's
//   o                       from the heads' outputs back to the residual stream
//   other                   norms, biases, and tables of relative positions
#include <cstdint>
#include <optional>

#include "sim/config/fields.hpp"
#include "workloads/llm/data_type.hpp"

namespace tiersim {

/// The purpose of weights.
enum class WeightPart : std::uint8_t {
  q_a,
  q_b,
  q,
  kv_a,
  kv_b,
  kv,
  o,
  cross_attention,
  linear_attention,  ///< products of layers with linear attention
  indexer,
  mlp,  ///< of layers without experts
  router,
  experts,  ///< routed experts
  shared_experts,
  encoder,    ///< whole encoder, without the embedding
  embedding,  ///< 0 where the head shares it, or where another pipeline stage has it
  head,
  other,
};

struct WeightTypes {
  std::optional<DataType> attention = {};  ///< its projections
  std::optional<DataType> mlp = {};        ///< of layers without experts
  std::optional<DataType> experts = {};    ///< routed ones
  std::optional<DataType> shared_experts = {};
  std::optional<DataType> router = {};
  std::optional<DataType> vectors = {};  ///< norms, biases, sinks

  bool any() const { return attention || mlp || experts || shared_experts || router || vectors; }
  DataType of(WeightPart part, DataType all) const;

  friend bool operator==(const WeightTypes&, const WeightTypes&) = default;
};
void describe(Fields& f, WeightTypes& c);

}  // namespace tiersim
