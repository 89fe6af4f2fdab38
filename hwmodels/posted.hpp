#pragma once
// Reads wait for an answer. Writes are posted: the writer does not wait, and the bytes arrive after
// one way, which is taken as half of the round trip.
#include "sim/base/units.hpp"
#include "sim/model/step_graph.hpp"

namespace tiersim {

/// Latency that a link with this unloaded round trip adds to an access; half a picosecond rounds
/// up.
constexpr Duration latency_of(Direction direction, Duration round_trip) {
  if (direction == Direction::read) return round_trip;
  return Duration(round_trip.count() / 2 + round_trip.count() % 2);
}

}  // namespace tiersim
