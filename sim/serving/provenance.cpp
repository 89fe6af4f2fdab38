#include "sim/serving/provenance.hpp"

#include <algorithm>
#include <set>
#include <string>
#include <string_view>

#include "sim/config/describe.hpp"
#include "sim/step/costs.hpp"
#include "workloads/llm/speculative_step.hpp"

namespace tiersim {
namespace {

constexpr std::string_view kTimed = "system.gpu.timed_kernels.";

// Kernels that iterations use.
struct UsedKernels {
  std::set<std::string> families;
  TimedNames timed;
};
UsedKernels used_kernels(const ServingConfig& config, const System& system) {
  AttentionContext replica = context_of(config.scenario, system);
  IterationWork work{.decodes = 2, .context = 100, .logits = 2, .encoder_context = 10};
  if (!config.scenario.model.encoder) work.chunks = {{50, 50}};
  if (config.scenario.speculation) {
    work.drafts = config.scenario.speculation->most_tokens();
    work.logits *= 1 + work.drafts;
  }
  UsedKernels out;
  const StepGraph graph =
      build_drafted_iteration(replica, *config.scenario.method.method, work, system.tier_names());
  for (const Op& op : graph.ops) {
    if (op.kind != OpKind::compute) continue;
    out.families.emplace(name(system.family_of(op)));
    if (const auto kernel = system.plan(op).timed_kernel; !kernel.empty()) out.timed.insert(kernel);
  }
  if (config.scenario.model.encoder) out.families.emplace(name(KernelFamily::prefill_attention));
  return out;
}

// Which numbers of one pool the times depend on.
class PoolNumbers {
 public:
  explicit PoolNumbers(const UsedPool& used)
      : config_(used.pool.config),
        prefix_(used.pool.prefix()),
        kernels_(used_kernels(config_, used.one)) {
    for (std::size_t c = 0; c < used.taken.size(); ++c)
      if (used.taken[c] > Bytes{}) {
        const std::string& channel = used.one.channels()[c].name;
        used_.insert(channel.substr(0, channel.rfind('.')));
      }
  }

  const std::string& prefix() const { return prefix_; }

  /// `path` without the prefix.
  bool in_times(const std::string& path) const {
    if (only_in_costs(path, config_.scenario)) return false;
    constexpr std::string_view kKernels = "system.gpu.kernels.";
    if (path.starts_with(kKernels)) {
      const std::string rest = path.substr(kKernels.size());
      return kernels_.families.contains(rest.substr(0, rest.find('.')));
    }
    if (path.starts_with(kTimed)) {
      const std::string rest = path.substr(kTimed.size());
      return std::ranges::any_of(kernels_.timed, [&](std::string_view kernel) {
        return rest.starts_with(std::string(kernel) + '.');
      });
    }
    for (const std::string_view group : {"system.links.", "system.tiers."}) {
      if (!path.starts_with(group)) continue;
      return std::ranges::any_of(used_, [&](const std::string& device) {
        return path.starts_with(std::string(group) + device + '.');
      });
    }
    for (const std::string_view engine : kRequesterNames)
      if (path.starts_with("system." + std::string(engine) + '.'))
        return used_.contains(std::string(engine));
    return true;
  }

 private:
  const ServingConfig& config_;
  std::string prefix_;
  UsedKernels kernels_;
  std::set<std::string> used_;  // devices and request engines
};

}  // namespace

NumberClass add_provenance(const ServingConfig& config, std::span<const UsedPool> pools,
                           RunRecord& out) {
  std::vector<PoolNumbers> of_pools;
  for (const UsedPool& pool : pools) of_pools.emplace_back(pool);
  NumberClass weakest_class = NumberClass::measured;
  for (const SourcedNumber& number : list_numbers(config)) {
    // The last pool has no prefix, and what all pools share.
    const PoolNumbers& pool = *std::ranges::find_if(
        of_pools, [&](const PoolNumbers& each) { return number.path.starts_with(each.prefix()); });
    const std::string path = number.path.substr(pool.prefix().size());
    const bool counts = pool.in_times(path);
    if (!counts && path.starts_with(kTimed)) continue;
    out.numbers.push_back(
        {number.path, number.value, number.number_class, number.source, counts, number.ci95});
    if (counts) weakest_class = weakest(weakest_class, number.number_class);
  }
  return weakest_class;
}

}  // namespace tiersim
