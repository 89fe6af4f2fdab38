#include "hwmodels/packet/pcie/pcie_switch_box.hpp"
#include "sim/core/engine.hpp"

namespace tiersim {

PcieSwitchBox::PcieSwitchBox(Engine& engine, const PcieSwitch& config, Link root,
                             std::vector<Link> devices)
    : engine_(engine), latency_(config.latency.value), queues_(config.queues), to_root_(*root.out) {
  ports_.push_back(std::make_unique<Port>(*this, *root.in, 0, true));
  for (std::size_t i = 0; i < devices.size(); ++i) {
    to_device_.push_back(devices[i].out);
    devices[i].out->connect(0, *ports_.front());
    ports_.push_back(std::make_unique<Port>(*this, *devices[i].in, i, false));
    to_root_.connect(i, *ports_.back());
  }
}

PcieSwitchBox::Port::Port(PcieSwitchBox& box, TlpChannel& in, std::size_t input, bool from_root)
    : box_(box),
      in_(in),
      input_(input),
      from_root_(from_root),
      // All packets of a device leave by one output, where both kinds of queue are the same.
      fifo_(from_root && box.queues_ == SwitchQueues::fifo) {
  in.connect(*this);
}

void PcieSwitchBox::Port::receive(const Tlp& tlp, SimTime tail) {
  const TlpChannel& out = from_root_ ? *box_.to_device_[tlp.device] : box_.to_root_;
  const SimTime header_ready = box_.engine_.now() + box_.latency_;
  const SimTime no_gap = tail + box_.latency_ - out.wire().time_of(tlp);
  const SimTime ready = std::max(header_ready, no_gap);
  const auto c = static_cast<std::size_t>(tlp.tlp_class);
  if (fifo_ && at_output_[c]) return held_[c].push({tlp, ready});
  at_output_[c] = true;
  forward(tlp, ready);
}

void PcieSwitchBox::Port::forward(const Tlp& tlp, SimTime ready) {
  TlpChannel& out = from_root_ ? *box_.to_device_[tlp.device] : box_.to_root_;
  out.offer(input_, tlp, ready);
}

void PcieSwitchBox::Port::departed(const Tlp& tlp) {
  in_.release(tlp);
  if (!fifo_) return;
  const auto c = static_cast<std::size_t>(tlp.tlp_class);
  at_output_[c] = !held_[c].empty();
  if (held_[c].empty()) return;
  const Held next = held_[c].pop();
  forward(next.tlp, next.ready);
}

}  // namespace tiersim
