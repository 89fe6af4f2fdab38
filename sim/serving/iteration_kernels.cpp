#include "sim/serving/iteration_kernels.hpp"

#include <algorithm>

#include "sim/serving/explain.hpp"
#include "sim/serving/iteration_cost.hpp"
#include "workloads/llm/speculative_step.hpp"

namespace tiersim {
IterationKernels::IterationKernels(const ServingConfig& config)
    : config_(config),
      system_(build_stage_system(config.scenario)),
      serial_(!config.early_exit && config.scenario.parallel.pipeline == 1 &&
              !config.scenario.model.encoder && !IterationCost(config, system_).executed()) {}

std::vector<KernelSlice> IterationKernels::of(const Iteration& iteration) const {
  if (!serial_) return {};
  IterationBatch batch = batch_of(iteration, false);
  const Launching launching = launching_of(config_, batch);
  batch.padding = launching.padding;
  AttentionContext replica = context_of(config_.scenario, system_);
  replica.host_works = false;
  const StepGraph of = build_drafted_iteration(replica, *config_.scenario.method.method,
                                               batch.work(), system_.tier_names());
  std::vector<KernelSlice> out;
  const bool dispatched =
      config_.scenario.speculation && config_.scenario.speculation->draft.dispatch.has_value();
  Duration now{};
  Duration ready{};  // when the CPU has dispatched the pass of the draft that runs
  std::int64_t kernels = 0;
  const OpPlans plans = system_.plan(of);
  for (std::size_t i = 0; i < plans.size(); ++i) {
    const bool drafts = dispatched && i < of.drafting;
    const Duration time = plans[i].uncontended(system_.channels());
    if (i == of.drafting || (drafts && of.ops[i].kind == OpKind::host)) now = std::max(now, ready);
    if (drafts && of.ops[i].kind == OpKind::host) {
      ready = now + time;
      continue;
    }
    if (plans[i].exclusive && !drafts) now = std::max(now, repeated(launching.each, kernels++));
    if (time > Duration{}) out.push_back({part_of(of.ops[i]), of.ops[i].layer, now, now + time});
    now += time;
  }
  return out;
}

}  // namespace tiersim
