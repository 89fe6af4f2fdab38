#pragma once
// Element types in which a checkpoint has its weights. A model that states them gives a step its
// types, unless the step states its own.
#include "sim/config/fields.hpp"
#include "workloads/llm/weight_types.hpp"

namespace tiersim {

struct PublishedWeights {
  DataType type = DataType::bf16;
  WeightTypes parts = {};  ///< of parts that differ from it

  friend bool operator==(const PublishedWeights&, const PublishedWeights&) = default;
};
void describe(Fields& f, PublishedWeights& c);

}  // namespace tiersim
