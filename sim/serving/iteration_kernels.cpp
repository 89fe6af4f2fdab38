#include "sim/serving/iteration_kernels.hpp"

#include <algorithm>

#include "sim/serving/explain.hpp"
#include "sim/serving/iteration_cost.hpp"
#include "workloads/llm/speculative_step.hpp"

namespace tiersim {
IterationKernels::IterationKernels(const ServingConfig& config)
    : pools_(pools_of(config)), serial_(!config.early_exit && !config.scenario.model.encoder) {
  for (const ServerPool& pool : pools_) {
    const System& system = systems_.emplace_back(build_stage_system(pool.config.scenario));
    serial_ = serial_ && pool.config.scenario.parallel.pipeline == 1 &&
              !IterationCost(pool.config, system).executed();
  }
}

std::vector<KernelSlice> IterationKernels::of(const Iteration& iteration, std::size_t pool) const {
  if (!serial_) return {};
  const ServingConfig& config = pools_[pool].config;
  const System& system = systems_[pool];
  IterationBatch batch = batch_of(iteration, false);
  const Launching launching = launching_of(config, batch);
  batch.padding = launching.padding;
  AttentionContext replica = context_of(config.scenario, system);
  replica.host_works = false;
  const StepGraph of = build_drafted_iteration(replica, *config.scenario.method.method,
                                               batch.work(), system.tier_names());
  std::vector<KernelSlice> out;
  const bool dispatched =
      config.scenario.speculation && config.scenario.speculation->draft.dispatch.has_value();
  Duration now{};
  Duration ready{};  // when the CPU has dispatched the pass of the draft that runs
  std::int64_t kernels = 0;
  const OpPlans plans = system.plan(of);
  for (std::size_t i = 0; i < plans.size(); ++i) {
    const bool drafts = dispatched && i < of.drafting;
    const Duration time = plans[i].uncontended(system.channels());
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
