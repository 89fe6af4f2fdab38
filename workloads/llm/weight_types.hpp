#pragma once
// Element types of a model's weights by what they are for, as quantised checkpoints mix them:
// experts in 4 bits, attention in 8 or 16. What is not named has the type of all weights.
#include <optional>

#include "sim/config/fields.hpp"
#include "workloads/llm/data_type.hpp"

namespace tiersim {

enum class WeightPart : std::uint8_t;

struct WeightTypes {
  std::optional<DataType> attention = {};  ///< its projections
  std::optional<DataType> mlp = {};        ///< of layers without experts
  std::optional<DataType> experts = {};    ///< routed ones
  std::optional<DataType> shared_experts = {};
  std::optional<DataType> router = {};
  std::optional<DataType> vectors = {};  ///< norms, biases, sinks

  bool any() const { return attention || mlp || experts || shared_experts || router || vectors; }
  DataType of(WeightPart part, DataType all) const;
};
void describe(Fields& f, WeightTypes& c);

}  // namespace tiersim
