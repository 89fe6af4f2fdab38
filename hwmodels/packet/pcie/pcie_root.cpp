#include "hwmodels/packet/pcie/pcie_root.hpp"
#include "sim/core/engine.hpp"

namespace tiersim {

PcieRoot::PcieRoot(Engine& engine, const PciePacketConfig& config, MemoryPort* memory,
                   std::vector<PcieDevice*> devices)
    : engine_(engine),
      memory_(memory),
      devices_(std::move(devices)),
      writes_(devices_.size()),
      read_latency_(config.host.read_latency.value),
      write_latency_(config.host.write_latency.value),
      boundary_(completion_boundary(config).in_base()),
      relaxed_(config.relaxed_ordering) {}

void PcieRoot::connect(TlpChannel& up, TlpChannel& down) {
  up_ = &up;
  down_ = &down;
  up.connect(*this);
}

void PcieRoot::receive(const Tlp& tlp, SimTime /*tail*/) {
  Writes& writes = writes_[tlp.device];
  if (tlp.tlp_class == TlpClass::posted) {
    writes.pending.push({tlp});
    return ask_memory(tlp, writes.arrived++);
  }
  up_->release(tlp);
  if (relaxed_ || writes.taken == writes.arrived) return ask_memory(tlp, 0);
  writes.held.push({tlp, writes.arrived});
}

void PcieRoot::ask_memory(const Tlp& tlp, std::int64_t order) {
  if (memory_ == nullptr) return done_in_memory({tlp, order});
  MemoryPort::Request request{
      .address = tlp.address,
      .size = Bytes::from_base(tlp.length),
      .direction = tlp.tlp_class == TlpClass::read ? Direction::read : Direction::write};
  if (const auto taken = memory_->time_of(engine_, request, engine_.now()))
    return done_in_memory({tlp, order}, *taken);
  if (free_places_.empty()) {
    free_places_.push_back(static_cast<std::uint32_t>(at_memory_.size()));
    at_memory_.emplace_back();
  }
  const std::uint32_t place = free_places_.back();
  free_places_.pop_back();
  at_memory_[place] = {tlp, order};
  request.tag = place;
  memory_->serve(engine_, request, *this);
}

void PcieRoot::served(std::uint64_t place) {
  free_places_.push_back(static_cast<std::uint32_t>(place));
  const AtMemory request = at_memory_[place];
  done_in_memory(request);
}

// `later` is 0 for a write that others of its device may wait for.
void PcieRoot::done_in_memory(const AtMemory& request, Duration later) {
  if (request.tlp.tlp_class == TlpClass::read) {
    engine_.call_after(later + read_latency_, [this, tlp = request.tlp] { answer(tlp); });
    return;
  }
  TS_EXPECTS(later == Duration(0), later);
  Writes& writes = writes_[request.tlp.device];
  writes.pending[static_cast<std::size_t>(request.order - writes.served)].served = true;
  while (!writes.pending.empty() && writes.pending.front().served) {
    ++writes.served;
    engine_.call_after(write_latency_, [this, tlp = writes.pending.pop().tlp] { take(tlp); });
  }
}

void PcieRoot::take(const Tlp& tlp) {
  Writes& writes = writes_[tlp.device];
  ++writes.taken;
  up_->release(tlp);
  devices_[tlp.device]->written(tlp);
  while (!writes.held.empty() && writes.held.front().writes_before <= writes.taken) {
    ask_memory(writes.held.pop().tlp, 0);
  }
}

void PcieRoot::answer(const Tlp& tlp) {
  Tlp part = tlp;
  part.tlp_class = TlpClass::completion;
  std::int64_t left = tlp.length;
  while (left > 0) {
    const std::int64_t length = completion_length(part.address, left, boundary_);
    part.payload = static_cast<std::int32_t>(length);
    part.length = part.payload;
    down_->offer(0, part, engine_.now());
    part.address += static_cast<std::uint64_t>(length);
    left -= length;
  }
}

}  // namespace tiersim
