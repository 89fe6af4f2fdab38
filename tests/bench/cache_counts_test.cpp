#include <array>

#include <gtest/gtest.h>

#include "sim/base/rng.hpp"
#include "tests/support/allocations.hpp"
#include "workloads/eviction/block_cache.hpp"

namespace tiersim::cache_counts_test {
namespace {

// A full cache that has met its names allocates nothing for a prompt. Ghosts are remembered, so
// that their tables have grown before, too.
TEST(CacheCounts, APromptAllocatesNothingInAFullCache) {
  for (const std::string_view policy : kEvictionNames) {
    BlockCache cache(policy, 1'000);
    Rng rng(3, "counts");
    const auto look_up = [&](int prompts) {
      for (int k = 0; k < prompts; ++k) {
        std::array<Visit, 4> prompt;
        const std::uint64_t first = rng.below(2'000);
        for (std::size_t b = 0; b < prompt.size(); ++b) prompt[b].key = 8 * first + b;
        cache.look_up(prompt);
      }
    };
    look_up(40'000);
    const std::uint64_t before = testing::allocations();
    look_up(10'000);
    EXPECT_EQ(testing::allocations() - before, 0U) << policy;
  }
}

}  // namespace
}  // namespace tiersim::cache_counts_test
