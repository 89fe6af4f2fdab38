#pragma once
// Operations on links for the tests of PcieStreams and CxlStreams.
#include <vector>

#include "sim/core/engine.hpp"
#include "sim/model/packet_device.hpp"

namespace tiersim::testing {

/// End time of each operation, by tag.
struct Ends final : EventHandler {
  std::vector<SimTime> at = std::vector<SimTime>(16);
  std::vector<int> times = std::vector<int>(16);
  void on_event(Engine& engine, std::uint64_t tag) override {
    at[tag] = engine.now();
    ++times[tag];
  }
  Duration of(std::size_t tag) const { return at[tag].time_since_epoch(); }
};

inline PacketWork one(Direction direction, Bytes payload, Bytes run, Duration spread = {},
                      Duration beyond = {}) {
  return {.accesses = {{direction, payload, run}}, .spread = spread, .beyond = beyond};
}
inline PacketWork reads(Bytes payload, Bytes run, Duration spread = {}, Duration beyond = {}) {
  return one(Direction::read, payload, run, spread, beyond);
}
inline PacketWork writes(Bytes payload, Bytes run, Duration spread = {}, Duration beyond = {}) {
  return one(Direction::write, payload, run, spread, beyond);
}

/// Bytes a second.
inline double rate(Bytes payload, Duration time) {
  return static_cast<double>(payload.in_base()) / to_seconds(time);
}

}  // namespace tiersim::testing
