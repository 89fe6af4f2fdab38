#include "kernels/cases/early_exit_depth.cuh"

#include "kernels/cases/early_exit.hpp"

namespace tiersim::kernels {
namespace {

template <bool InGraph, int Units>
void add_depth(CaseList& cases, const std::string& model, const DepthPlan& plan) {
  const std::string variant = InGraph ? "graph_if." : "host_read.";
  cases.push_back({"early_exit.depth." + variant + model + "-e" + std::to_string(plan.exit) + "-b" +
                       std::to_string(plan.rows),
                   [plan] { return std::make_unique<DepthCase<InGraph, Units>>(plan); }, false,
                   /*graph=*/false});
}

}  // namespace

void add_early_exit_depth_cases(CaseList& cases, Sizes sizes) {
  if (sizes == Sizes::toy) {
    const DepthPlan toy = {.layers = 3, .exit = 2, .rows = 5, .depth = 64};
    add_depth<true, 1>(cases, "toy", toy);
    add_depth<false, 1>(cases, "toy", toy);
    return;
  }
  for (const std::int64_t rows : {1, 64}) {
    for (const std::int64_t exit : {1, 4, 12}) {
      const DepthPlan plan = {.layers = 12, .exit = exit, .rows = rows, .depth = 768};
      add_depth<true, 3>(cases, "t5-base", plan);
      add_depth<false, 3>(cases, "t5-base", plan);
    }
  }
}

}  // namespace tiersim::kernels
