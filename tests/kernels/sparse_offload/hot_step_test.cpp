// Planted mistake              caught by
// no_barrier_before_tile       greedy_warp: a warp copies by moves that others have not listed
// no_barrier_before_victims    greedy_warp, as in lru_update
// newest_evicted               any schedule
// wrong_source                 any schedule
#include "kernels/cases/hot_step_case.cuh"

#include <gtest/gtest.h>

#include "tests/kernels/support/emulated_case.hpp"
#include "tests/kernels/support/planted_race.hpp"

namespace tiersim::kernels::hot_step_test {
namespace {

template <bool Staged, Mistake M = Mistake::none>
MakeCase step(const HotShape& shape, int blocks) {
  return [=] { return std::make_unique<HotStepCase<64, 2, Staged, M>>(shape, blocks); };
}

HotShape shape_of(std::vector<int> lengths, int k, int slots, int misses) {
  return {.batch = static_cast<int>(lengths.size()),
          .context = 300,
          .k = k,
          .slots = slots,
          .misses = misses,
          .free = 3,
          .lengths = lengths};
}

TEST(HotStep, DecidesAndFetches) {
  expect_right_and_counted(step<false>(shape_of({300, 131, 40, 39, 1, 0}, 41, 97, 11), 1));
  expect_right_and_counted(step<false>(shape_of({300, 131}, 40, 96, 40), 3));
}

TEST(HotStep, LaysAllRowsSideBySide) {
  expect_right_and_counted(step<true>(shape_of({300, 131, 40, 39, 1, 0}, 41, 97, 11), 1));
  expect_right_and_counted(step<true>(shape_of({300, 131}, 40, 96, 0), 3));
}

TEST(HotStep, PlantedMistakesAreCaught) {
  const HotShape shape = shape_of({300, 131}, 40, 96, 11);
  EXPECT_FALSE(is_caught(step<true>(shape, 2)));
  EXPECT_TRUE(is_caught(step<false, Mistake::newest_evicted>(shape, 2)));
  EXPECT_TRUE(is_caught(step<false, Mistake::wrong_source>(shape, 2)));
}

TEST(HotStep, AMissingBarrierIsCaught) {
  TS_SKIP_UNDER_TSAN();
  // A list of both warps, whole: lanes behind its end would read numbers that are any index.
  const HotShape shape = shape_of({300}, 96, 120, 60);
  EXPECT_FALSE(is_caught(step<false>(shape, 2)));
  EXPECT_TRUE(is_caught(step<false, Mistake::no_barrier_before_tile>(shape, 2)));
  EXPECT_TRUE(is_caught(step<false, Mistake::no_barrier_before_victims>(shape, 2)));
}

}  // namespace
}  // namespace tiersim::kernels::hot_step_test
