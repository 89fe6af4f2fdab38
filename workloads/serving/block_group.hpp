#pragma once
// The blocks of a sequence where layers keep different numbers of positions. A block of the pool
// then holds `positions` positions of some of the layers, as many in each group: of a model with 10
// layers that keep everything and 52 with a window, a block is of 2 layers, and the groups take 5
// and 26. A state of linear attention is a group of one stretch, whatever the number of positions.
#include <algorithm>
#include <cstdint>
#include <span>

namespace tiersim {

struct BlockGroup {
  std::int64_t blocks = 1;  ///< for each stretch of positions
  std::int64_t most = 0;    ///< stretches that are kept; 0: all
  std::int64_t chunk = 0;   ///< positions that are dropped together; 0: no chunks, but a window
  bool is_state = false;    ///< its one stretch is a state, and no positions

  friend bool operator==(const BlockGroup&, const BlockGroup&) = default;
};

/// Blocks of one sequence of `positions`, in stretches of `block` positions.
inline std::int64_t blocks_of(std::span<const BlockGroup> groups, std::int64_t block,
                              std::int64_t positions) {
  const std::int64_t stretches = (positions + block - 1) / block;
  std::int64_t sum = 0;
  for (const BlockGroup& group : groups)
    sum += group.blocks * (group.most > 0 ? std::min(stretches, group.most) : stretches);
  return sum;
}

}  // namespace tiersim
