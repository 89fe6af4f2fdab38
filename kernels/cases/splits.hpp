// The number of splits of each sequence in a decode kernel.
#pragma once
#include <cstdint>

namespace tiersim::kernels {

struct SplitCosts {
  std::int64_t slots = 1;         // blocks that run at once on the card
  std::int64_t start_tokens = 0;  // overhead of a block's start, in tokens
  // Overhead of a part, in tokens: its partial result is written and read
  std::int64_t part_tokens = 0;
};

// The number of splits, of at least 128 tokens each, for which waves of blocks take the least time;
// the smallest of equals. blocks: number of blocks without splits.
constexpr int splits_for(std::int64_t blocks, std::int64_t context, const SplitCosts& costs) {
  std::int64_t best = 1;
  std::int64_t best_time = 0;
  for (std::int64_t splits = 1; splits == 1 || (splits <= 256 && context / splits >= 128);
       ++splits) {
    const std::int64_t waves = (blocks * splits + costs.slots - 1) / costs.slots;
    const std::int64_t tokens =
        (context + splits - 1) / splits + costs.start_tokens + (splits > 1 ? costs.part_tokens : 0);
    if (best_time == 0 || waves * tokens < best_time) {
      best = splits;
      best_time = waves * tokens;
    }
  }
  return static_cast<int>(best);
}

}  // namespace tiersim::kernels
