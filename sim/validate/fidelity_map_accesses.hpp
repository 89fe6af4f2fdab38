#pragma once
// Accesses at the analytic and the flow level, with the same costs of the same devices: each alone,
// or all together.
//   Equation  analytic: latency + the longest time of its channels and its window, independent of
//             other accesses. Flow: the same without contention, else max-min fair in the bytes of
//             each access's widest channel, like the executor. Accesses with a weight share by it
//             in payload, which keeps the proportion of a mix of reads and writes.
//   Ignores   the same as the flow models of the devices.
//   Checked   tests/unit/validate/fidelity_map_test.cpp
#include <string>
#include <vector>

#include "sim/model/device.hpp"
#include "sim/record/fidelity_map_record.hpp"

namespace tiersim {

/// One access, or a stream of accesses, from its beginning to its end.
struct LevelAccess {
  struct Part {
    const Device* device = nullptr;
    std::size_t instance = 0;  ///< of several equal devices
    AccessCost cost = {};
  };
  std::vector<Part> parts = {};
  Bytes payload{};
  Duration latency{};       ///< before the first byte; none for a measure of rate
  Duration least{};         ///< duration due to its requester's window
  std::int64_t weight = 0;  ///< 0: shares like the executor
};

/// The measured quantity.
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

/// An access to one device without other limits and without its latency.
LevelAccess ask_of(const Device& device, Direction direction, Bytes payload, Bytes run,
                   std::size_t instance = 0);
/// Adds a device and its cost to the access.
void add_part(LevelAccess& access, const Device& device, AccessCost cost, std::size_t instance = 0);
/// The sum over the access's parts.
Duration latency_of(const LevelAccess& access);

/// The result at `level`, which is analytic or flow.
LevelAnswer answer_of(const std::vector<LevelAccess>& accesses, LevelMeasure measure,
                      Fidelity level);

}  // namespace tiersim
