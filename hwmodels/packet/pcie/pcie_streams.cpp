#include "hwmodels/packet/pcie/pcie_streams.hpp"

#include <algorithm>

namespace tiersim {
namespace {

constexpr Bytes kCut = Bytes::from_base(kPciePage);
constexpr std::int64_t kLeastInFlight = 16;
constexpr std::int64_t kWaiting = 4;  // transfers that wait for a tag

std::optional<Bandwidth> memory_rate(const PcieHost& host) {
  if (!host.memory_rate) return std::nullopt;
  return host.memory_rate->value;
}

}  // namespace

Duration unloaded_read(const PciePacketConfig& config) {
  return 2 * config.flight.value + config.host.read_latency.value + config.requester.latency.value;
}

PcieStreams::PcieStreams(Engine& engine, const PciePacketConfig& config)
    : LinkStreams(engine, kCut, Bytes::from_base(1)),
      config_(config),
      memory_(*this, memory_rate(config.host), Duration(0), false),
      fabric_(engine, config, 1, &memory_, *this) {
  TS_EXPECTS(!config.fabric_switch);
}

void PcieStreams::send(const Piece& piece) {
  fabric_.device(0).start(piece.direction, piece.address, piece.size, piece.name);
}

std::int64_t PcieStreams::window(const PacketAccess& access, Duration beyond) const {
  const Bytes size = std::min(access.run, kCut);
  const bool read = access.direction == Direction::read;
  Duration taken =
      std::max(unloaded_read(config_), config_.flight.value + config_.host.write_latency.value +
                                           config_.requester.latency.value);
  if (read) taken += beyond;
  if (read && config_.requester.internal_rate)
    taken += size / config_.requester.internal_rate->value;
  const Bytes header = std::min(config_.request_header.value, config_.completion_header.value);
  const Int128 on_wire =
      Int128{config_.raw.value.in_base()} * taken.count() / kPicosecondsPerSecond;
  auto pieces = static_cast<std::int64_t>(2 * on_wire / (size + header).in_base());
  if (read) {
    const std::int64_t most = config_.max_read_request.value.in_base();
    const std::int64_t requests = (size.in_base() + most - 1) / most;
    pieces = std::min(pieces, config_.requester.tags.value / requests + kWaiting);
  }
  return std::max(pieces, kLeastInFlight);
}

void PcieStreams::ended(std::size_t, std::uint64_t name) {
  const std::size_t job = job_of_name(name);
  moved(job, size_of_name(name), is_write(name) ? beyond(job) : Duration(0));
  piece_ended(name);
}

}  // namespace tiersim
