#include "hwmodels/packet/cxl/cxl_fabric.hpp"

namespace tiersim {

CxlFabric::CxlFabric(Engine& engine, const CxlPacketConfig& config, const Shape& shape,
                     const std::vector<MemoryPort*>& memories, CxlHostPort::Owner& owner) {
  const std::size_t hosts = shape.outstanding.size();
  TS_EXPECTS(hosts > 0 && shape.devices > 0, hosts, shape.devices);
  TS_EXPECTS(hosts * shape.devices == 1 || config.pool_switch, hosts, shape.devices);
  TS_EXPECTS(memories.empty() || memories.size() == shape.devices, memories.size());
  for (std::size_t i = 0; i < hosts; ++i) {
    hosts_.push_back(std::make_unique<CxlHostPort>(
        engine, config, static_cast<std::uint16_t>(i), shape.outstanding[i],
        CxlHostPort::Interleave{shape.interleave, shape.devices}, owner));
  }
  for (std::size_t i = 0; i < shape.devices; ++i) {
    devices_.push_back(std::make_unique<CxlDeviceBox>(engine, config, static_cast<std::uint16_t>(i),
                                                      memories.empty() ? nullptr : memories[i]));
  }
  const Bandwidth raw = config.raw.value;
  if (!config.pool_switch) {
    add_link(engine, config, {.raw = raw}, {.raw = raw});
    hosts_[0]->connect(*channels_[0], *channels_[1]);
    devices_[0]->connect(*channels_[0], *channels_[1]);
    return;
  }
  const CxlSwitch& s = *config.pool_switch;
  std::vector<CxlSwitchBox::Link> host_links;
  std::vector<CxlSwitchBox::Link> device_links;
  for (const auto& host : hosts_) {
    // A host's link from the switch's side: `in` comes from the host.
    const auto link = add_link(engine, config, {.raw = raw}, {.raw = raw, .inputs = shape.devices});
    host->connect(*link.in, *link.out);
    host_links.push_back(link);
  }
  const Bandwidth device_raw = s.device_raw ? s.device_raw->value : raw;
  for (const auto& device : devices_) {
    const auto link =
        add_link(engine, config, {.raw = device_raw, .inputs = hosts, .weights = s.weights},
                 {.raw = device_raw});
    device->connect(*link.in, *link.out);
    device_links.push_back({.in = link.out, .out = link.in});
  }
  switch_ =
      std::make_unique<CxlSwitchBox>(engine, s, std::move(host_links), std::move(device_links));
}

CxlSwitchBox::Link CxlFabric::add_link(Engine& engine, const CxlPacketConfig& config,
                                       FlitChannel::Options down, FlitChannel::Options up) {
  channels_.push_back(std::make_unique<FlitChannel>(engine, config, std::move(down)));
  channels_.push_back(std::make_unique<FlitChannel>(engine, config, std::move(up)));
  return {.in = channels_[channels_.size() - 2].get(), .out = channels_.back().get()};
}

}  // namespace tiersim
