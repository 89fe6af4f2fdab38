#pragma once
// Model card: pcie_streams
//   Models    operations that cross one PCI Express link at packet level, between one device and
//             its root complex.
//   Equation  as link_streams, in transfers of at most 4 KiB, which begin at a page. In flight of
//             an access: twice what the link gives in the time from a request to its end, and of
//             reads no more than the tags and a few that wait for one.
//   Ignores   a switch, which is a device of its own in a path; which GPU asks, where several share
//             the link: the device serves transfers in order.
//   Valid     as pcie_packet. `requester` times are of each transfer. A posted write holds its
//             buffer until the root complex has taken it, not for `beyond`.
//   Source    as pcie_packet.
//   Checked   tests/unit/packet/pcie_streams_test.cpp
#include "hwmodels/packet/link_streams.hpp"
#include "hwmodels/packet/pcie/pcie_fabric.hpp"

namespace tiersim {

class PcieStreams final : public LinkStreams, public PcieDevice::Owner {
 public:
  /// Precondition: no switch.
  PcieStreams(Engine& engine, const PciePacketConfig& config);

  const PcieFabric& fabric() const { return fabric_; }

 private:
  void send(const Piece& piece) override;
  std::int64_t window(const PacketAccess& access, Duration beyond) const override;
  void ended(std::size_t device, std::uint64_t name) override;

  PciePacketConfig config_;
  Behind memory_;
  PcieFabric fabric_;
};

/// What packets of a read that meets nobody take beside their bytes.
Duration unloaded_read(const PciePacketConfig& config);

}  // namespace tiersim
