#include "sim/step/number_uses.hpp"

#include <algorithm>
#include <array>
#include <vector>

#include "hwmodels/collective/routed.hpp"
#include "sim/step/costs.hpp"

namespace tiersim {
namespace {

constexpr std::string_view kPackets = ".packet_level";

// The kernel families, requesters, collectives and timed kernels that a step uses. One pass over
// the distinct operations of the step finds them.
struct StepUses {
  std::array<bool, kKernelFamilyNames.size()> families{};
  std::array<bool, kRequesterNames.size()> requesters{};
  std::array<bool, kFabricNames.size()> collectives{};
  TimedNames kernels;

  StepUses(const Simulation& sim, GpuRole role) {
    std::vector<bool> seen(sim.plans.distinct().size());
    for (std::size_t i = 0; i < sim.graph.ops.size(); ++i) {
      if (seen[sim.plans.which(i)]) continue;  // has the same work
      seen[sim.plans.which(i)] = true;
      const Op& op = sim.graph.ops[i];
      // Both ends of a send between the roles use their part of the network.
      if (op.kind == OpKind::collective && op.collective.fabric == Fabric::ffn)
        collectives[static_cast<std::size_t>(Fabric::ffn)] = true;
      if (op.role != role) continue;
      if (op.kind == OpKind::compute)
        families[static_cast<std::size_t>(sim.system->family_of(op))] = true;
      if (op.kind == OpKind::collective)
        collectives[static_cast<std::size_t>(op.collective.fabric)] = true;
      bool& asks = requesters[static_cast<std::size_t>(op.requester)];
      asks = asks || std::ranges::any_of(op.accesses, [&](const Access& access) {
               return sim.system->is_remote(access.tier) && access.payload > Bytes{};
             });
    }
    for (const OpPlan& plan : sim.plans.distinct())
      if (plan.role == role && !plan.timed_kernel.empty()) kernels.insert(plan.timed_kernel);
  }
};

// Calls visit(kind, name, rest, used) for everything whose numbers stand below `kind` + name + rest
// of a system, from what its GPUs use.
template <class Visit>
void visit_uses_of(const SystemConfig& config, const Simulation& sim, GpuRole role, Visit visit) {
  const StepUses uses(sim, role);
  visit("", "gpu", "", true);
  for (std::size_t f = 0; f < uses.families.size(); ++f)
    visit("gpu.kernels.", kKernelFamilyNames[f], "", uses.families[f]);
  visit("gpu.", "timed_kernels", "", false);
  for (const std::string_view kernel : uses.kernels) visit("gpu.timed_kernels.", kernel, "", true);
  for (std::size_t r = 0; r < uses.requesters.size(); ++r)
    visit("", kRequesterNames[r], "", uses.requesters[r]);
  const System& system = sim.system->of_role(role);
  const std::size_t first = role == GpuRole::ffn ? sim.system->own_devices() : 0;
  for (std::size_t d = 0; d < system.own_devices(); ++d) {
    const std::string& name = system.device_names()[d];
    const auto& [read, write] = sim.accounting.traffic[first + d];
    const bool used = total(read.payload) + total(write.payload) > Bytes{};
    const auto tier = config.tiers.find(name);
    const bool is_tier = tier != config.tiers.end();
    const Level level = is_tier ? tier->second.memory.level : config.links.at(name).level;
    visit(is_tier ? "tiers." : "links.", name, "", used);
    visit(is_tier ? "tiers." : "links.", name, is_tier ? ".memory.packet_level" : kPackets,
          used && level == Level::packet);
  }
  bool routed = false;
  for (std::size_t f = 0; f < kFabricNames.size(); ++f) {
    const FabricConfig* fabric = config.fabric(static_cast<Fabric>(f));
    if (uses.collectives[f] && fabric != nullptr)
      routed = routed || fabric->collective.kind == kRoutedKind;
    bool used = false;  // also by a purpose that has the network of another
    for (std::size_t g = 0; g < kFabricNames.size(); ++g)
      used = used || (uses.collectives[g] && config.fabric(static_cast<Fabric>(g)) == fabric);
    visit("fabrics.", kFabricNames[f], "", used);
    visit("fabrics.", kFabricNames[f], ".collective.packet_level",
          used && system.packet_network(static_cast<Fabric>(f)) != nullptr);
  }
  visit("", "topology", "", routed);
}

// The same of all GPUs, always in the same order: visit(whose, kind, name, rest, used).
template <class Visit>
void visit_uses(const ScenarioConfig& config, const Simulation& sim, Visit visit) {
  for (const GpuRole role : roles_of(config)) {
    const auto [system, prefix] = config_of(config, role);
    const std::string whose = std::string(prefix) + "system.";
    visit_uses_of(system, sim, role,
                  [&](std::string_view kind, std::string_view name, std::string_view rest,
                      bool used) { visit(whose, kind, name, rest, used); });
  }
}

}  // namespace

NumbersInTimes::NumbersInTimes(const ScenarioConfig& config, const Simulation& sim)
    : config_(config) {
  visit_uses(config, sim,
             [this](std::string_view whose, std::string_view kind, std::string_view name,
                    std::string_view rest, bool used) {
               std::string prefix(whose);
               prefix += kind;
               prefix += name;
               prefix += rest;
               devices_.push_back({prefix + '.', used});
             });
}

bool NumbersInTimes::contains(std::string_view path) const {
  if (only_in_costs(path, config_)) return false;
  // Names may contain dots: the device is the one with the longest matching name.
  const Device* device = nullptr;
  for (const Device& d : devices_)
    if (path.starts_with(d.prefix) &&
        (device == nullptr || d.prefix.size() > device->prefix.size()))
      device = &d;
  if (device == nullptr) return true;
  return device->used;
}

NumberClass TimeClasses::weakest_of(const ScenarioConfig& config, const Simulation& sim) {
  std::string uses;
  visit_uses(config, sim,
             [&](std::string_view /*whose*/, std::string_view kind, std::string_view name,
                 std::string_view /*rest*/, bool used) {
               uses += used ? '1' : '0';
               if (kind == "gpu.timed_kernels.") uses.append(name) += '\n';
             });
  const auto known = known_.find(uses);
  if (known != known_.end()) return known->second;
  if (numbers_.empty()) numbers_ = list_number_classes(config);
  const NumbersInTimes in_times(config, sim);
  NumberClass out = NumberClass::measured;
  for (const ClassedNumber& number : numbers_)
    if (in_times.contains(number.path)) out = weakest(out, number.number_class);
  return known_.emplace(std::move(uses), out).first->second;
}

}  // namespace tiersim
