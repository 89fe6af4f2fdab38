#include "hwmodels/packet/pcie/pcie_fabric.hpp"

namespace tiersim {

PcieFabric::PcieFabric(Engine& engine, const PciePacketConfig& config, std::size_t devices,
                       MemoryPort* memory, PcieDevice::Owner& owner) {
  TS_EXPECTS(devices > 0 && (devices == 1 || config.fabric_switch), devices);
  std::vector<PcieDevice*> all;
  for (std::size_t i = 0; i < devices; ++i) {
    devices_.push_back(
        std::make_unique<PcieDevice>(engine, config, static_cast<std::uint16_t>(i), owner));
    all.push_back(devices_.back().get());
  }
  if (memory == nullptr && config.host.memory_rate) {
    own_memory_ = std::make_unique<FixedMemory>(config.host.memory_rate->value, Duration(0));
    memory = own_memory_.get();
  }
  root_ = std::make_unique<PcieRoot>(engine, config, memory, std::move(all));
  const Bandwidth raw = config.raw.value;
  if (!config.fabric_switch) {
    add_link(engine, config, {.raw = raw}, {.raw = raw});
    devices_[0]->connect(*channels_[0], *channels_[1]);
    root_->connect(*channels_[0], *channels_[1]);
    return;
  }
  const PcieSwitch& s = *config.fabric_switch;
  const Bandwidth upstream = s.upstream_raw ? s.upstream_raw->value : raw;
  const bool headers = s.forwarding == SwitchForwarding::cut_through;
  add_link(engine, config, {.raw = upstream, .inputs = devices, .weights = s.weights},
           {.raw = upstream, .announce_headers = headers});
  root_->connect(*channels_[0], *channels_[1]);
  std::vector<PcieSwitchBox::Link> links;
  for (std::size_t i = 0; i < devices; ++i) {
    add_link(engine, config, {.raw = raw, .announce_headers = headers}, {.raw = raw});
    TlpChannel& up = *channels_[channels_.size() - 2];
    TlpChannel& down = *channels_.back();
    devices_[i]->connect(up, down);
    links.push_back({.in = &up, .out = &down});
  }
  switch_ = std::make_unique<PcieSwitchBox>(
      engine, s, PcieSwitchBox::Link{.in = channels_[1].get(), .out = channels_[0].get()},
      std::move(links));
}

void PcieFabric::add_link(Engine& engine, const PciePacketConfig& config, TlpChannel::Options up,
                          TlpChannel::Options down) {
  channels_.push_back(std::make_unique<TlpChannel>(engine, config, std::move(up)));
  channels_.push_back(std::make_unique<TlpChannel>(engine, config, std::move(down)));
  TlpChannel& first = *channels_[channels_.size() - 2];
  first.pair_with(*channels_.back());
  channels_.back()->pair_with(first);
}

}  // namespace tiersim
