#pragma once
// The packet-level parameters of a link whose file states the flow level and a `packet_level:`
// mapping. A probe or a scenario sets the number of devices, from `ports` of the flow level. Its
// `latency` and `reads_in_flight` are not used: at packet level they result from flights, hosts and
// devices.
#include "hwmodels/link/cxl.hpp"
#include "hwmodels/packet/cxl/cxl_packet_config.hpp"

namespace tiersim {

inline CxlPacketConfig with_flow(const CxlPacketDetails& details, const CxlConfig& flow) {
  CxlPacketConfig c;
  static_cast<CxlPacketDetails&>(c) = details;
  c.raw = flow.raw;
  c.flit = flow.flit;
  return c;
}

}  // namespace tiersim
