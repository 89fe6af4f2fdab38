#include "hwmodels/packet/cxl/cxl_streams.hpp"

#include <algorithm>

namespace tiersim {
namespace {

constexpr Bytes kCut = Bytes::from_base(256);
constexpr std::int64_t kLeastInFlight = 16;

std::optional<Bandwidth> memory_rate(const CxlMemoryDevice& device) {
  if (!device.memory_rate) return std::nullopt;
  return device.memory_rate->value;
}

}  // namespace

// A request fits in one flit; a line with its header takes two flits of 4 slots, or one of 15.
Duration unloaded_line(const CxlPacketConfig& c) {
  const std::int64_t crossings = c.pool_switch ? 2 : 1;
  const std::int64_t flits = slots_in_flit(c) > 5 ? 2 : 3;
  const Duration flit = c.flit.value / flit_rate(c, c.raw.value);
  Duration time = c.host.latency.value + c.device.latency.value + c.device.memory_latency.value +
                  crossings * (2 * c.flight.value + flits * flit);
  if (c.pool_switch) time += 2 * c.pool_switch->latency.value;
  return time;
}

CxlStreams::CxlStreams(Engine& engine, const CxlPacketConfig& config, std::size_t ports,
                       std::size_t sharers)
    : LinkStreams(engine, kCut, Bytes::from_base(kCxlLine)), config_(config), ports_(ports) {
  TS_EXPECTS(ports > 0 && sharers > 0, ports, sharers);
  std::vector<MemoryPort*> all;
  for (std::size_t i = 0; i < ports; ++i) {
    memories_.push_back(std::make_unique<Behind>(*this, memory_rate(config.device),
                                                 config.device.memory_latency.value, true));
    all.push_back(memories_.back().get());
  }
  if (!config.pool_switch) {
    for (MemoryPort* const memory : all)
      fabrics_.push_back(std::make_unique<CxlFabric>(
          engine, config, CxlFabric::Shape{.outstanding = {config.host.outstanding.value}},
          std::vector{memory}, *this));
    return;
  }
  CxlPacketConfig pool = config;
  if (!pool.pool_switch->device_raw) pool.pool_switch->device_raw = config.raw;
  pool.raw.value = config.raw.value * static_cast<std::int64_t>(ports);
  CxlFabric::Shape shape{.outstanding = {}, .devices = ports};
  shape.outstanding.assign(sharers, config.host.outstanding.value);
  fabrics_.push_back(std::make_unique<CxlFabric>(engine, pool, shape, all, *this));
}

void CxlStreams::send(const Piece& piece) {
  const std::int64_t lines = piece.size.in_base() / kCxlLine;
  if (config_.pool_switch)
    return fabrics_[0]->host(piece.from).start(piece.direction, piece.address, lines, piece.name);
  const std::size_t port = piece.address / static_cast<std::uint64_t>(kCut.in_base()) % ports_;
  fabrics_[port]->host(0).start(piece.direction, piece.address, lines, piece.name);
}

std::int64_t CxlStreams::window(const PacketAccess& access, Duration beyond) const {
  const std::int64_t lines = (std::min(access.run, kCut).in_base() + kCxlLine - 1) / kCxlLine;
  const auto ports = static_cast<std::int64_t>(ports_);
  const Duration taken = unloaded_line(config_) + beyond;
  const Int128 on_wire =
      Int128{config_.raw.value.in_base()} * ports * taken.count() / kPicosecondsPerSecond;
  const std::int64_t hosts = config_.pool_switch ? 1 : ports;
  const auto most = static_cast<std::int64_t>(
      std::min(on_wire / kCxlLine, Int128{config_.host.outstanding.value} * hosts));
  return std::max(2 * most / lines, kLeastInFlight * ports);
}

void CxlStreams::access_ended(std::size_t, std::uint64_t name, Direction direction, SimTime) {
  if (direction == Direction::read) moved(job_of_name(name), size_of_name(name), Duration(0));
  piece_ended(name);
}

}  // namespace tiersim
