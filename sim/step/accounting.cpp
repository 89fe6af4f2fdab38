#include "sim/step/accounting.hpp"

#include <numeric>

#include <fmt/format.h>

#include "sim/base/display.hpp"

namespace tiersim {

Bytes total(const ClassBytes& bytes) {
  return std::accumulate(bytes.begin(), bytes.end(), Bytes{});
}

std::vector<ClassBytes> footprint_of(const StepGraph& graph) {
  std::vector<ClassBytes> footprint(graph.tier_names.size());
  for (const Tensor& tensor : graph.tensors)
    footprint[tensor.tier.index()][static_cast<std::size_t>(tensor.tensor_class)] += tensor.size;
  return footprint;
}

Duration active_time(const OpPlan& plan, const System& system) {
  if (plan.active_share == 0) return {};
  const Duration time = plan.uncontended(system.channels());
  if (plan.active_share == 1) return time;
  return Duration(static_cast<std::int64_t>(static_cast<double>(time.count()) * plan.active_share));
}

Accounting account(const StepGraph& graph, const System& system, const OpPlans& plans) {
  Accounting out;
  out.footprint = footprint_of(graph);
  out.traffic.resize(system.device_names().size());
  out.busy.resize(system.channels().size());
  for (std::size_t p = 0; p < plans.distinct().size(); ++p) {
    const OpPlan& plan = plans.distinct()[p];
    const std::int64_t times = plans.counts()[p];
    for (const DeviceTraffic& part : plan.traffic) {
      DeviceSum& device = out.traffic[part.device.index()];
      TrafficSum& sum = part.direction == Direction::read ? device.read : device.write;
      const auto tensor_class = static_cast<std::size_t>(part.tensor_class);
      sum.payload[tensor_class] += part.payload * times;
      sum.moved[tensor_class] += part.moved * times;
    }
    ActiveWork& work = out.work[static_cast<std::size_t>(plan.role)];
    work.flops += plan.powered_flops * times;
    work.active += active_time(plan, system) * times;
    for (const ChannelCharge& charge : plan.charges)
      out.busy[charge.channel.index()] += charge.busy * times;
  }
  for (const Op& op : graph.ops) {
    if (op.role == GpuRole::ffn) {
      out.exchanged += op.collective.received;  // by a GPU that attends
      continue;
    }
    out.flops += op.flops;
    out.padding += op.padding;
    if (op.kind != OpKind::collective) continue;
    (op.phase == Phase::kv_transfer ? out.handed_over : out.exchanged) += op.collective.size;
  }
  return out;
}

std::vector<Overflow> overflows(const StepGraph& graph, const System& system) {
  std::vector<Overflow> out;
  const auto footprint = footprint_of(graph);
  for (std::size_t t = 0; t < footprint.size(); ++t) {
    const TierId tier(t);
    const std::int64_t sharers = system.sharers(system.device(tier));
    const Bytes needed = total(footprint[t]) * sharers;
    const Bytes capacity = system.capacity(tier);
    if (needed <= capacity) continue;
    std::string parts;
    for (std::size_t c = 0; c < footprint[t].size(); ++c)
      if (footprint[t][c] > Bytes{})
        parts += fmt::format("{}{} {}", parts.empty() ? "" : ", ", kTensorClassNames[c],
                             display(footprint[t][c] * sharers));
    const std::string by = sharers == 1 ? "" : fmt::format(" by {} GPUs", sharers);
    out.push_back({tier, needed, capacity,
                   fmt::format("tier '{}' holds {} and {} are needed{}: {}", graph.tier_names[t],
                               display(capacity), display(needed), by, parts)});
  }
  return out;
}

}  // namespace tiersim
