#include "workloads/llm/hyper_config.hpp"

namespace tiersim {

void describe(Fields& f, HyperConfig& c) {
  f.doc("Hyper-connections: several residual streams, which each sublayer mixes.");
  f.required("streams", c.streams, "Residual streams.", in_range(2, 64));
}

}  // namespace tiersim
