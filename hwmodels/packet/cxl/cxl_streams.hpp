#pragma once
// Model card: cxl_streams
//   Models    operations that read and write lines of CXL.mem at packet level: through `ports`
//             equal ports of one host, an expander at each; or, where there is a switch, through
//             it from a host for each GPU that shares it to `ports` expanders.
//   Equation  as link_streams, in accesses of at most 256 B, each in one expander; those of a long
//             run rotate over all expanders. Bytes of an access in flight: twice the bandwidth
//             delay product of the link, or twice the limit of the host ports, whichever is less.
//             A write has been moved when its expander has taken it.
//   Ignores   without a switch, the GPU of a request: a port serves accesses in order. With one, a
//             host's own link to it, which has the rate of all ports here: in a path it is a
//             separate device, as the switch is.
//   Valid     as cxl_packet. Lines are read behind the expander's limit of lines in work, so each
//             line holds its place for `beyond`; a write is answered when its expander has it.
//   Source    as cxl_packet.
//   Checked   tests/unit/packet/cxl_streams_test.cpp
#include <memory>
#include <vector>

#include "hwmodels/packet/cxl/cxl_fabric.hpp"
#include "hwmodels/packet/link_streams.hpp"

namespace tiersim {

class CxlStreams final : public LinkStreams, public CxlHostPort::Owner {
 public:
  /// ports > 0 and sharers > 0.
  CxlStreams(Engine& engine, const CxlPacketConfig& config, std::size_t ports, std::size_t sharers);

  const std::vector<std::unique_ptr<CxlFabric>>& fabrics() const { return fabrics_; }

 private:
  void send(const Piece& piece) override;
  std::int64_t window(const PacketAccess& access, Duration beyond) const override;
  void access_ended(std::size_t host, std::uint64_t name, Direction direction,
                    SimTime since) override;

  CxlPacketConfig config_;
  std::size_t ports_;
  std::vector<std::unique_ptr<Behind>> memories_;
  // One for each port, or a single one with a switch.
  std::vector<std::unique_ptr<CxlFabric>> fabrics_;
};

/// Time of a read line on an idle link, with the line itself.
Duration unloaded_line(const CxlPacketConfig& config);

}  // namespace tiersim
