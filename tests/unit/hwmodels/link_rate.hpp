#pragma once
#include <algorithm>
#include <vector>

#include "sim/model/device.hpp"

namespace tiersim::testing {

/// GB/s of payload when accesses of the given costs run at the same time, payloads in the same
/// ratio.
inline double rate_of(const Link& link, Bytes reads, Bytes writes, Bytes run) {
  std::vector<Bytes> busy(link.channels().size());
  const auto add = [&](Direction direction, Bytes payload) {
    if (payload == Bytes{}) return;
    for (const Charge& charge : link.cost(direction, payload, run).charges)
      busy[charge.channel] += charge.busy;
  };
  add(Direction::read, reads);
  add(Direction::write, writes);
  Duration longest{};
  for (std::size_t c = 0; c < link.channels().size(); ++c)
    longest = std::max(longest, busy[c] / link.channels()[c].capacity);
  return static_cast<double>((reads + writes).in_base()) / to_seconds(longest) / 1e9;
}

}  // namespace tiersim::testing
