#include "workloads/numerics/early_exit_study.hpp"

#include "workloads/numerics/early_exit_depth.hpp"
#include "workloads/numerics/early_exit_fill.hpp"

namespace tiersim::numerics {

Study early_exit_study(std::uint64_t seed) {
  Study study{.name = "early-exit", .tables = {}, .curves = {}, .statements = {}};
  const EarlyExitSample sample = random_early_exit_sample(seed, {}, 384, 128);
  add_depth_study(sample, seed, study);
  add_fill_study(sample, seed, study);
  return study;
}

}  // namespace tiersim::numerics
