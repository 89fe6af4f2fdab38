#include "kernels/cases/all_cases.hpp"

#include "kernels/cases/baselines.hpp"
#include "kernels/cases/ceilings.hpp"
#include "kernels/cases/dense.hpp"
#include "kernels/cases/early_exit.hpp"
#include "kernels/cases/host_gather.hpp"
#include "kernels/cases/latent.hpp"
#include "kernels/cases/latent_wgmma.hpp"
#include "kernels/cases/screening.hpp"
#include "kernels/cases/sparse_offload.hpp"

namespace tiersim::kernels {

CaseList all_cases(Sizes sizes) {
  CaseList cases;
  add_ceilings_cases(cases, sizes);
  add_screening_cases(cases, sizes);
  add_host_gather_cases(cases, sizes);
  add_dense_cases(cases, sizes);
  add_latent_cases(cases, sizes);
  add_latent_wgmma_cases(cases, sizes);
  add_early_exit_cases(cases, sizes);
  add_sparse_offload_cases(cases, sizes);
  add_baselines_cases(cases, sizes);
  return cases;
}

}  // namespace tiersim::kernels
