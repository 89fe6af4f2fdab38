#include "kernels/campaign/conformance.hpp"

namespace tiersim::kernels::conformance {

Probes all_probes() {
  Probes probes;
  add_memory_probes(probes);
  add_warp_probes(probes);
  add_matrix_probes(probes);
  add_hopper_probes(probes);
  add_wgmma_probes(probes);
  return probes;
}

}  // namespace tiersim::kernels::conformance
