#pragma once
// Model card: cxl_packet (fidelity: packet; the parameters of the model in this folder)
//   Models    CXL.mem between hosts and memory devices, slot by slot: requests (M2S Req), requests
//             with data (RwD), responses without (S2M NDR) and with data (DRS) are packed into
//             flits of 68 B (4 slots of 16 B) or 256 B (15 slots); credits of the receivers' two
//             buffers each way; requests in flight at host and device; a switch between several
//             hosts and devices, with its queues and fairness; latency tails of the device.
//   Equation  the first slot of a flit is for headers unless data fill the whole flit; other slots
//             take pending data, or headers. A header slot holds 1 request or 2 responses, a line
//             4 data slots. So under saturating traffic a read line takes 1 slot to the device
//             and 4.5 from it, a written line 5 and .5; thin traffic leaves slots empty.
//   Ignores   CXL.cache and CXL.io, retries, poison, back-invalidation, credit returns as bytes
//             (they ride in headers), the grid of idle flits (a flit starts when there is
//             something to send), port contention inside the switch other than at its outputs.
//   Valid     68 B flits: CXL 1.1 and 2.0; 256 B flits: CXL 3.x, standard (not latency-optimised).
//   Source    CXL specification 2.0 and 3.0, link layer: slot formats H and G, all-data flits.
//   Checked   tests/unit/packet/cxl_*_test.cpp
#include <cstdint>
#include <optional>
#include <vector>

#include "hwmodels/packet/default_numbers.hpp"
#include "hwmodels/packet/switch_words.hpp"
#include "sim/base/number_class.hpp"
#include "sim/config/fields.hpp"

namespace tiersim {

/// Buffer entries that a receiver advertises.
struct CxlCredits {
  Sourced<std::int64_t> requests{64, NumberClass::assumed, "order of magnitude"};
  Sourced<std::int64_t> writes{64, NumberClass::assumed, "order of magnitude"};
  Sourced<std::int64_t> responses{128, NumberClass::assumed, "as many as a host keeps in flight"};
};

struct CxlHost {
  Sourced<std::int64_t> outstanding{128, NumberClass::measured, "CXL-DMSim (arXiv 2411.02282)"};
  Sourced<Duration> latency = no_time();  ///< of a read outside the host's pins, both ways together
};

/// A share of accesses takes an additional exponential time, for example for refresh or error
/// handling.
struct CxlTail {
  Sourced<double> share;
  Sourced<Duration> mean;
  std::int64_t seed = 1;
};

struct CxlMemoryDevice {
  Sourced<std::int64_t> outstanding{48, NumberClass::measured, "CXL-DMSim (arXiv 2411.02282)"};
  Sourced<Duration> latency = no_time();         ///< of the controller, both ways together
  Sourced<Duration> memory_latency = no_time();  ///< of the memory, where no MemoryPort is given
  std::optional<Sourced<Bandwidth>> memory_rate;
  std::optional<CxlTail> tail;
};

struct CxlSwitch {
  Sourced<Duration> latency = no_time();  ///< one way
  SwitchQueues queues = SwitchQueues::virtual_output;
  std::vector<std::int64_t> weights;  ///< of the hosts, at every device port; empty: round robin
  std::optional<Sourced<Bandwidth>> device_raw;  ///< of a device's link; that of the host if absent
};

/// The `packet_level:` mapping of a link's file: the parameters that the flow level lacks.
struct CxlPacketDetails {
  Sourced<Duration> flight = no_time();  ///< one way, of every link, including both physical layers
  CxlCredits credits;
  CxlHost host;
  CxlMemoryDevice device;
  std::optional<CxlSwitch> pool_switch;
};

/// All packet-level parameters. Those of both levels are stated once, in the flow-level file
/// (from_flow.hpp).
struct CxlPacketConfig : CxlPacketDetails {
  Sourced<Bandwidth> raw;  ///< one direction before coding
  Sourced<Bytes> flit{Bytes::from_base(68), NumberClass::specification, "CXL 1.1 and 2.0"};
};

void describe(Fields& f, CxlCredits& c);
void describe(Fields& f, CxlHost& c);
void describe(Fields& f, CxlTail& c);
void describe(Fields& f, CxlMemoryDevice& c);
void describe(Fields& f, CxlSwitch& c);
void describe(Fields& f, CxlPacketDetails& c);
void describe(Fields& f, CxlPacketConfig& c);

/// Rate of one direction of a link in flit bytes: 128/130 of `raw` for 68 B flits.
Bandwidth flit_rate(const CxlPacketConfig& c, Bandwidth raw);
/// Slots of 16 B in a flit: 4 or 15.
std::int64_t slots_in_flit(const CxlPacketConfig& c);

}  // namespace tiersim
