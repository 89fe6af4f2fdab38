#include "hwmodels/packet/cxl/cxl_switch_box.hpp"
#include "sim/core/engine.hpp"

namespace tiersim {

CxlSwitchBox::CxlSwitchBox(Engine& engine, const CxlSwitch& config, std::vector<Link> hosts,
                           std::vector<Link> devices)
    : engine_(engine),
      latency_(config.latency.value),
      fifo_(config.queues == SwitchQueues::fifo),
      hosts_(std::move(hosts)),
      devices_(std::move(devices)) {
  for (std::size_t h = 0; h < hosts_.size(); ++h) {
    ports_.push_back(std::make_unique<Port>(*this, *hosts_[h].in, h));
    for (const Link& device : devices_) device.out->connect(h, *ports_.back());
  }
  for (std::size_t d = 0; d < devices_.size(); ++d) {
    ports_.push_back(std::make_unique<Port>(*this, *devices_[d].in, d));
    for (const Link& host : hosts_) host.out->connect(d, *ports_.back());
  }
}

CxlSwitchBox::Port::Port(CxlSwitchBox& box, FlitChannel& in, std::size_t input)
    : box_(box), in_(in), input_(input) {
  in.connect(*this);
}

void CxlSwitchBox::Port::receive(const CxlMessage& message) {
  const SimTime ready = box_.engine_.now() + box_.latency_;
  const auto c = static_cast<std::size_t>(message.message_class);
  if (box_.fifo_ && at_output_[c]) return held_[c].push({message, ready});
  at_output_[c] = true;
  box_.output_of(message).offer(input_, message, ready);
}

void CxlSwitchBox::Port::departed(const CxlMessage& message) {
  in_.release(message);
  if (!box_.fifo_) return;
  const auto c = static_cast<std::size_t>(message.message_class);
  at_output_[c] = !held_[c].empty();
  if (held_[c].empty()) return;
  const Held next = held_[c].pop();
  box_.output_of(next.message).offer(input_, next.message, next.ready);
}

}  // namespace tiersim
