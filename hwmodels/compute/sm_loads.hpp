#pragma once
// Model card: sm_loads (fidelity: flow)
//   Models    kernels that load from or store to remote memory: a measured capacity for each
//             direction, the sector as the smallest unit moved, and for loads the bytes that the
//             SMs keep in flight and the number of outstanding requests.
//   Equation  sectors(run) = run rounded up to whole sectors, in every term and on the links;
//             loads: rate <= min(bandwidth, window / RTT(rate)), where window is the least of
//             in_flight and outstanding * min(sectors(run), request size): request_window.hpp;
//             stores are posted: rate <= bandwidth; n runs take time >= n * run_time.
//             With `sms`, a transfer holds taken of the GPU's `of` SMs (the channel gpu.sms):
//             arithmetic beside it takes of / (of - taken) times as long. With `each_to_gpu` and
//             `each_from_gpu`, rate <= taken * that of one SM.
//   Ignores   without `sms`, the SMs that such a kernel takes from others. With `sms`, the SMs
//             that a memory-bound kernel needs, and the longer hold of SMs by a gather that others
//             slow down. The write buffers behind stores; stores of part of a sector, which a
//             link would carry with fewer bytes; the size of the whole buffer (an A100 reads 1 GiB
//             of host memory at 25 GB/s and 20 GiB at 16.5: sm_loads_gen4_x16_20gib.yaml; an H200
//             in a virtual machine reads rows of 256 B of 512 MiB at 48 GB/s and of 4 GiB at 11.3:
//             sm_loads_gen5_x16_h200_4gib.yaml).
//   Valid     runs that start on a sector; each has its sectors to itself.
//   Source    nvbandwidth on H100, PCIe Gen5 x16: 35.2 GB/s host to device, 52.77 device to host;
//             sectors of 32 B: CUDA C++ Best Practices Guide, coalesced access to global memory.
//   Checked   tests/unit/hwmodels/requests_test.cpp, tests/unit/step/held_sms_test.cpp
#include <optional>

#include "hwmodels/compute/request_window.hpp"
#include "sim/base/number_class.hpp"
#include "sim/model/device_spec.hpp"

namespace tiersim {

/// SMs that a data-moving kernel occupies (`taken`) out of those of the GPU (`of`).
struct HeldSms {
  Sourced<std::int64_t> taken;
  Sourced<std::int64_t> of;
  std::optional<Sourced<Bandwidth>> each_to_gpu =
      {};  ///< loads of one SM; not a limit where absent
  std::optional<Sourced<Bandwidth>> each_from_gpu = {};  ///< likewise, its stores
};

struct SmLoadsConfig {
  Sourced<Bandwidth> to_gpu;
  Sourced<Bandwidth> from_gpu;
  Sourced<Bytes> in_flight;
  Sourced<Bytes> sector{Bytes::from_base(32), NumberClass::specification,
                        "CUDA C++ Best Practices Guide: global memory is accessed in 32 B"};
  std::optional<OutstandingRequests> outstanding;
  std::optional<Sourced<Duration>> run_time;  ///< least time for each contiguous run
  std::optional<HeldSms> sms;
};

void describe(Fields& f, HeldSms& c);
void describe(Fields& f, SmLoadsConfig& c);
std::unique_ptr<Requester> make_device(const SmLoadsConfig& config);
void register_sm_loads(Registry<DeviceKind<Requester>>& registry);

}  // namespace tiersim
