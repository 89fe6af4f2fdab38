#pragma once
// Model card: network_packet
//   Models    the adapters of one switch at packet level: a port of one link each, on the packet
//             fabric that NVLink has (hwmodels/packet/nvlink/fabric.hpp), with credits.
//   Equation  one way = latency / 2: two cables, the switch's cut_through, and equal parts at both
//             ends. A message begins 1 / message_rate after the one before it of the same adapter;
//             its first packet has message_header more, and so has a request.
//   Ignores   several switches, virtual lanes, adaptive routing, congestion control, retries.
//   Valid     adapters on one leaf switch: up to its ports.
//   Source    as network.hpp and network_packet_config.hpp.
//   Checked   tests/unit/packet/network_packet_test.cpp
#include <vector>

#include "hwmodels/link/network.hpp"
#include "hwmodels/packet/nvlink/nvlink_packet.hpp"

namespace tiersim {

/// All obstacles of an adapter that has passed describe().
std::vector<PacketObstacle> packet_obstacles(const NetworkConfig& adapter);

/// The adapter as a port of a packet fabric. Precondition: no packet_obstacles().
NvlinkNode node_of(const NetworkConfig& adapter);

}  // namespace tiersim
