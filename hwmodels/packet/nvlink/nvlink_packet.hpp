#pragma once
// Model card: nvlink_packet
//   Models    the packet-level parameters of an NVLink port and its switch, beside the flow-level
//             fields (hwmodels/link/nvlink.hpp, hop.hpp).
//   Equation  one way = nvlink.latency / 2 + switch latency / 2, as at flow level. Of the port's
//             half, 2 flights are wires, and both ends share the rest. A link has the rate
//             raw * efficiency / links.
//   Ignores   see fabric.hpp.
//   Valid     an NVLink domain of one layer of switches; two GPUs and no switch with latency 0.
//   Source    NVLink's packets, buffers and acknowledgements are not published: assumed, each with
//             its reason, in the YAML.
//   Checked   tests/unit/packet/nvlink_fabric_test.cpp
#include "hwmodels/link/nvlink.hpp"
#include "hwmodels/packet/nvlink/fabric.hpp"
#include "hwmodels/packet/nvlink/nvlink_packet_config.hpp"

namespace tiersim {

/// Ports and the switch between them.
struct NvlinkNode {
  NvlinkConfig port;
  NvlinkPacketConfig packet;
  Sourced<Duration> switch_latency;  ///< round trip, as in the hop device; 0: no switch
  NvswitchPacketConfig packet_switch;
  Duration memory{};       ///< time that a read waits at the GPU that it reads from
  Bytes message_header{};  ///< as FabricShape has them: of network adapters, see network_packet.hpp
  Duration message_gap{};
};

/// True where the wires leave at least 1 ns of the port's latency to each of its ends.
bool leaves_endpoints(const NvlinkConfig& port, const NvlinkPacketConfig& packet);

/// Parameters of a fabric of `gpus` GPUs. Precondition: leaves_endpoints().
FabricShape shape_of(const NvlinkNode& node, std::int64_t gpus);

}  // namespace tiersim
