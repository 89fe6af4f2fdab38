#pragma once
// The packet-level parameters of a link whose file states the flow level and a `packet_level:`
// mapping. Rates, sizes and headers are stated once. `link_efficiency` and `latency` of the flow
// level are not used: at packet level they result from framing, flights and the host.
#include "hwmodels/link/pcie.hpp"
#include "hwmodels/packet/pcie/pcie_packet_config.hpp"

namespace tiersim {

inline PciePacketConfig with_flow(const PciePacketDetails& details, const PcieConfig& flow) {
  PciePacketConfig c;
  static_cast<PciePacketDetails&>(c) = details;
  c.raw = flow.raw;
  c.max_payload = flow.max_payload;
  c.max_read_request = flow.max_read_request;
  c.completion_boundary = flow.max_completion;
  c.request_header = flow.request_header;
  c.completion_header = flow.completion_header;
  return c;
}

}  // namespace tiersim
