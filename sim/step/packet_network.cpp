#include "sim/step/packet_network.hpp"

#include <algorithm>

#include "hwmodels/link/hop.hpp"
#include "hwmodels/link/network.hpp"
#include "hwmodels/memory/dram.hpp"
#include "hwmodels/packet/network/network_packet.hpp"
#include "sim/base/text.hpp"

namespace tiersim {
namespace {

const DeviceConfig<Link>* link_named(const SystemConfig& c, const std::string& name) {
  const auto found = c.links.find(name);
  return found == c.links.end() || !found->second.spec ? nullptr : &found->second;
}

bool in_a_tier(const SystemConfig& c, const std::string& link) {
  return std::ranges::any_of(
      c.tiers, [&](const auto& tier) { return std::ranges::count(tier.second.path, link) != 0; });
}

// Checks that a device with `level: packet` has the numbers for it.
template <class Interface>
bool check_numbers(Fields& f, const DeviceConfig<Interface>& device, const std::string& key) {
  if (device.level != Level::packet || !device.spec) return false;
  const PacketNumbers numbers = device.spec->packet_numbers();
  f.check(numbers != PacketNumbers::none, key + ".level",
          "a device of kind '" + device.kind + "' has no packet level", "flow or analytic");
  f.check(numbers != PacketNumbers::absent, key + ".level",
          "needs the device's 'packet_level' mapping, which is not there",
          "a device file that has one, or level: flow");
  return numbers == PacketNumbers::present;
}

// Checks the ports, the switch behind them, if any, and the library's constants.
void check_network(Fields& f, const SystemConfig& c, const std::string& purpose,
                   const FabricConfig& fabric) {
  const std::string key = "fabrics." + purpose;
  const auto at_packet_level = [&](const std::string& name) {
    const DeviceConfig<Link>* link = link_named(c, name);
    return link != nullptr && link->level == Level::packet;
  };
  if (std::ranges::none_of(fabric.path, at_packet_level)) return;
  f.check(std::ranges::all_of(fabric.path, at_packet_level), key + ".path",
          "is at packet level in part: " + join(fabric.path),
          "all links of a network are at one level");
  const DeviceConfig<Link>* port = link_named(c, fabric.path.front());
  const DeviceConfig<Link>* hop = link_named(c, fabric.path.back());
  const auto* adapter = port == nullptr ? nullptr : config_of<NetworkConfig>(*port->spec);
  const bool known =
      port != nullptr && (adapter != nullptr || config_of<NvlinkConfig>(*port->spec) != nullptr) &&
      fabric.path.size() <= (adapter != nullptr ? 1 : 2) &&
      (fabric.path.size() == 1 || (hop != nullptr && config_of<HopConfig>(*hop->spec) != nullptr));
  const auto report = [&](const std::vector<PacketObstacle>& obstacles) {
    for (const PacketObstacle& obstacle : obstacles)
      f.check(false, "links." + fabric.path.front() + '.' + std::string(obstacle.path),
              std::string(obstacle.message), std::string(obstacle.hint));
  };
  const auto* nvlink = port == nullptr ? nullptr : config_of<NvlinkConfig>(*port->spec);
  if (nvlink != nullptr && nvlink->packet_level) report(packet_obstacles(*nvlink));
  if (adapter != nullptr && adapter->packet_level) report(packet_obstacles(*adapter));
  f.check(known, key + ".path", "is no network that has a packet level: " + join(fabric.path),
          "an nvlink port and a hop for its switch, or a network adapter, whose switch is a part "
          "of it, or level: flow");
  f.check(
      c.sharers(fabric.path.front()) == 1, "shared",
      "GPUs share '" + fabric.path.front() + "', and at packet level each has a port of its own",
      "level: flow, or a port for each GPU");
  if (!fabric.collective.spec) return;
  if (config_of<DirectConfig>(*fabric.collective.spec) != nullptr) return;  // sends all at once
  const auto* nccl = config_of<NcclConfig>(*fabric.collective.spec);
  f.check(adapter == nullptr || nccl == nullptr ||
              !nccl->of[static_cast<std::size_t>(NcclAlgorithm::nvls)],
          key + ".collective", "has sums of an NVSwitch (nvls), and the path is a network",
          "a device file of a network, such as collective_nccl_network.yaml");
  const PacketNumbers numbers = fabric.collective.spec->packet_numbers();
  f.check(numbers != PacketNumbers::none, key + ".collective",
          "kind '" + fabric.collective.kind + "' has no packet level", "nccl or direct");
  f.check(numbers != PacketNumbers::absent, key + ".collective",
          "needs a 'packet_level' mapping, since links of its path are at packet level",
          "a device file that has one, or level: flow");
}

}  // namespace

std::vector<std::string> at_packet_level(const SystemConfig& c) {
  std::vector<std::string> names;
  for (const auto& [name, tier] : c.tiers)
    if (tier.memory.level == Level::packet) names.push_back("tiers." + name + ".memory");
  for (const auto& [name, link] : c.links)
    if (link.level == Level::packet) names.push_back("links." + name);
  return names;
}

std::optional<PacketNetwork> packet_network(const SystemConfig& system,
                                            const FabricConfig& fabric) {
  const DeviceConfig<Link>& port = system.links.at(fabric.path.front());
  if (port.level != Level::packet) return std::nullopt;
  PacketNetwork network{.port = fabric.path.front(), .config = {}};
  NvlinkNode& node = network.config.node;
  const auto* adapter = config_of<NetworkConfig>(*port.spec);
  if (adapter != nullptr) {
    node = node_of(*adapter);
  } else {
    node.port = *config_of<NvlinkConfig>(*port.spec);
    node.packet = *node.port.packet_level;
  }
  if (fabric.path.size() > 1) {
    const auto& hop = *config_of<HopConfig>(*system.links.at(fabric.path.back()).spec);
    node.switch_latency.value += hop.latency.value * hop.crossings.value;
    node.switch_latency.number_class = hop.latency.number_class;
    node.switch_latency.source = hop.latency.source;
    node.packet_switch = *hop.packet_level;
  }
  if (const auto* nccl = config_of<NcclConfig>(*fabric.collective.spec)) {
    network.config.nccl = *nccl;
    network.config.packet = *nccl->packet_level;
  } else {
    network.config.direct = *config_of<DirectConfig>(*fabric.collective.spec);
  }
  return network;
}

void check_packets(Fields& f, const SystemConfig& c) {
  constexpr const char* kNone = "flow or analytic";
  for (const auto& [engine, key] : {std::pair{&c.sm, "sm"}, {&c.copy_engine, "copy_engine"}})
    f.check(engine->level != Level::packet, std::string(key) + ".level",
            "a request engine has no packet level", kNone);
  f.check(!c.cpu || c.cpu->level != Level::packet, "cpu.level", "a CPU has no packet level", kNone);
  for (const auto& [name, tier] : c.tiers) {
    const std::string key = "tiers." + name + ".memory";
    if (!check_numbers(f, tier.memory, key)) continue;
    const auto* dram = config_of<DramConfig>(*tier.memory.spec);
    f.check(dram == nullptr || dram->packet_level->atom.value == dram->atom.value,
            key + ".packet_level.atom", "is not the atom of the memory",
            "the same number at either level");
  }
  for (const auto& [name, link] : c.links) {
    const std::string key = "links." + name;
    if (check_numbers(f, link, key) && in_a_tier(c, name))
      f.check(link.spec->packet_model(1).has_value(), key + ".level",
              "a device of kind '" + link.kind + "' is at packet level between GPUs only, " +
                  "and a tier lies behind it",
              kNone);
  }
  for (const auto& [purpose, fabric] : c.fabrics)
    if (!fabric.path.empty()) check_network(f, c, purpose, fabric);
}

}  // namespace tiersim
