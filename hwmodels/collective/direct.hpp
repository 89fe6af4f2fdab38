#pragma once
// Model card: direct (kernels that store to their peers, or load from them; fidelity: flow)
//   Models    the all-reduce kernels of serving engines and of MSCCL++. One shot: each rank sends
//             its whole buffer to every peer, and each adds up all of them. Two shots: each rank
//             adds up one piece, then sends the sum to every peer. The bytes are flows of the
//             port.
//   Equation  n ranks, size S, rate B of the kernel:
//             one shot   one_shot + (n - 1) peer + (n - 1) S / B
//             two shots  two_shot + 2 (n - 1) peer + 2 (n - 1) / n S / B
//             reduce_scatter, all_gather, all_to_all: one exchange of pieces, one_shot +
//             (n - 1) peer + (n - 1) / n S / B; send: one_shot + peer + S / B.
//             The bytes take at least their time on the port, and the start-up at least the port's
//             latency for each exchange. `auto` is the faster of the two all-reduces.
//   Ignores   waiting for the slowest rank; the additions; SMs that the kernel takes from others;
//             buffers that are too small for the size.
//   Valid     one NVLink domain, 2-8 ranks; timed up to 1 MiB and, one shot on 6 ranks, 4 MiB.
//   Source    configs/devices/collective_direct_*.yaml say which timings each number comes from.
//   Checked   tests/unit/hwmodels/collective_test.cpp, tests/validation/collective_curves_test.cpp
#include <array>

#include "sim/base/number_class.hpp"
#include "sim/model/device_spec.hpp"

namespace tiersim {

/// Algorithm of an all-reduce; every other collective has only one.
enum class DirectAlgorithm : std::uint8_t { automatic, one_shot, two_shot };
inline constexpr std::array<std::string_view, 3> kDirectAlgorithmNames{"auto", "one_shot",
                                                                       "two_shot"};
constexpr std::string_view name(DirectAlgorithm a) {
  return kDirectAlgorithmNames[static_cast<std::size_t>(a)];
}

struct DirectConfig {
  DirectAlgorithm algorithm = DirectAlgorithm::automatic;
  Sourced<Duration> one_shot;
  Sourced<Duration> two_shot;
  Sourced<Duration> peer;
  Sourced<Bandwidth> rate;
};

void describe(Fields& f, DirectConfig& c);
std::unique_ptr<Collective> make_device(const DirectConfig& config);
void register_direct(Registry<DeviceKind<Collective>>& registry);

}  // namespace tiersim
