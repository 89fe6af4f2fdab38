#pragma once
// Model card: routed (collectives over the topology of the system; fidelity: flow)
//   Models    the algorithms of topology/collective_flows.hpp on the links and paths of the
//             system's topology: NCCL across nodes, all-to-all along rails, DeepEP's kernels.
//   Equation  start + sum over phases of (near_hops near + far_hops far + peers peer +
//             steps T / busy), T = the time of a step's flows as they share the links. T is
//             proportional to the size, so that each pattern is simulated once. A rank's bytes on
//             its own port and, to other domains, on its adapter are flows of the system's links.
//             `auto` is the fastest variant that serves the operation. An exchange whose hottest
//             rank receives `hot` times the mean takes at least so many times what the links that
//             lead to one rank alone take.
//   Ignores   other groups that use the links at the same time; SMs that the kernels take; the
//             time of additions; waiting for the slowest rank.
//   Valid     ranks 0 to n - 1 of the topology. Of more than 4096 kinds of flows only the bound
//             is computed, and the algorithm's name then ends with "bound".
//   Source    configs/devices/collective_routed_*.yaml
//   Checked   tests/unit/hwmodels/routed_collective_test.cpp, tests/theory/topology_theory_test.cpp
#include <map>
#include <string>

#include "hwmodels/topology/collective_flows.hpp"
#include "sim/base/number_class.hpp"
#include "sim/model/device_spec.hpp"

namespace tiersim {

inline constexpr std::string_view kRoutedKind = "routed";

/// An algorithm with what its kernels cost beside the bytes.
struct RoutedVariant {
  RoutedAlgorithm algorithm = RoutedAlgorithm::ring;
  Sourced<Duration> start;
  Sourced<Duration> near{Duration{}, NumberClass::assumed, "0: not stated"};
  Sourced<Duration> far{Duration{}, NumberClass::assumed, "0: not stated"};
  Sourced<Duration> peer{Duration{}, NumberClass::assumed, "0: not stated"};
  Sourced<double> busy{1, NumberClass::assumed, "1: not stated"};
  std::int64_t most_nodes = 0;
};
void describe(Fields& f, RoutedVariant& c);

struct RoutedConfig {
  std::string use = "auto";
  std::map<std::string, RoutedVariant> variants;
};

void describe(Fields& f, RoutedConfig& c);
std::unique_ptr<Collective> make_device(const RoutedConfig& config);
void register_routed(Registry<DeviceKind<Collective>>& registry);

}  // namespace tiersim
