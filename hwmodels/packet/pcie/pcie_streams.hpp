#pragma once
// Model card: pcie_streams
//   Models    operations that cross one PCI Express link at packet level, between one device and
//             its root complex.
//   Equation  as link_streams, in transfers of at most 4 KiB, which begin at a page. Bytes of an
//             access in flight: twice the bandwidth delay product of the link, and of reads no
//             more than the tags and a few that wait for one.
//   Ignores   a switch, which is a device of its own in a path; the GPU of a request, where several
//             share the link: the device serves transfers in order.
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

/// Time of a read on an idle link, without its bytes.
Duration unloaded_read(const PciePacketConfig& config);

}  // namespace tiersim
