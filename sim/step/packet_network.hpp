#pragma once
// Networks between GPUs at packet level. A collective needs the numbers of more than one device:
// the port, the switch behind it, and the constants of the library. A fabric is at packet level if
// the links on its path are.
#include <string>
#include <vector>

#include "hwmodels/packet/collective/collective_probe.hpp"
#include "sim/step/system_config.hpp"

namespace tiersim {

/// The parts of a fabric at packet level.
struct PacketNetwork {
  std::string port;  ///< first link of the path: fabrics with one port share its packets
  CollectiveProbeConfig config;
};

/// None if no link of the fabric's path is at packet level. Requires a system without mistakes in
/// check_packets().
std::optional<PacketNetwork> packet_network(const SystemConfig& system, const FabricConfig& fabric);

/// Keys of the devices at packet level, such as "tiers.hbm.memory".
std::vector<std::string> at_packet_level(const SystemConfig& system);

/// Reports `level: packet` where it is impossible: on a device without packet numbers, on a device
/// without a packet level in its place, and on only a part of a network.
void check_packets(Fields& f, const SystemConfig& c);

}  // namespace tiersim
