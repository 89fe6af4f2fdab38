#pragma once
// A system of round numbers for the tests of sim/run: HBM at 100 GB/s, and a pool behind one PCIe
// link of 10 GB/s a direction without headers to speak of, read by a copy engine of 8 GB/s.
#include <memory>
#include <string>

#include "hwmodels/compute/copy_engine.hpp"
#include "hwmodels/compute/roofline_gpu.hpp"
#include "hwmodels/compute/sm_loads.hpp"
#include "hwmodels/link/cxl.hpp"
#include "hwmodels/link/pcie.hpp"
#include "hwmodels/memory/dram.hpp"
#include "sim/step/system.hpp"

namespace tiersim::testing {

/// A device with its fields set by hand instead of read from YAML.
template <class Interface, class Config>
DeviceConfig<Interface> fixed(Config config) {
  return {"fixed", std::make_unique<ConfiguredDevice<Interface, Config>>(std::move(config))};
}

inline DramConfig dram(Bytes capacity, Bandwidth peak) {
  using namespace literals;
  DramConfig c;
  c.capacity.value = capacity;
  c.peak.value = peak;
  c.pseudo_channels = Sourced<std::int64_t>{.value = 1};
  c.atom.value = 1_B;
  c.interleave.value = 256_B;
  c.read_efficiency.value = 1.0;
  c.write_efficiency.value = 1.0;
  c.latency.value = std::chrono::nanoseconds(100);
  return c;
}

/// A port of 32 GB/s and 150 ns that leaves its number of ports open.
inline CxlConfig cxl_port() {
  using namespace literals;
  CxlConfig c;
  c.raw.value = 32_GBps;
  c.latency.value = std::chrono::nanoseconds(150);
  return c;
}

inline SystemConfig small_system() {
  using namespace literals;
  using namespace std::chrono_literals;
  RooflineGpuConfig gpu;
  gpu.peak_bf16.value = gpu.peak_int8.value = 1_TFLOPps;
  gpu.efficiency.value = 1.0;
  gpu.launch.value = 1us;
  SmLoadsConfig sm;
  sm.to_gpu.value = sm.from_gpu.value = 5_GBps;
  sm.in_flight.value = 1_GiB;
  CopyEngineConfig copy;
  copy.to_gpu.value = copy.from_gpu.value = 8_GBps;
  PcieConfig pcie;
  pcie.raw.value = 10_GBps;
  pcie.link_efficiency.value = 1.0;
  pcie.max_payload.value = pcie.max_read_request.value = 1_GiB;
  pcie.latency.value = 400ns;

  SystemConfig c;
  c.name = "small";
  c.gpu = fixed<ComputeUnit>(gpu);
  c.sm = fixed<Requester>(sm);
  c.copy_engine = fixed<Requester>(copy);
  c.links["pcie"] = fixed<Link>(pcie);
  c.tiers["hbm"].memory = fixed<MemoryTier>(dram(1_GiB, 100_GBps));
  c.tiers["pool"].memory = fixed<MemoryTier>(dram(10 * 1_GiB, 50_GBps));
  c.tiers["pool"].path = {"pcie"};
  return c;
}

inline StepGraph empty_graph(const System& system) {
  StepGraph graph;
  graph.tier_names = system.tier_names();
  graph.tokens = 1;
  return graph;
}

/// A kernel that reads `bytes` of HBM and computes `flops`.
inline Op kernel(const System& system, Bytes bytes, Flops flops, OpIds after = {}) {
  Op op{.flops = flops, .after = std::move(after)};
  if (bytes > Bytes{})
    op.accesses = {{system.tier("hbm"), Direction::read, TensorClass::weights, bytes, bytes}};
  return op;
}

/// A copy of `bytes` from the pool to HBM.
inline Op copy(const System& system, Bytes bytes, OpIds after = {}) {
  return {.kind = OpKind::transfer,
          .phase = Phase::gather,
          .requester = RequesterKind::copy_engine,
          .flops = {},
          .accesses = {{system.tier("pool"), Direction::read, TensorClass::keys, bytes, bytes},
                       {system.tier("hbm"), Direction::write, TensorClass::staging, bytes, bytes}},
          .after = std::move(after)};
}

}  // namespace tiersim::testing
