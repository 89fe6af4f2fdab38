#include "workloads/llm/handover.hpp"

namespace tiersim {

void describe(Fields& f, HandoverConfig& c) {
  f.doc("Where the cache of a prefill goes.");
  f.required("to", c.to, "How the GPUs that decode share the model.");
  f.optional("when", c.when, kHandoverTimeNames, "When it is sent.");
}

}  // namespace tiersim
