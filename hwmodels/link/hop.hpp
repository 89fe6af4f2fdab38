#pragma once
// Model card: hop (a root complex or switch on a path; fidelity: analytic)
//   Models    a fixed latency for each crossing. The ports on its two sides hold the capacities.
//   Equation  t = crossings * latency
//   Ignores   that a posted write needs one way only (it is charged a read's latency),
//             internal bandwidth, arbitration, head-of-line blocking.
//   Valid     where the ports beside it are the narrower ones.
//   Source    CXL switch hop: 90 ns, as in HARDWARE tables; class in the YAML.
//   Checked   tests/unit/hwmodels/link_test.cpp
#include "sim/base/number_class.hpp"
#include "sim/model/device_spec.hpp"

namespace tiersim {

struct HopConfig {
  Sourced<Duration> latency;
  Sourced<std::int64_t> crossings;
};

void describe(Fields& f, HopConfig& c);
std::unique_ptr<Link> make_device(const HopConfig& config);
void register_hop(Registry<DeviceKind<Link>>& registry);

}  // namespace tiersim
