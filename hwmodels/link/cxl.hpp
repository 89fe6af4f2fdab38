#pragma once
// Model card: cxl (CXL.mem over 68-byte or 256-byte flits; fidelity: flow)
//   Models    `ports` equal CXL ports with addresses interleaved over them, as two directional
//             capacities. Traffic is in 64 B lines; a flit of 68 B has 4 slots of 16 B, a flit of
//             256 B has 15 beside its header, CRC and FEC.
//   Equation  capacity = ports * raw per direction, times 128/130 for 68 B flits;
//             a read line takes 4.5 slots towards the GPU and 1 from it, a written line .5 and 5.
//             So lines/s = slots/s / max(4.5 r + .5 (1 - r), r + 5 (1 - r)) at read share r.
//             With `reads_in_flight`: read lines/s <= ports * lines / time (Little's law), as a
//             third channel.
//             Latency: a read takes the round trip; a write is posted by the GPU, so it takes half.
//             With `queueing`: added latency by load and read share, loaded_latency.hpp.
//   Ignores   credits, head-of-line blocking, retries, uneven interleaving. A measured latency
//             includes the time of one line, which is added once more.
//   Disagrees with its packets (68 B flits, x8, no credits that bind): mixes of reads and writes by
//             less than 1 %; reads of 1 to 64 lines take 1 to 2.4 % more time. A write ends here
//             when it has left, and at packet level when its answer is back: half the latency.
//             As shipped, two limits bind at packet level only, unless reads_in_flight states
//             them: 128 lines of a host port over 374 ns give 22 GB/s (here 52), and 48 lines of
//             150 ns each in an expander give 20 GB/s (here 26).
//   Valid     68 B flits: CXL 1.1 and 2.0 (Gen5). 256 B flits: CXL 3.x (Gen6), standard flits.
//   Source    CXL specification, flit packing; Gen5 x8: 26.4 GB/s read, 37.5 at 2:1, 23.7 write;
//             Gen6 x8 about 54, x16 about 108 GB/s read (derived, not measured).
//   Checked   tests/unit/hwmodels/link_test.cpp, flow_against_packets_test.cpp
#include <optional>

#include "hwmodels/loaded_latency.hpp"
#include "hwmodels/packet/cxl/cxl_packet_config.hpp"
#include "sim/base/number_class.hpp"
#include "sim/model/device_spec.hpp"

namespace tiersim {

struct CxlReadsInFlight {
  Sourced<std::int64_t> lines;
  Sourced<Duration> time;
};

struct CxlConfig {
  Sourced<Bandwidth> raw;
  std::optional<Sourced<std::int64_t>> ports;  ///< absent: one for each unit of the tier
  Sourced<Bytes> flit{Bytes::from_base(68), NumberClass::specification, "CXL 1.1 and 2.0"};
  Sourced<Duration> latency;
  std::optional<CxlReadsInFlight> reads_in_flight;
  std::optional<LatencyFamily> queueing;  ///< load: payload of both directions over ports * raw
  std::optional<CxlPacketDetails> packet_level;  ///< further parameters of the packet level

  std::int64_t port_count() const { return ports ? ports->value : 1; }
};

void describe(Fields& f, CxlReadsInFlight& c);
void describe(Fields& f, CxlConfig& c);
std::unique_ptr<Link> make_device(const CxlConfig& config);
/// Packet model of `ports` ports, or of the configured switch; empty without `packet_level`.
std::optional<PacketModel> make_packets(const CxlConfig& config);
/// The link to `units` expanders: it has one port for each unless it states its number of ports.
CxlConfig side_by_side(CxlConfig config, std::int64_t units);
void register_cxl(Registry<DeviceKind<Link>>& registry);

}  // namespace tiersim
