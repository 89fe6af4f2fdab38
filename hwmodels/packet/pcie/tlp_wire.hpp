#pragma once
// Model card: tlp_wire
//   Models    one direction of a PCI Express link in time: packets with their framing, and the
//             acknowledgements, credit updates and SKIP between them; or flits.
//   Equation  framing: a packet takes (header + data) / raw; paced link packets and SKIP take their
//             bytes once in every interval of raw bytes, between packets. Flits: a packet takes
//             (header + data) / (raw x packets / flit), and arrives with the end of its flit, where
//             flits are back to back from time 0 on.
//   Ignores   link packets on an idle wire, which cost nothing.
//   Valid     as pcie_packet.
//   Source    as pcie_packet.
//   Checked   tests/unit/packet/pcie_wire_test.cpp
#include "hwmodels/packet/pcie/pcie_packet_config.hpp"
#include "hwmodels/packet/pcie/tlp.hpp"
#include "hwmodels/packet/wire.hpp"

namespace tiersim {

class TlpWire {
 public:
  struct Passage {
    SimTime header_arrives;  ///< arrival of the header, from which cut-through routes
    SimTime arrives;         ///< arrival of the last byte
    SimTime free;            ///< from when on the next packet may start
  };

  TlpWire(const PciePacketConfig& config, Bandwidth raw);

  Passage send(SimTime now, const Tlp& tlp);
  /// Sends an acknowledgement or credit update for the other direction (`answering`).
  void send_link_packet(SimTime now) { wire_.send(now, link_packet_); }

  /// Time of a packet on this wire.
  Duration time_of(const Tlp& tlp) const { return size_of(tlp) / wire_.rate(); }
  Bytes size_of(const Tlp& tlp) const {
    return Bytes::from_base(tlp.payload) +
           (tlp.tlp_class == TlpClass::completion ? completion_header_ : request_header_);
  }
  SimTime free_at() const { return wire_.free_at(); }
  Duration flight() const { return wire_.flight(); }
  bool answering() const { return answering_; }
  /// Least time between two credit updates.
  Duration update_interval() const { return update_interval_; }
  /// All bytes so far, with link packets; of flits, the part that carries packets.
  Bytes sent() const { return wire_.sent(); }

 private:
  /// One kind of link packet in `paced` mode.
  struct Pace {
    std::int64_t size = 0;
    std::int64_t every = 0;  // 0: never
    std::int64_t sent = 0;
    /// Bytes that are due when `position` bytes have been sent.
    std::int64_t due(std::int64_t position);
  };
  SimTime end_of_flit(SimTime time) const;

  Wire wire_;
  Bytes request_header_;
  Bytes completion_header_;
  Bytes link_packet_;
  bool answering_;
  Duration update_interval_;
  Pace paces_[3];
  std::int64_t raw_;
  std::int64_t flit_ = 0;  // 0: framing
};

}  // namespace tiersim
