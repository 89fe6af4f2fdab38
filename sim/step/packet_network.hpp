#pragma once
// Networks between GPUs at packet level. Collectives need more than one device's numbers: the port,
// the switch behind it, and the constants of the library; a fabric is at packet level when the
// links on its path are.
#include <string>
#include <vector>

#include "hwmodels/packet/collective/collective_probe.hpp"
#include "sim/step/system_config.hpp"

namespace tiersim {

/// What a fabric at packet level consists of.
struct PacketNetwork {
  std::string port;  ///< link of the path that comes first: fabrics of one port share its packets
  CollectiveProbeConfig config;
};

/// None where no link of the fabric's path is at packet level. Precondition: check_packets() found
/// nothing.
std::optional<PacketNetwork> packet_network(const SystemConfig& system, const FabricConfig& fabric);

/// Keys of the devices at packet level, as in "tiers.hbm.memory".
std::vector<std::string> at_packet_level(const SystemConfig& system);

/// Says where `level: packet` stands and cannot be: on a device without packet numbers, on one that
/// has no packet level where it is used, and on a part of a network only.
void check_packets(Fields& f, const SystemConfig& c);

}  // namespace tiersim
