#pragma once
// H100s of one NVLink domain and the libraries of collectives on them, with the numbers shipped in
// configs/devices/{nvlink4_h100,nvswitch,collective_nccl_nvlink4,collective_direct_nvlink4}.yaml.
#include "hwmodels/packet/collective/collective_probe.hpp"
#include "hwmodels/packet/nvlink/nvlink_probe.hpp"

namespace tiersim::testing {

using namespace std::chrono_literals;
using namespace literals;

inline NvlinkNode h100_node() {
  NvlinkNode node;
  node.port.raw.value = 450_GBps;
  node.port.efficiency.value = 0.888;
  node.port.sector.value = 32_B;
  node.port.packet.value = 256_B;
  node.port.header.value = 16_B;
  node.port.latency.value = 700ns;
  node.switch_latency.value = 400ns;
  return node;
}

inline NcclConstants nccl_constants(Duration start, Duration hop, double payload) {
  NcclConstants c;
  c.start.value = start;
  c.hop.value = hop;
  c.payload.value = payload;
  return c;
}

inline NcclConfig h100_nccl() {
  NcclConfig c;
  const auto of = [&](NcclAlgorithm a) -> auto& {
    return c.of[static_cast<std::size_t>(a)];
  };
  using enum NcclAlgorithm;
  of(ring_ll) = nccl_constants(6600ns, 600ns, 0.5);
  of(ring_ll)->rate = Sourced<Bandwidth>{141_GBps};
  of(ring_ll128) = nccl_constants(14us, 1900ns, 0.9375);
  of(ring_simple) = nccl_constants(8400ns, 3400ns, 1);
  of(tree_ll) = nccl_constants(6800ns, 600ns, 0.5);
  of(tree_ll)->busy = Sourced<double>{0.449};
  of(tree_ll128) = nccl_constants(14us, 1250ns, 0.9375);
  of(tree_ll128)->busy = Sourced<double>{0.708};
  of(tree_simple) = nccl_constants(8400ns, 4us, 1);
  of(tree_simple)->busy = Sourced<double>{0.854};
  of(nvls) = nccl_constants(25us, 0us, 1);
  of(nvls)->busy = Sourced<double>{0.769};
  return c;
}

inline DirectConfig h100_direct() {
  DirectConfig c;
  c.one_shot.value = 4430ns;
  c.two_shot.value = 6160ns;
  c.peer.value = 210ns;
  c.rate.value = 320_GBps;
  return c;
}

inline CollectiveProbeConfig h100_collectives() {
  return {.node = h100_node(), .nccl = h100_nccl(), .direct = h100_direct()};
}

}  // namespace tiersim::testing
