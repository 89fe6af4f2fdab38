#pragma once
// Model card: hop (a root complex or switch on a path; fidelity: analytic, flow with a capacity)
//   Models    a fixed latency for each crossing and, where stated, a capacity for each direction
//             in bytes of payload. Otherwise the ports on its two sides are the capacities.
//   Equation  read: t = crossings * latency; a posted write takes half of it, one way.
//   Ignores   arbitration, head-of-line blocking, headers inside.
//   Valid     without a capacity: where the ports beside it are the narrower ones.
//   Source    CXL 2.0 switch: 90 ns a hop, a vendor's figure; class in the YAML.
//   Checked   tests/unit/hwmodels/link_test.cpp
#include <optional>

#include "hwmodels/packet/nvlink/nvlink_packet_config.hpp"
#include "sim/base/number_class.hpp"
#include "sim/model/device_spec.hpp"

namespace tiersim {

struct HopConfig {
  Sourced<Duration> latency;
  Sourced<std::int64_t> crossings;
  std::optional<Sourced<Bandwidth>> capacity;
  /// Further parameters of an NVLink switch at packet level.
  std::optional<NvswitchPacketConfig> packet_level;
};

void describe(Fields& f, HopConfig& c);
std::unique_ptr<Link> make_device(const HopConfig& config);
void register_hop(Registry<DeviceKind<Link>>& registry);

}  // namespace tiersim
