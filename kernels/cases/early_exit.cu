#include "kernels/cases/early_exit.hpp"

namespace tiersim::kernels {

void add_early_exit_cases(CaseList& cases, Sizes sizes) {
  add_early_exit_head_cases(cases, sizes);
  add_early_exit_vote_cases(cases, sizes);
  add_early_exit_depth_cases(cases, sizes);
  add_early_exit_fill_cases(cases, sizes);
  add_early_exit_layer_cases(cases, sizes);
}

}  // namespace tiersim::kernels
