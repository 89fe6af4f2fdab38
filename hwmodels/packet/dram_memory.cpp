#include "hwmodels/packet/dram_memory.hpp"
#include "sim/core/engine.hpp"

#include <algorithm>

namespace tiersim {

DramMemory::DramMemory(const DramPacketConfig& config, std::size_t modules, Bytes interleave)
    : clocks_(config.timings),
      map_(*AddressMap::make(config.address_map)),
      shape_(map_),
      atom_(static_cast<std::uint64_t>(config.atom.value.in_base())),
      interleave_(static_cast<std::uint64_t>(interleave.in_base())),
      modules_(modules),
      wake_at_(modules * shape_.pseudo_channels, PseudoChannel::kNever) {
  TS_EXPECTS(modules > 0 && interleave_ % atom_ == 0 && interleave_ > 0, modules, interleave);
  channels_.reserve(wake_at_.size());
  for (std::size_t i = 0; i < wake_at_.size(); ++i) {
    channels_.emplace_back(clocks_, shape_, config.scheduler);
  }
}

std::uint32_t DramMemory::open(const Request& request, Client& client) {
  if (free_.empty()) {
    free_.push_back(static_cast<std::uint32_t>(open_.size()));
    open_.emplace_back();
  }
  const std::uint32_t index = free_.back();
  free_.pop_back();
  const auto size = static_cast<std::uint64_t>(request.size.in_base());
  const std::uint64_t first = request.address / atom_;
  const std::uint64_t last = (request.address + size - 1) / atom_;
  open_[index] = {&client, request.tag, static_cast<std::int64_t>(last - first + 1), 0};
  return index;
}

// Granules rotate over the modules. A module sees every `modules_`-th of them, as neighbours.
std::uint64_t DramMemory::atom_in_module(std::uint64_t address) const {
  const std::uint64_t granule = address / interleave_ / modules_;
  return (granule * interleave_ + address % interleave_) / atom_;
}

void DramMemory::serve(Engine& engine, const Request& request, Client& client) {
  TS_EXPECTS(request.size.in_base() > 0, request.size);
  const std::uint32_t index = open(request, client);
  const std::int64_t now = engine.now().time_since_epoch().count();
  const std::int64_t arrival = (now + clocks_.period_ps - 1) / clocks_.period_ps;
  const std::uint64_t start = request.address / atom_ * atom_;
  const std::int64_t atoms = open_[index].atoms;
  for (std::int64_t i = 0; i < atoms; ++i) {
    const std::uint64_t address = start + static_cast<std::uint64_t>(i) * atom_;
    const DramPlace place = map_.place(atom_in_module(address));
    const std::size_t module = address / interleave_ % modules_;
    const std::size_t channel = module * shape_.pseudo_channels + shape_.flat_channel(place);
    channels_[channel].run_until(arrival, done_);
    channels_[channel].push({.arrival = arrival,
                             .row = place[static_cast<std::size_t>(DramField::row)],
                             .bank = static_cast<std::uint16_t>(shape_.flat_bank(place)),
                             .write = request.direction == Direction::write,
                             .tag = index},
                            done_);
    wake(engine, channel);
  }
  settle(engine);
}

void DramMemory::wake(Engine& engine, std::size_t channel) {
  const std::int64_t next = channels_[channel].next();
  if (next >= wake_at_[channel]) return;
  wake_at_[channel] = next;
  engine.schedule(std::max(engine.now(), at(next)), *this, channel + 1, Lane::late);
}

// A decision's clock is now or earlier. In the late lane, all requests of this instant have
// arrived.
void DramMemory::on_event(Engine& engine, std::uint64_t what) {
  const std::size_t channel = what - 1;
  const std::int64_t clock = engine.now().time_since_epoch().count() / clocks_.period_ps;
  if (wake_at_[channel] > clock) return;  // another event took its place
  wake_at_[channel] = PseudoChannel::kNever;
  channels_[channel].run_until(clock + 1, done_);
  wake(engine, channel);
  settle(engine);
}

void DramMemory::settle(Engine& engine) {
  for (const DramDone& done : done_) {
    Open& request = open_[done.tag];
    request.last = std::max(request.last, done.at);
    if (--request.atoms > 0) continue;
    const SimTime when = std::max(engine.now(), at(request.last));
    engine.call_at(when, [client = request.client, tag = request.tag] { client->served(tag); });
    free_.push_back(done.tag);
  }
  done_.clear();
}

std::int64_t DramMemory::in_flight() const {
  std::int64_t sum = 0;
  for (const PseudoChannel& channel : channels_) sum += channel.in_flight();
  return sum;
}

}  // namespace tiersim
