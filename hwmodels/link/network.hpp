#pragma once
// Model card: network (a remote direct memory access adapter to other nodes; fidelity: flow)
//   Models    one adapter as two directional capacities. Each contiguous run is one message, cut
//             into packets; the adapter starts a bounded number of messages a second.
//   Equation  capacity = raw per direction; wire bytes of a message = max(bytes + message_header +
//             packet_header for each packet, raw / message_rate); a read sends a request message
//             without data the other way.
//             Latency: a read takes the round trip, a posted write half of it, one way. Data
//             that a peer writes into this node is charged as a write, towards the GPU.
//   Ignores   congestion and switches of the network (give them as hops), acknowledgements, the
//             host's time to post work and to poll for completion, the memory buses beside the
//             adapter.
//   Disagrees with its packets: hwmodels/LEVELS.md, group network.
//   Valid     queue pairs that are set up; a path that is not oversubscribed.
//   Source    InfiniBand architecture specification, volume 1 (headers); data sheets for the rates.
//   Checked   tests/unit/hwmodels/nvlink_network_test.cpp
#include <optional>
#include <string_view>
#include <vector>

#include "hwmodels/packet/network/network_packet_config.hpp"
#include "sim/base/number_class.hpp"
#include "sim/model/device_spec.hpp"

namespace tiersim {

struct NetworkConfig {
  Sourced<Bandwidth> raw;
  Sourced<Bytes> packet;
  Sourced<Bytes> packet_header;
  Sourced<Bytes> message_header;
  Sourced<std::int64_t> message_rate;
  Sourced<Duration> latency;
  std::optional<NetworkPacketConfig> packet_level;  ///< further parameters of the packet level
};

void describe(Fields& f, NetworkConfig& c);
std::unique_ptr<Link> make_device(const NetworkConfig& config);
void register_network(Registry<DeviceKind<Link>>& registry);

}  // namespace tiersim
