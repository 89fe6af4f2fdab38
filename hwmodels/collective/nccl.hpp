#pragma once
// Model card: nccl (NCCL's rings, trees and switch reductions; fidelity: flow)
//   Models    NCCL inside one NVLink domain, or one rank a node over a network: each algorithm and
//             protocol as a start-up, hops that follow each other, and bytes that are flows of the
//             port. LL sends a flag with each 4 B, LL128 8 B of flags in 128, Simple none.
//   Equation  n ranks, size S. time = start + hops * hop + max(sent / port, sent / (busy * port),
//             bytes / rate), sent = bytes / payload; a hop takes at least the port's latency.
//               ring   all_reduce 2 (n - 1) hops, 2 (n - 1) / n S bytes; reduce_scatter and
//                      all_gather half of both
//               tree   all_reduce only: up and down a chain, 2 (n - 1) hops, 2 S (S for n = 2)
//               nvls   all_reduce only: the switch adds up and copies, 2 hops, (n + 1) / n S
//             all_to_all and send are point to point, LL or Simple: n - 1 hops and (n - 1) / n S, 1
//             hop and S. `auto` is the fastest; a fixed algorithm that does not serve a collective
//             leaves it to `auto`.
//   Ignores   nodes of several GPUs; chunks and channels; NCCL's own corrections of trees at middle
//             sizes; NVLS for reduce_scatter and all_gather, CollNet, PAT; tables of tuners.
//   Valid     1 KB-1 GB. NVLS's bytes fall with n, so `auto` may take less time on more ranks. On 8
//             H100 it is up to 21 % below timings of less than 1 MiB in a CUDA graph, and 32-38 %
//             below those of 4-16 MiB through PyTorch (issue 57 of ByteDance-Seed/
//             Triton-distributed): NCCL's own model is too.
//   Source    NCCL's tuning model, src/graph/tuning.cc: its constants stand in the YAML.
//   Checked   tests/unit/hwmodels/collective_test.cpp, tests/validation/collective_curves_test.cpp
#include <array>
#include <optional>

#include "hwmodels/packet/collective/collective_packet_config.hpp"
#include "sim/base/number_class.hpp"
#include "sim/model/device_spec.hpp"

namespace tiersim {

enum class NcclAlgorithm : std::uint8_t {
  automatic,
  ring_ll,
  ring_ll128,
  ring_simple,
  tree_ll,
  tree_ll128,
  tree_simple,
  nvls,
};
inline constexpr std::array<std::string_view, 8> kNcclAlgorithmNames{
    "auto", "ring_ll", "ring_ll128", "ring_simple", "tree_ll", "tree_ll128", "tree_simple", "nvls"};
constexpr std::string_view name(NcclAlgorithm a) {
  return kNcclAlgorithmNames[static_cast<std::size_t>(a)];
}

/// Constants of an algorithm with its protocol.
struct NcclConstants {
  Sourced<Duration> start;
  Sourced<Duration> hop;
  Sourced<double> payload;              ///< share of payload in the bytes sent; the rest is flags
  std::optional<Sourced<double>> busy;  ///< share of the port's bandwidth that it reaches
  std::optional<Sourced<Bandwidth>> rate;  ///< payload rate in each direction
};

struct NcclConfig {
  NcclAlgorithm algorithm = NcclAlgorithm::automatic;
  /// Indexed by NcclAlgorithm, where `automatic` is unused; empty where the system lacks the
  /// algorithm.
  std::array<std::optional<NcclConstants>, kNcclAlgorithmNames.size()> of;
  std::optional<CollectivePacketConfig> packet_level;  ///< further parameters of the packet level
};

void describe(Fields& f, NcclConstants& c);
void describe(Fields& f, NcclConfig& c);
std::unique_ptr<Collective> make_device(const NcclConfig& config);
void register_nccl(Registry<DeviceKind<Collective>>& registry);

}  // namespace tiersim
