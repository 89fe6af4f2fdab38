#pragma once
// Accesses as the analytic and the flow level see them: the same costs of the same devices, each
// alone or all together.
//   Equation  analytic: latency + the longest of what its channels and its window take, whoever
//             else is there. Flow: the same where it meets nobody, else max-min fair in the bytes
//             of each access's widest channel, as the executor shares; accesses with a weight share
//             by it in payload, which keeps a mix of reads and writes in its proportion.
//   Ignores   as the flow models of the devices.
//   Checked   tests/unit/validate/fidelity_map_test.cpp
#include <string>
#include <vector>

#include "sim/model/device.hpp"
#include "sim/record/fidelity_map_record.hpp"

namespace tiersim {

/// One access, or a stream of them, from its beginning to its end.
struct LevelAccess {
  struct Part {
    const Device* device = nullptr;
    std::size_t instance = 0;  ///< of several equal devices
    AccessCost cost = {};
  };
  std::vector<Part> parts = {};
  Bytes payload{};
  Duration latency{};       ///< before the first byte; none where a rate is asked for
  Duration least{};         ///< what its requester's window takes
  std::int64_t weight = 0;  ///< 0: as the executor
};

/// What is asked of accesses.
struct LevelMeasure {
  enum class Kind : std::uint8_t {
    rate,         ///< payload of all until the last one ends, GB/s
    rate_of_one,  ///< of `index` until the first one ends, GB/s
    time,         ///< until the last one ends, us
    time_of_one,  ///< until `index` ends, ns
  };
  Kind kind = Kind::rate;
  std::size_t index = 0;
};
/// "GB/s", "us" or "ns".
std::string unit_of(LevelMeasure::Kind kind);

/// An access of one device that nothing else limits, without its latency.
LevelAccess ask_of(const Device& device, Direction direction, Bytes payload, Bytes run,
                   std::size_t instance = 0);
/// What this adds to its parts.
void add_part(LevelAccess& access, const Device& device, AccessCost cost, std::size_t instance = 0);
/// Sum over its parts.
Duration latency_of(const LevelAccess& access);

/// `level` is analytic or flow.
LevelAnswer answer_of(const std::vector<LevelAccess>& accesses, LevelMeasure measure,
                      Fidelity level);

}  // namespace tiersim
