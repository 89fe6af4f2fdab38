#include "sim/serving/iteration_kernels.hpp"

#include <algorithm>

#include "sim/serving/explain.hpp"
#include "sim/serving/iteration_cost.hpp"
#include "workloads/llm/iteration.hpp"

namespace tiersim {
namespace {

IterationWork work_of(const Iteration& iteration, std::optional<std::int64_t> graph) {
  IterationWork work{.decodes = static_cast<std::int64_t>(iteration.decodes.size())};
  std::int64_t positions = 0;
  for (const Sequence* s : iteration.decodes) positions += s->cached + 1;
  if (work.decodes > 0) work.context = (positions + work.decodes - 1) / work.decodes;
  work.logits = work.decodes;
  if (graph) work.padding = *graph - work.decodes;
  for (const auto& [s, tokens, executed] : iteration.pieces) {
    work.chunks.push_back({executed, s->cached});
    if (s->cached + tokens == s->prompt) ++work.logits;
  }
  return work;
}

}  // namespace

IterationKernels::IterationKernels(const ServingConfig& config)
    : config_(config),
      system_(build_replica_system(config.scenario)),
      serial_(!config.early_exit && !config.scenario.model.encoder &&
              !IterationCost(config, system_).executed()) {}

std::vector<KernelSlice> IterationKernels::of(const Iteration& iteration) const {
  if (!serial_) return {};
  const ServerHostConfig& host = config_.server.host;
  const auto graph =
      captured_rows(host, config_.scenario.parallel,
                    static_cast<std::int64_t>(iteration.decodes.size()), !iteration.pieces.empty());
  const Duration launch = graph ? host.launch.value : host.eager_launch.value;
  AttentionContext replica = context_of(config_.scenario, system_);
  replica.host_works = false;
  const StepGraph of = build_iteration(replica, *config_.scenario.method.method,
                                       work_of(iteration, graph), system_.tier_names());
  std::vector<KernelSlice> out;
  Duration now{};
  std::int64_t kernels = 0;
  const std::vector<OpPlan> plans = system_.plan(of);
  for (std::size_t i = 0; i < plans.size(); ++i) {
    if (plans[i].exclusive) now = std::max(now, repeated(launch, kernels++));
    const Duration time = plans[i].uncontended(system_.channels());
    if (time > Duration{}) out.push_back({part_of(of.ops[i]), of.ops[i].layer, now, now + time});
    now += time;
  }
  return out;
}

}  // namespace tiersim
