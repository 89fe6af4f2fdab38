#pragma once
// Model card: pcie (fidelity: flow)
//   Models    one PCI Express link as two directional capacities in wire bytes. A read sends
//   requests
//             one way and completions the other; a write sends posted packets one way.
//   Equation  capacity = raw * link_efficiency (ACK, flow control and SKIP);
//             read: MRd 24 B for each max_read_request, CplD 20 B + data for each max_payload;
//             write: MWr 24 B + data for each max_payload.
//   Ignores   that a posted write needs one way only (it is charged a read's latency),
//             credits and tags (a RequestEngine limits what is in flight), ordering, completion
//             boundaries (RCB), errors and replays.
//   Valid     requests aligned to their size.
//   Source    PCI Express base specification; header sizes as in the pcie-bench model (SIGCOMM
//   2018). Checked   tests/unit/hwmodels/link_test.cpp against that model's figures, 1 %
#include "sim/base/number_class.hpp"
#include "sim/model/device_spec.hpp"

namespace tiersim {

struct PcieConfig {
  Sourced<Bandwidth> raw;
  Sourced<double> link_efficiency;
  Sourced<Bytes> max_payload;
  Sourced<Bytes> max_read_request;
  Sourced<Duration> latency;
};

void describe(Fields& f, PcieConfig& c);
std::unique_ptr<Link> make_device(const PcieConfig& config);
void register_pcie(Registry<DeviceKind<Link>>& registry);

}  // namespace tiersim
