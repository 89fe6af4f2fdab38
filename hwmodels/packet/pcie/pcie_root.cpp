#include "hwmodels/packet/pcie/pcie_root.hpp"

namespace tiersim {

PcieRoot::PcieRoot(Engine& engine, const PciePacketConfig& config, MemoryPort* memory,
                   std::vector<PcieDevice*> devices)
    : engine_(engine),
      memory_(memory),
      devices_(std::move(devices)),
      writes_taken_(devices_.size()),
      read_latency_(config.host.read_latency.value),
      write_latency_(config.host.write_latency.value),
      boundary_(completion_boundary(config).in_base()),
      relaxed_(config.relaxed_ordering) {}

void PcieRoot::connect(TlpChannel& up, TlpChannel& down) {
  up_ = &up;
  down_ = &down;
  up.connect(*this);
}

SimTime PcieRoot::served(const Tlp& tlp, Direction direction) {
  if (memory_ == nullptr) return engine_.now();
  return memory_->serve(engine_.now(), tlp.address, Bytes::from_base(tlp.length), direction);
}

void PcieRoot::receive(const Tlp& tlp, SimTime /*tail*/) {
  SimTime& writes_taken = writes_taken_[tlp.device];
  if (tlp.tlp_class == TlpClass::posted) {
    const SimTime taken = served(tlp, Direction::write) + write_latency_;
    writes_taken = std::max(writes_taken, taken);
    engine_.call_at(taken, [this, tlp] { take(tlp); });
    return;
  }
  up_->release(tlp);
  if (relaxed_ || writes_taken <= engine_.now()) return read(tlp);
  engine_.call_at(writes_taken, [this, tlp] { read(tlp); });
}

void PcieRoot::take(const Tlp& tlp) {
  up_->release(tlp);
  devices_[tlp.device]->written(tlp);
}

void PcieRoot::read(const Tlp& tlp) {
  const SimTime ready = served(tlp, Direction::read) + read_latency_;
  engine_.call_at(ready, [this, tlp] { answer(tlp); });
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
