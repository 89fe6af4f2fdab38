#pragma once
// Model card: pcie_packet (fidelity: packet; the parameters of the model in this folder)
//   Models    PCI Express between devices and a root complex, packet by packet: read requests (cut
//             at MRRS and 4 KB), completions (cut at a boundary), posted writes (cut at MPS and 4
//             KB); header and data credits of three classes; finite tags; acknowledgements, credit
//             updates and SKIP as bytes on the wire, or flits; a switch with several device ports.
//   Equation  no closed form: rates and latencies result from packets. Where neither credits nor
//             tags bind, payload / wire bytes of a packet x share of the wire without link packets;
//             with N tags of d bytes and a round trip RTT, at most N d / RTT.
//   Ignores   errors and replays, virtual channels beyond one, completion timeouts, ECRC, messages
//             and configuration, address translation, power states.
//   Valid     Gen1 to Gen5 with `framing`; Gen6 with `flits`, whose delivery is by whole flits (so
//             a switch then is store-and-forward by flit, even where it says cut_through).
//   Source    PCI Express base specification 5.0 (TLP formats, ordering 2.4, flow control 2.6,
//             acknowledgement limits 3.6) and 6.0 (flits); intervals of link packets as pcie-bench
//             (SIGCOMM 2018) counts them.
//   Checked   tests/unit/packet/pcie_*_test.cpp
#include <array>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "hwmodels/packet/default_numbers.hpp"
#include "hwmodels/packet/switch_words.hpp"
#include "sim/base/number_class.hpp"
#include "sim/config/fields.hpp"

namespace tiersim {

/// Policy of acknowledgements and credit updates, by the limit of section 3.6 in symbol times.
/// `paced`: one of each in every `limit` bytes of a direction, needed or not, as pcie-bench counts
/// them. `answering`: one of each after `limit` symbols on all lanes received, so that a direction
/// pays for the traffic of the other one.
enum class LinkPackets : std::uint8_t { paced, answering };
inline constexpr std::array<std::string_view, 2> kLinkPacketsNames{"paced", "answering"};

enum class SwitchForwarding : std::uint8_t { cut_through, store_and_forward };
inline constexpr std::array<std::string_view, 2> kSwitchForwardingNames{"cut_through",
                                                                        "store_and_forward"};
/// Wire bytes beside the data, Gen1 to Gen5.
struct PcieFraming {
  LinkPackets link_packets = LinkPackets::paced;
  Sourced<Bytes> link_packet{Bytes::from_base(8), NumberClass::specification,
                             "DLLP of 6 B with its framing"};
  Sourced<std::int64_t> lanes{16, NumberClass::assumed, "the usual slot"};
  Sourced<std::int64_t> internal_delay{115, NumberClass::specification,
                                       "symbol times, 8 GT/s and above; 70 at 5, 19 at 2.5 GT/s"};
  /// Intervals that replace those of the limit.
  std::optional<Sourced<Bytes>> ack_every;
  std::optional<Sourced<Bytes>> update_every;
  Sourced<Bytes> skip{Bytes::from_base(4), NumberClass::specification, "SKIP ordered set"};
  Sourced<Bytes> skip_every{Bytes::from_base(1538), NumberClass::specification,
                            "longest interval of SKIP ordered sets, in symbols"};
};

/// Gen6: transaction packets in flits, whose other bytes replace the framing.
struct PcieFlits {
  Sourced<Bytes> flit{Bytes::from_base(256), NumberClass::specification, "PCI Express 6.0"};
  Sourced<Bytes> packets{Bytes::from_base(236), NumberClass::specification,
                         "PCI Express 6.0: beside 6 B link packet, 8 B CRC and 6 B FEC"};
};

/// Buffer that a receiver advertises: packets and units of 16 B; an absent value is no limit.
struct PcieCredits {
  std::optional<Sourced<std::int64_t>> posted_headers;
  std::optional<Sourced<std::int64_t>> posted_data;
  std::optional<Sourced<std::int64_t>> read_headers;
  std::optional<Sourced<std::int64_t>> completion_headers;
  std::optional<Sourced<std::int64_t>> completion_data;
};

/// The device that reads and writes.
struct PcieRequester {
  Sourced<std::int64_t> tags{256, NumberClass::specification, "extended tags: 8 bits"};
  Sourced<Duration> latency = no_time();         ///< added to each transfer: set-up and completion
  Sourced<Duration> read_interval = no_time();   ///< least time between the starts of two reads
  Sourced<Duration> write_interval = no_time();  ///< least time between the starts of two writes
  /// Rate at which read data cross the device once more, as a whole; absent: they do not.
  std::optional<Sourced<Bandwidth>> internal_rate;
};

/// Root complex, and the memory behind it where no MemoryPort is given.
struct PcieHost {
  Sourced<Duration> read_latency = no_time();
  Sourced<Duration> write_latency = no_time();
  std::optional<Sourced<Bandwidth>> memory_rate;
};

struct PcieSwitch {
  Sourced<Duration> latency = no_time();
  SwitchForwarding forwarding = SwitchForwarding::cut_through;
  SwitchQueues queues = SwitchQueues::virtual_output;
  /// Raw rate of the link to the root; that of the other links if absent.
  std::optional<Sourced<Bandwidth>> upstream_raw;
  std::vector<std::int64_t> weights;  ///< of the device ports; empty: round robin
};

/// The `packet_level:` mapping of a link's file: the parameters that the flow level lacks.
struct PciePacketDetails {
  Sourced<Duration> flight = no_time();  ///< one way, of every link
  bool relaxed_ordering = false;
  PcieFraming framing;
  std::optional<PcieFlits> flits;
  PcieCredits credits;
  PcieRequester requester;
  PcieHost host;
  std::optional<PcieSwitch> fabric_switch;
};

/// All packet-level parameters. Those of both levels are stated once, in the flow-level file
/// (from_flow.hpp).
struct PciePacketConfig : PciePacketDetails {
  Sourced<Bandwidth> raw;
  Sourced<Bytes> max_payload{Bytes::from_base(256), NumberClass::assumed, "usual server setting"};
  Sourced<Bytes> max_read_request{Bytes::from_base(512), NumberClass::assumed,
                                  "usual server setting"};
  std::optional<Sourced<Bytes>> completion_boundary;  ///< max_payload where absent
  Sourced<Bytes> request_header{Bytes::from_base(24), NumberClass::specification,
                                "MRd and MWr with 64-bit address, framing and LCRC"};
  Sourced<Bytes> completion_header{Bytes::from_base(20), NumberClass::specification,
                                   "CplD with framing and LCRC"};
};

void describe(Fields& f, PcieFraming& c);
void describe(Fields& f, PcieFlits& c);
void describe(Fields& f, PcieCredits& c);
void describe(Fields& f, PcieRequester& c);
void describe(Fields& f, PcieHost& c);
void describe(Fields& f, PcieSwitch& c);
void describe(Fields& f, PciePacketDetails& c);
void describe(Fields& f, PciePacketConfig& c);
/// Checks that link packets leave room for others, and that no packet is larger than the buffers,
/// where it would wait for ever. `at` prefixes the keys in messages.
void check_packets_fit(Fields& f, const PciePacketConfig& c, const std::string& at);

/// The specification's limit on the time to an acknowledgement or credit update, in symbol times:
/// floor((max_payload + 28) x factor / lanes + internal_delay), factor by lanes and max_payload.
std::int64_t link_packet_limit(const PcieFraming& framing, Bytes max_payload);
/// Wire bytes between two acknowledgements or updates.
Bytes bytes_between_acks(const PciePacketConfig& c);
Bytes bytes_between_updates(const PciePacketConfig& c);
/// Boundary at which completions are cut: the configured one, or max_payload.
Bytes completion_boundary(const PciePacketConfig& c);

}  // namespace tiersim
