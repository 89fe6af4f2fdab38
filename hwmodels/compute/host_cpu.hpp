#pragma once
// Model card: host_cpu (fidelity: flow)
//   Models    the CPUs of a host that attend to keys and values where these lie, in a memory that
//             they reach without the GPU's links: the rate at which they take bytes of the cache.
//   Equation  rate <= min(attention, the memory's own rate); all GPUs of a host share it.
//   Ignores   arithmetic as a limit of its own, which the rate includes; caches and NUMA; threads
//             that other work takes; the call of the CPU by the GPU and back.
//   Valid     decode attention, whose bytes are read once. The rate is that of a program: FlexGen
//             converts its rows to fp32 first and so takes a fifth of the memory's rate.
//   Source    Sheng et al. 2023, FlexGen, arXiv 2303.06865: attention delegated to the CPU
//   Checked   tests/unit/step/host_offload_test.cpp, tests/theory/serving_batch_test.cpp
#include <memory>

#include "sim/base/number_class.hpp"
#include "sim/model/device_spec.hpp"

namespace tiersim {

struct HostCpuConfig {
  Sourced<Bandwidth> attention;
};
void describe(Fields& f, HostCpuConfig& c);
std::unique_ptr<Requester> make_device(const HostCpuConfig& config);
void register_host_cpu(Registry<DeviceKind<Requester>>& registry);

/// The kind's name, which no request engine of a GPU may have.
inline constexpr std::string_view kHostCpuKind = "host_cpu";

}  // namespace tiersim
