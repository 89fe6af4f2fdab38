#include "workloads/llm/mtp_config.hpp"

namespace tiersim {

void describe(Fields& f, MtpConfig& c) {
  f.doc("Modules for multi-token prediction, of one layer each.");
  f.optional("modules", c.modules, "Number of modules.", in_range(1, 64));
}

}  // namespace tiersim
