#pragma once
// Devices, a root complex, the links between them and optionally a switch.
#include <memory>
#include <vector>

#include "hwmodels/packet/pcie/pcie_device.hpp"
#include "hwmodels/packet/pcie/pcie_root.hpp"
#include "hwmodels/packet/pcie/pcie_switch_box.hpp"

namespace tiersim {

class PcieFabric {
 public:
  /// `memory` may be null: then the latencies and rate of config.host hold. Precondition: devices >
  /// 0, and one unless the configuration has a switch.
  PcieFabric(Engine& engine, const PciePacketConfig& config, std::size_t devices,
             MemoryPort* memory, PcieDevice::Owner& owner);

  PcieDevice& device(std::size_t index) { return *devices_[index]; }
  /// The link at the root complex.
  const TlpChannel& root_up() const { return *channels_[0]; }
  const TlpChannel& root_down() const { return *channels_[1]; }
  const std::vector<std::unique_ptr<TlpChannel>>& channels() const { return channels_; }

 private:
  /// The two directions of a link: up, then down.
  void add_link(Engine& engine, const PciePacketConfig& config, TlpChannel::Options up,
                TlpChannel::Options down);

  std::vector<std::unique_ptr<TlpChannel>> channels_;
  std::vector<std::unique_ptr<PcieDevice>> devices_;
  std::unique_ptr<FixedMemory> own_memory_;
  std::unique_ptr<PcieRoot> root_;
  std::unique_ptr<PcieSwitchBox> switch_;
};

}  // namespace tiersim
