// The networks between GPUs and the plans of the operations over them.
#include <algorithm>

#include "sim/step/payload_only.hpp"
#include "sim/step/system.hpp"

namespace tiersim {
namespace {

// OpPlan::active_share of work without bytes and arithmetic, at the clock that the limit allows.
double waiting_share(const PowerCap& cap) {
  const Duration any(kPicosecondsPerSecond);
  return cap.active_share(cap.limited({.memory = any, .body = any}).clock);
}

}  // namespace

void System::build_fabrics(const SystemConfig& config, const std::map<std::string, Placed>& links) {
  if (config.topology) topology_ = std::make_unique<Topology>(*config.topology);
  for (std::size_t purpose = 0; purpose < fabrics_.size(); ++purpose) {
    const FabricConfig* fabric = config.fabric(static_cast<Fabric>(purpose));
    if (fabric == nullptr) continue;
    FabricPath& built = fabrics_[purpose].emplace();
    built.collective = fabric->collective.spec->build();
    built.packets = tiersim::packet_network(config, *fabric);
    built.launch = fabric->launch ? fabric->launch->value : Duration{};
    if (fabric->requester) built.requester = fabric->requester->spec->build();
    built.port.topology = topology_.get();
    const auto add = [&](const std::string& name) {
      built.links.push_back(links.at(name));
      built.devices.push_back(link_by_name_.at(name));
    };
    std::ranges::for_each(fabric->path, add);
    built.near_links = built.links.size();
    std::ranges::for_each(fabric->beyond, add);
    for (std::size_t i = 0; i < built.near_links; ++i) {
      const Device& device = *built.links[i].device;
      for (const Channel& channel : device.channels())
        if (built.port.bandwidth == Bandwidth{} || channel.capacity < built.port.bandwidth)
          built.port.bandwidth = channel.capacity;
      const Bytes one = Bytes::from_base(1);
      built.port.latency += device.cost(Direction::write, one, one).latency;
    }
  }
}

// The port carries the rank's data to its peers and, in the other direction, the data from them.
OpPlan System::plan_collective(const Op& op) const {
  OpPlan plan;
  for (const Access& access : op.accesses) add_access(access, op.requester, plan);
  const auto& fabric = fabrics_[static_cast<std::size_t>(op.collective.fabric)];
  const CollectiveCost cost = collective_cost(op.collective);
  const TensorClass carried =
      op.accesses.empty() ? TensorClass::activations : op.accesses.front().tensor_class;
  for (std::size_t i = 0; i < fabric->links.size(); ++i) {
    const Placed& link = fabric->links[i];
    const auto add = [&](Direction direction, Bytes payload, const AccessCost& part) {
      charge(fabric->packets ? payload_only(part) : part, link.first_channel, plan);
      plan.traffic.push_back({link.id, direction, carried, payload, part.moved});
      plan.payload += payload;
    };
    const bool near = i < fabric->near_links;
    const Bytes out = near ? cost.out : cost.far_out;
    const Bytes in = near ? cost.in : cost.far_in;
    if (out > Bytes{})
      add(Direction::write, out,
          fabric->devices[i]->cost(Direction::write, out, std::min(cost.run, out)));
    // A hand-over has no data in return, and what FFN GPUs return is a send of theirs.
    const bool one_way =
        op.collective.fabric == Fabric::transfer || op.collective.fabric == Fabric::ffn;
    if (in > Bytes{} && !one_way)
      add(Direction::read, in, fabric->devices[i]->incoming(in, std::min(cost.run, in)));
  }
  plan.setup_reason = "collective";
  plan.min_reason = "collective";
  plan.active_share = power_cap_ ? waiting_share(*power_cap_) : 1;
  // The packets of a send, too, are simulated for all ranks together.
  plan.packet_collective = fabric->packets && cost.out > Bytes{};
  if (plan.packet_collective || op.collective.kind != CollectiveKind::send)
    plan.ranks = op.collective.ranks;
  if (plan.packet_collective) return plan;
  plan.setup = std::max(plan.setup, cost.latency);
  if (op.collective.kind != CollectiveKind::send)
    plan.setup -= std::min(dependent_launch_, plan.setup);
  plan.min_duration = std::max({plan.min_duration, cost.min_duration, fabric->launch - plan.setup});
  if (fabric->requester) issue_copies(op, *fabric->requester, plan);
  return plan;
}

void System::issue_copies(const Op& op, const Requester& requester, OpPlan& plan) const {
  Duration all{};
  for (const Access& access : op.accesses) {
    const MemoryTier* source = tiers_[access.tier.index()].memory.get();
    const AccessCost cost =
        requester.cost(Direction::write, access.payload, access.run, {.memory = source});
    Duration body = cost.min_duration;
    for (const Charge& charge : cost.charges)
      body = std::max(body, charge.busy / requester.channels()[charge.channel].capacity);
    all += body;
    plan.issue += cost.latency;
    plan.setup += cost.latency;
  }
  plan.min_duration = std::max(plan.min_duration, all);
}

CollectiveCost System::collective_cost(const CollectiveWork& work) const {
  const auto& fabric = fabrics_[static_cast<std::size_t>(work.fabric)];
  TS_EXPECTS(fabric.has_value(), name(work.fabric));
  return fabric->collective->cost(work, fabric->port);
}

OpPlan System::plan_receipt(const Op& op) const {
  OpPlan plan;
  const auto& fabric = fabrics_[static_cast<std::size_t>(op.collective.fabric)];
  TS_EXPECTS(fabric.has_value() && op.collective.kind == CollectiveKind::send);
  for (Access access : op.accesses) {
    access.direction = Direction::write;
    add_access(access, op.requester, plan);
  }
  const CollectiveCost cost = fabric->collective->cost(op.collective, fabric->port);
  for (std::size_t i = 0; i < fabric->links.size(); ++i) {
    const Bytes in = i < fabric->near_links ? cost.out : cost.far_out;
    if (in == Bytes{}) continue;
    const AccessCost part = fabric->devices[i]->incoming(in, std::min(cost.run, in));
    charge(part, fabric->links[i].first_channel, plan);
    // The bytes of a hand-over count at its sender alone.
    if (op.collective.fabric == Fabric::ffn)
      plan.traffic.push_back(
          {fabric->links[i].id, Direction::read, TensorClass::activations, in, part.moved});
  }
  return plan;
}

}  // namespace tiersim
