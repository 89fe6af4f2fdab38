// The kernel families of a step: their times and the provenance of these times.
#include <array>
#include <set>
#include <string>

#include <fmt/format.h>

#include "sim/step/recorder.hpp"

namespace tiersim {
namespace {

constexpr std::string_view kSpecification = "specification";

bool is_kernel_of(const Op& op, KernelFamily family, GpuRole role, const System& system) {
  return op.kind == OpKind::compute && op.role == role && system.family_of(op) == family;
}

// "; 40 % of it beyond what was timed".
std::string beyond_text(Duration beyond, Duration all) {
  if (beyond == Duration{}) return "";
  return fmt::format("; {:.0f} % of it beyond what was timed",
                     100 * to_seconds(beyond) / to_seconds(all));
}

}  // namespace

void Recorder::kernels() {
  const Duration attends = kernels(GpuRole::main);
  if (!config_.ffn) return;
  const Duration computes = kernels(GpuRole::ffn);
  const double all = to_seconds(sim_.execution.time);
  metric("attention_gpu_busy", to_seconds(attends) / all, time_class_);
  metric("ffn_gpu_busy", to_seconds(computes) / all, time_class_);
}

// Returns the time of all kernels of the role.
Duration Recorder::kernels(GpuRole role) {
  const std::string_view whose = config_of(config_, role).prefix;
  const auto timings = sim_.execution.of_gpu(0);
  std::array<Duration, kKernelFamilyNames.size()> sums{};
  std::array<Duration, kKernelFamilyNames.size()> beyond{};
  std::array<TimedNames, kKernelFamilyNames.size()> ran;
  for (std::size_t op = 0; op < timings.size(); ++op) {
    if (sim_.graph.ops[op].kind != OpKind::compute || sim_.graph.ops[op].role != role) continue;
    const auto family = static_cast<std::size_t>(sim_.system->family_of(sim_.graph.ops[op]));
    sums[family] += timings[op].end - timings[op].start;
    if (const auto kernel = sim_.plans[op].timed_kernel; !kernel.empty())
      ran[family].insert(kernel);
    if (sim_.plans[op].beyond_timed) beyond[family] += timings[op].end - timings[op].start;
  }
  Duration all{};
  for (std::size_t f = 0; f < sums.size(); ++f) {
    if (sums[f] == Duration{}) continue;
    all += sums[f];
    const auto family = static_cast<KernelFamily>(f);
    const KernelBasis basis = sim_.system->of_role(role).kernel_basis(family, ran[f]);
    record_.kernel_times.push_back({.family = std::string(whose).append(name(family)),
                                    .seconds = to_seconds(sums[f]),
                                    .number_class = class_of(family, role, basis),
                                    .basis = std::string(basis.basis),
                                    .source = basis.source + beyond_text(beyond[f], sums[f]),
                                    .beyond_timed = to_seconds(beyond[f])});
  }
  return all;
}

// A kernel's own timings replace the model of the GPU's memory.
NumberClass Recorder::class_of(KernelFamily family, GpuRole role, const KernelBasis& basis) const {
  const auto [config, prefix] = config_of(config_, role);
  const std::string whose = std::string(prefix) + "system.";
  std::set<std::string> prefixes;
  for (std::size_t i = 0; i < sim_.graph.ops.size(); ++i) {
    const Op& op = sim_.graph.ops[i];
    if (!is_kernel_of(op, family, role, *sim_.system)) continue;
    bool remote = false;
    for (const Access& access : op.accesses) remote |= sim_.system->is_remote(access.tier);
    if (remote) prefixes.insert(whose + std::string(name(op.requester)) + '.');
    for (const DeviceTraffic& part : sim_.plans[i].traffic) {
      const std::string device =
          sim_.system->device_names()[part.device.index()].substr(prefix.size());
      const auto tier = config.tiers.find(device);
      const bool is_tier = tier != config.tiers.end();
      if (is_tier && tier->second.path.empty() && basis.basis != kSpecification) continue;
      prefixes.insert(fmt::format("{}{}.{}.", whose, is_tier ? "tiers" : "links", device));
    }
  }
  NumberClass out = basis.number_class;
  for (const NumberRecord& number : record_.numbers)
    for (const std::string& above : prefixes)
      if (number.in_times && number.path.starts_with(above))
        out = weakest(out, number.number_class);
  return out;
}

}  // namespace tiersim
