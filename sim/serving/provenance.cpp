#include "sim/serving/provenance.hpp"

#include <algorithm>
#include <array>
#include <set>
#include <string>
#include <string_view>

#include "sim/config/describe.hpp"
#include "sim/step/costs.hpp"
#include "workloads/llm/speculative_step.hpp"

namespace tiersim {
namespace {

constexpr std::string_view kTimed = "system.gpu.timed_kernels.";

// The kernels and devices that iterations use on the GPUs of one kind.
struct UsedHardware {
  std::set<std::string> families;
  TimedNames timed;
  std::set<std::string> devices;  // and request engines
};

StepGraph mixed_iteration(const ServingConfig& config, const System& system) {
  const AttentionContext replica = context_of(config.scenario, system);
  IterationWork work{.decodes = 2, .context = 100, .logits = 2, .encoder_context = 10};
  if (!config.scenario.model.encoder) work.chunks = {{50, 50}};
  if (config.scenario.speculation) {
    work.drafts = config.scenario.speculation->most_tokens();
    work.logits *= 1 + work.drafts;
  }
  return build_drafted_iteration(replica, *config.scenario.method.method, work,
                                 system.tier_names());
}

// Which numbers of one pool the times depend on.
class PoolNumbers {
 public:
  explicit PoolNumbers(const UsedPool& used)
      : config_(used.pool.config), prefix_(used.pool.prefix()) {
    for (const Op& op : mixed_iteration(config_, used.one).ops) {
      if (op.kind != OpKind::compute) continue;
      UsedHardware& of = of_role_[static_cast<std::size_t>(op.role)];
      of.families.emplace(name(used.one.family_of(op)));
      if (const auto kernel = used.one.plan(op).timed_kernel; !kernel.empty())
        of.timed.insert(kernel);
    }
    UsedHardware& main = of_role_[0];
    if (config_.scenario.model.encoder)
      main.families.emplace(name(KernelFamily::prefill_attention));
    for (std::size_t c = 0; c < used.taken.size(); ++c) {
      if (used.taken[c] == Bytes{}) continue;
      std::string_view device = used.one.channels()[c].name;
      device = device.substr(0, device.rfind('.'));
      const bool of_ffn = device.starts_with(kFfnPrefix);
      if (of_ffn) device.remove_prefix(kFfnPrefix.size());
      of_role_[of_ffn ? 1 : 0].devices.emplace(device);
    }
  }

  const std::string& prefix() const { return prefix_; }

  /// `path` without the prefix.
  bool in_times(std::string_view path) const {
    if (only_in_costs(path, config_.scenario)) return false;
    const bool of_ffn = config_.scenario.ffn && path.starts_with(kFfnPrefix);
    if (of_ffn) path.remove_prefix(kFfnPrefix.size());
    return is_used(path, of_role_[of_ffn ? 1 : 0]);
  }

 private:
  static bool is_used(std::string_view path, const UsedHardware& of) {
    constexpr std::string_view kKernels = "system.gpu.kernels.";
    if (path.starts_with(kKernels)) {
      const std::string_view rest = path.substr(kKernels.size());
      return of.families.contains(std::string(rest.substr(0, rest.find('.'))));
    }
    if (path.starts_with(kTimed)) {
      const std::string_view rest = path.substr(kTimed.size());
      return std::ranges::any_of(of.timed, [&](std::string_view kernel) {
        return rest.starts_with(std::string(kernel) + '.');
      });
    }
    for (const std::string_view group : {"system.links.", "system.tiers."}) {
      if (!path.starts_with(group)) continue;
      return std::ranges::any_of(of.devices, [&](const std::string& device) {
        return path.starts_with(std::string(group) + device + '.');
      });
    }
    for (const std::string_view engine : kRequesterNames)
      if (path.starts_with("system." + std::string(engine) + '.'))
        return of.devices.contains(std::string(engine));
    return true;
  }

  const ServingConfig& config_;
  std::string prefix_;
  std::array<UsedHardware, kGpuRoles> of_role_ = {};
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
    if (!counts && path.find(kTimed) != std::string::npos) continue;
    out.numbers.push_back(
        {number.path, number.value, number.number_class, number.source, counts, number.ci95});
    if (counts) weakest_class = weakest(weakest_class, number.number_class);
  }
  return weakest_class;
}

}  // namespace tiersim
