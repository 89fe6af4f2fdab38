#pragma once
// Model card: nvlink (one GPU's NVLink port, or a chip-to-chip NVLink; fidelity: flow)
//   Models    all NVLinks of one GPU as two capacities, ejection (into the GPU) and injection (out
//             of it), in packets with a header. The switch between ports does not block, so
//             ports are the only capacities; the latency of a switch is a hop of its own.
//   Equation  capacity = raw * efficiency per direction; wire bytes of a run = sectors(run) +
//             header for each packet; a read also sends a header each packet the other way.
//             Latency: a read takes the round trip, a posted write half of it, one way.
//   Ignores   single links of a port, credits, the acknowledgements of writes.
//   Disagrees with its packets (18 links, 8 GPUs, credits that do not bind): accesses of 1 to 64
//             packets take 0 to 2.1 % less time, as one packet takes 12 ns on one link and here .7
//             on all; streams by less than 0.1 %; random accesses of 32 B to 4 KB take 2 to 7 %
//             less, and some tens of them at once 3 to 10 %, as some links get more than others.
//   Valid     transfers that spread over all links of the port.
//   Source    point to point on H100: 371-380 of 450 GB/s, both ways at once 741-773 of 900;
//             headers are not published (16 B on up to 256 B is assumed).
//   Checked   tests/unit/hwmodels/nvlink_network_test.cpp, flow_against_packets_test.cpp
#include <optional>
#include <string_view>
#include <vector>

#include "hwmodels/packet/nvlink/nvlink_packet_config.hpp"
#include "sim/base/number_class.hpp"
#include "sim/model/device_spec.hpp"

namespace tiersim {

struct NvlinkConfig {
  Sourced<Bandwidth> raw;
  Sourced<double> efficiency;
  Sourced<Bytes> sector;
  Sourced<Bytes> packet;
  Sourced<Bytes> header;
  Sourced<Duration> latency;
  std::optional<NvlinkPacketConfig> packet_level;  ///< further parameters of the packet level
};

/// A reason why a port cannot be at packet level, with its path in the port's mapping.
struct PacketObstacle {
  std::string_view path;
  std::string_view message;
  std::string_view hint;
};
/// All obstacles of a port that has passed describe(). The flow level takes such ports: one whose
/// latency is counted elsewhere, say.
std::vector<PacketObstacle> packet_obstacles(const NvlinkConfig& port);

void describe(Fields& f, NvlinkConfig& c);
std::unique_ptr<Link> make_device(const NvlinkConfig& config);
void register_nvlink(Registry<DeviceKind<Link>>& registry);

}  // namespace tiersim
