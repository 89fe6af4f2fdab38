#pragma once
// The small system with GPUs connected by ports of 10 GB/s a direction and 200 ns one way, without
// headers; their collectives have no start-up.
#include "hwmodels/collective/bytes_only.hpp"
#include "hwmodels/collective/direct.hpp"
#include "hwmodels/link/nvlink.hpp"
#include "tests/unit/step/small_system.hpp"

namespace tiersim::testing {

inline DeviceConfig<Link> port(Bandwidth raw) {
  using namespace literals;
  using namespace std::chrono_literals;
  NvlinkConfig c;
  c.raw.value = raw;
  c.efficiency.value = 1.0;
  c.sector.value = 1_B;
  c.packet.value = 1_GiB;
  c.header.value = 0_B;
  c.latency.value = 400ns;
  return fixed<Link>(c);
}

inline SystemConfig small_fabric(std::int64_t gpus) {
  using namespace literals;
  SystemConfig c = small_system();
  c.gpus.count = gpus;
  c.links["port"] = port(10_GBps);
  FabricConfig& fabric = c.fabrics["tensor"];
  fabric.collective = fixed<Collective>(BytesOnlyConfig{});
  fabric.path = {"port"};
  return c;
}

/// The same with a link that all GPUs share and none uses, so that each GPU is simulated.
inline SystemConfig each_simulated(SystemConfig c) {
  using namespace literals;
  c.links["spine"] = port(1000_GBps);
  c.shared.all = {"spine"};
  return c;
}

inline Op collective(const System& system, CollectiveKind kind, Bytes size, std::int64_t ranks,
                     OpIds after = {}) {
  Op op{.kind = OpKind::collective,
        .phase = Phase::collective,
        .flops = {},
        .collective = {.kind = kind, .size = size, .ranks = ranks},
        .after = std::move(after)};
  for (const Direction direction : {Direction::read, Direction::write})
    op.accesses.push_back({system.tier("hbm"), direction, TensorClass::activations, size, size});
  return op;
}
inline Op all_reduce(const System& system, Bytes size, std::int64_t ranks, OpIds after = {}) {
  return collective(system, CollectiveKind::all_reduce, size, ranks, std::move(after));
}

}  // namespace tiersim::testing
