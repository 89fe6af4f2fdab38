#pragma once
// Model card: pcie (fidelity: flow)
//   Models    one PCI Express link as two directional capacities in wire bytes. A read sends
//             requests one way and completions the other; a write sends posted packets one way.
//   Equation  capacity = raw * link_efficiency;
//             read: request_header for each max_read_request, completion_header + data for each
//             completion of at most max_payload (or max_completion where it is given);
//             write: request_header + data for each max_payload.
//             Gen1 to Gen5: headers of 24 B (MRd, MWr) and 20 B (CplD) with framing and LCRC;
//             link_efficiency covers ACK, flow control and SKIP. Gen6 sends flits of 256 B of
//             which 236 B are transaction packets: link_efficiency = 236/256 of the line rate
//             covers all of that, and headers have neither framing nor LCRC (16 B and 12 B).
//             Latency: a read takes the round trip, a posted write half of it, one way.
//             With `both_directions`, the wire bytes of both directions together have that
//             capacity as well.
//   Ignores   which direction loses where both share a capacity (on an A100 reads fall to 12 GB/s
//             beside writes of 24 GB/s; here each gets half); credits and tags (a Requester limits
//             what is in flight), ordering, errors and replays; link packets that depend on the
//             size of others (link_efficiency is that of MPS 256: 2 % too much at MPS 128, 1 % too
//             little at 512).
//   Disagrees with its packets (Gen4 to Gen6, no credits that bind): reads and writes of 8 B to 4
//             KB by less than 0.2 %, transfers of 1 to 64 packets by less than 0.4 %, mixes of runs
//             up to 256 B by less than 0.4 % (8 B on Gen6: +5 %).
//   Valid     requests aligned to their size.
//   Source    PCI Express base specification; header sizes as in pcie-bench (SIGCOMM 2018).
//   Checked   tests/unit/hwmodels/pcie_test.cpp against that model's figures, 1 %;
//             flow_against_packets_test.cpp
#include <optional>

#include "hwmodels/packet/pcie/pcie_packet_config.hpp"
#include "sim/base/number_class.hpp"
#include "sim/model/device_spec.hpp"

namespace tiersim {

struct PcieConfig {
  Sourced<Bandwidth> raw;
  Sourced<double> link_efficiency;
  Sourced<Bytes> max_payload;
  Sourced<Bytes> max_read_request;
  std::optional<Sourced<Bytes>> max_completion;
  Sourced<Bytes> request_header{Bytes::from_base(24), NumberClass::specification,
                                "MRd and MWr with 64-bit address, framing and LCRC"};
  Sourced<Bytes> completion_header{Bytes::from_base(20), NumberClass::specification,
                                   "CplD with framing and LCRC"};
  Sourced<Duration> latency;
  std::optional<Sourced<Bandwidth>> both_directions;  ///< wire rate of both together
  std::optional<PciePacketDetails> packet_level;      ///< further parameters of the packet level
};

void describe(Fields& f, PcieConfig& c);
std::unique_ptr<Link> make_device(const PcieConfig& config);
/// Packet model of one device and its root complex, without a configured switch; empty without
/// `packet_level`.
std::optional<PacketModel> make_packets(const PcieConfig& config);
void register_pcie(Registry<DeviceKind<Link>>& registry);

}  // namespace tiersim
