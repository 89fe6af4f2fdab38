#include "kernels/cases/all_cases.hpp"

#include "kernels/cases/baselines.hpp"
#include "kernels/cases/ceilings.hpp"
#include "kernels/cases/host_gather.hpp"

namespace tiersim::kernels {

CaseList all_cases(Sizes sizes) {
  CaseList cases;
  add_ceilings_cases(cases, sizes);
  add_host_gather_cases(cases, sizes);
  add_baselines_cases(cases, sizes);
  return cases;
}

}  // namespace tiersim::kernels
