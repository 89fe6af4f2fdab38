#pragma once
// Model card: cxl (CXL.mem over 68-byte flits; fidelity: flow)
//   Models    `ports` equal CXL ports that addresses are interleaved over, as two directional
//             capacities. Traffic is in 64 B lines; a flit of 68 B has four slots.
//   Equation  capacity = ports * raw * 128/130 per direction;
//             a read line takes 4.5 slots towards the GPU and 1 from it, a written line .5 and 5.
//             So lines/s = slots/s / max(4.5 r + .5 (1 - r), r + 5 (1 - r)) at read share r.
//   Ignores   that a posted write needs one way only (it is charged a read's latency),
//             credits, head-of-line blocking, retries, uneven interleaving.
//   Valid     68 B flits (CXL 1.1 and 2.0, Gen5).
//   Source    CXL 2.0 specification, flit packing; x8: 26.4 GB/s read, 37.5 at 2:1, 23.7 write.
//   Checked   tests/unit/hwmodels/link_test.cpp
#include "sim/base/number_class.hpp"
#include "sim/model/device_spec.hpp"

namespace tiersim {

struct CxlConfig {
  Sourced<Bandwidth> raw;
  Sourced<std::int64_t> ports;
  Sourced<Duration> latency;
};

void describe(Fields& f, CxlConfig& c);
std::unique_ptr<Link> make_device(const CxlConfig& config);
void register_cxl(Registry<DeviceKind<Link>>& registry);

}  // namespace tiersim
