#include "workloads/llm/published_weights.hpp"

namespace tiersim {

void describe(Fields& f, PublishedWeights& c) {
  f.doc("Element types of the published weights.");
  f.required("type", c.type, kDataTypeNames, "Element type of all parts that are not named.");
  f.optional("parts", c.parts, "Element types of parts that differ.");
}

}  // namespace tiersim
