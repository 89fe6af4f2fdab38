#pragma once
// Model card: nvlink_packet
//   Models    what packets need to be known beside the flow level's fields of an NVLink port and of
//             its switch (hwmodels/link/nvlink.hpp, hop.hpp).
//   Equation  one way = nvlink.latency / 2 + switch latency / 2: the same as at flow level. Of the
//             port's half, 2 flights are wires, the rest is shared by both ends. A link has
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
  Sourced<Duration> switch_latency;  ///< round trip, as of the hop device; 0: no switch
  NvswitchPacketConfig packet_switch;
  Duration memory{};  ///< what a read waits for at the GPU it reads from
};

/// Whether the wires leave at least 1 ns of the port's latency to each of its ends.
bool leaves_endpoints(const NvlinkConfig& port, const NvlinkPacketConfig& packet);

/// Numbers for `gpus` of them. Precondition: leaves_endpoints().
FabricShape shape_of(const NvlinkNode& node, std::int64_t gpus);

}  // namespace tiersim
