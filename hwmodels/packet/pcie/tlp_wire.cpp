#include "hwmodels/packet/pcie/tlp_wire.hpp"

namespace tiersim {
namespace {

Bandwidth packet_rate(const PciePacketConfig& c, Bandwidth raw) {
  if (!c.flits) return raw;
  const Int128 rate =
      Int128{raw.in_base()} * c.flits->packets.value.in_base() / c.flits->flit.value.in_base();
  return Bandwidth::from_base(static_cast<std::int64_t>(rate));
}

}  // namespace

TlpWire::TlpWire(const PciePacketConfig& config, Bandwidth raw)
    : wire_(packet_rate(config, raw), config.flight.value),
      request_header_(config.request_header.value),
      completion_header_(config.completion_header.value),
      link_packet_(config.framing.link_packet.value),
      answering_(!config.flits && config.framing.link_packets == LinkPackets::answering),
      update_interval_(config.flits ? config.flits->flit.value / raw
                                    : bytes_between_updates(config) / raw),
      raw_(raw.in_base()) {
  const PcieFraming& f = config.framing;
  if (config.flits) {
    flit_ = config.flits->flit.value.in_base();
    return;
  }
  paces_[0] = {f.skip.value.in_base(), f.skip_every.value.in_base()};
  if (answering_) return;
  paces_[1] = {f.link_packet.value.in_base(), bytes_between_acks(config).in_base()};
  paces_[2] = {f.link_packet.value.in_base(), bytes_between_updates(config).in_base()};
}

std::int64_t TlpWire::Pace::due(std::int64_t position) {
  if (every == 0) return 0;
  const std::int64_t more = position / every - sent;
  sent += more;
  return more * size;
}

TlpWire::Passage TlpWire::send(SimTime now, const Tlp& tlp) {
  const Wire::Passage packet = wire_.send(now, size_of(tlp));
  if (flit_ != 0) {
    const SimTime arrives = end_of_flit(packet.leaves) + wire_.flight();
    return {.header_arrives = arrives, .arrives = arrives, .free = packet.leaves};
  }
  const Bytes header = size_of(tlp) - Bytes::from_base(tlp.payload);
  const SimTime header_leaves = packet.starts + header / wire_.rate();
  std::int64_t due = 0;
  for (Pace& pace : paces_) due += pace.due(wire_.sent().in_base());
  if (due > 0) wire_.send(packet.leaves, Bytes::from_base(due));
  return {.header_arrives = std::min(header_leaves + wire_.flight(), packet.arrives),
          .arrives = packet.arrives,
          .free = wire_.free_at()};
}

// Flit k ends at ceil(k x flit / raw).
SimTime TlpWire::end_of_flit(SimTime time) const {
  const Int128 flit_ticks = Int128{flit_} * kPicosecondsPerSecond;
  const Int128 elapsed = Int128{time.time_since_epoch().count()} * raw_;
  const Int128 flits = (elapsed + flit_ticks - 1) / flit_ticks;
  SimTime end{Duration(static_cast<std::int64_t>((flits * flit_ticks + raw_ - 1) / raw_))};
  // The end of the previous flit, rounded up, may be `time` itself.
  const SimTime before{
      Duration(static_cast<std::int64_t>(((flits - 1) * flit_ticks + raw_ - 1) / raw_))};
  return before >= time ? before : end;
}

}  // namespace tiersim
