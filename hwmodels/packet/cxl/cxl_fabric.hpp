#pragma once
// Hosts, memory devices, the links between them and optionally a switch.
#include <memory>
#include <vector>

#include "hwmodels/packet/cxl/cxl_device_box.hpp"
#include "hwmodels/packet/cxl/cxl_host_port.hpp"
#include "hwmodels/packet/cxl/cxl_switch_box.hpp"

namespace tiersim {

class CxlFabric {
 public:
  struct Shape {
    std::vector<std::int64_t> outstanding;  ///< lines in flight; one entry for each host
    std::size_t devices = 1;
    std::uint64_t interleave = 256;
  };
  /// `memories` may be empty: then config.device has the memory's latency and rate. Precondition:
  /// one host and one device unless the configuration has a switch.
  CxlFabric(Engine& engine, const CxlPacketConfig& config, const Shape& shape,
            const std::vector<MemoryPort*>& memories, CxlHostPort::Owner& owner);

  CxlHostPort& host(std::size_t index) { return *hosts_[index]; }
  const CxlDeviceBox& device(std::size_t index) const { return *devices_[index]; }
  std::size_t devices() const { return devices_.size(); }
  /// The first host's link.
  const FlitChannel& down() const { return *channels_[0]; }
  const FlitChannel& up() const { return *channels_[1]; }
  const std::vector<std::unique_ptr<FlitChannel>>& channels() const { return channels_; }

 private:
  CxlSwitchBox::Link add_link(Engine& engine, const CxlPacketConfig& config,
                              FlitChannel::Options down, FlitChannel::Options up);

  std::vector<std::unique_ptr<FlitChannel>> channels_;
  std::vector<std::unique_ptr<CxlHostPort>> hosts_;
  std::vector<std::unique_ptr<CxlDeviceBox>> devices_;
  std::unique_ptr<CxlSwitchBox> switch_;
};

}  // namespace tiersim
