#include "sim/step/packet_hardware.hpp"

#include <algorithm>

namespace tiersim {

PacketHardware::PacketHardware(Engine& engine, const System& system, const StepGraph& graph,
                               const OpPlans& plans, std::size_t gpus)
    : engine_(engine), system_(system) {
  for (std::size_t d = 0; d < system.device_names().size(); ++d) {
    const DeviceId id(d);
    Site& site = sites_.emplace_back();
    const PacketModel* model = system.packet_model(id);
    if (model == nullptr) continue;
    site.sharers = static_cast<std::size_t>(system.sharers(id));
    const std::size_t instances = std::max<std::size_t>(1, gpus / site.sharers);
    for (std::size_t i = 0; i < instances; ++i)
      site.instances.push_back(model->make(engine, site.sharers));
  }
  build_networks(graph, plans, gpus);
}

// Ports for the widest group. Groups without a common GPU are separate fabrics, since a switch
// keeps them apart.
void PacketHardware::build_networks(const StepGraph& graph, const OpPlans& plans,
                                    std::size_t gpus) {
  std::vector<Fabric> purposes;
  for (std::size_t op = 0; op < plans.size(); ++op) {
    if (!plans[op].packet_collective) continue;
    const CollectiveWork& work = graph.ops[op].collective;
    Network& network = networks_[system_.packet_network(work.fabric)->port];
    network.ports = std::max(network.ports, static_cast<std::size_t>(work.ranks));
    if (std::ranges::find(purposes, work.fabric) == purposes.end()) purposes.push_back(work.fabric);
  }
  for (const Fabric purpose : purposes) {
    Network& network = network_of(purpose);
    const CollectiveProbeConfig& config = system_.packet_network(purpose)->config;
    network.domains.resize((gpus + network.ports - 1) / network.ports);
    for (Domain& domain : network.domains) {
      if (!domain.fabric)
        domain.fabric = std::make_unique<PacketFabric>(
            engine_, shape_of(config.node, static_cast<std::int64_t>(network.ports)));
      domain.collectives[purpose] = std::make_unique<PacketCollectives>(
          engine_, config, system_.collective(purpose), *domain.fabric);
    }
  }
}

PacketHardware::Network& PacketHardware::network_of(Fabric purpose) {
  return networks_.at(system_.packet_network(purpose)->port);
}

// Least duration of the operation on everything but this device.
Duration PacketHardware::elsewhere(const OpPlan& plan, DeviceId device) const {
  Duration longest = plan.min_duration;
  for (const auto& [id, busy] : plan.charges) {
    const SystemChannel& channel = system_.channels()[id.index()];
    if (channel.device != device) longest = std::max(longest, busy / channel.capacity);
  }
  return longest;
}

std::size_t PacketHardware::start(const OpPlan& plan, std::size_t gpu, EventHandler& done,
                                  std::uint64_t tag) {
  std::size_t started = 0;
  for (std::size_t first = 0; first < plan.packets.size(); ++first) {
    const DeviceId device = plan.packets[first].device;
    const auto same = [&](const PacketDemand& d) { return d.device == device; };
    const auto begin = plan.packets.begin();
    if (std::any_of(begin, begin + static_cast<std::ptrdiff_t>(first), same)) continue;
    Site& site = sites_[device.index()];
    PacketWork work{.accesses = {},
                    .spread = elsewhere(plan, device),
                    .beyond = {},
                    .from = gpu % site.sharers};
    for (const PacketDemand& demand : plan.packets) {
      if (!same(demand)) continue;
      work.accesses.push_back(demand.access);
      work.beyond = std::max(work.beyond, demand.beyond);
    }
    site.instances[gpu / site.sharers]->start(work, done, tag);
    ++started;
  }
  return started;
}

void PacketHardware::start_collective(const Op& op, std::size_t gpu, EventHandler& done,
                                      std::uint64_t tag) {
  const Network& network = network_of(op.collective.fabric);
  const auto ranks = static_cast<std::size_t>(op.collective.ranks);
  const std::size_t first_port = gpu % network.ports / ranks * ranks;
  network.domains[gpu / network.ports]
      .collectives.at(op.collective.fabric)
      ->start(op.collective, first_port, done, tag);
}

}  // namespace tiersim
