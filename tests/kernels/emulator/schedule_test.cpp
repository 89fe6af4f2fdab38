// Schedules: the seed determines everything, and each kind of order and of landing finds a race
// that the others hide.
#include <gtest/gtest.h>

#include <vector>

#include "kernels/device/async_copy.cuh"
#include "kernels/device/memory.cuh"
#include "kernels/emulator/sanitizer.hpp"
#include "kernels/runtime/array.cuh"
#include "tests/kernels/emulator/complaint.hpp"
#include "tests/kernels/support/planted_race.hpp"

namespace tiersim::kernels::schedule_test {
namespace {

using emulator::Landing;
using emulator::Options;
using emulator::Order;

// Number of 20 seeds that show the race: body sets `wrong`.
template <class Body>
int seeds_that_show(Order order, Landing landing, const Shape& shape, const Body& body) {
  int shown = 0;
  for (std::uint64_t seed = 1; seed <= 20; ++seed) {
    Shape seeded = shape;
    seeded.options.order = order;
    seeded.options.landing = landing;
    seeded.options.seed = seed;
    bool wrong = false;
    EXPECT_EQ(complaint(seeded, [&] { body(wrong); }), "");
    shown += wrong ? 1 : 0;
  }
  return shown;
}

std::vector<int> order_of_steps(Order order, std::uint64_t seed) {
  std::vector<int> steps;
  Options options;
  options.order = order;
  options.seed = seed;
  EXPECT_EQ(complaint({64, 0, 2, options},
                      [&] {
                        for (int step = 0; step < 3; ++step) {
                          {
                            const emulator::OwnWork scope;
                            steps.push_back(static_cast<int>(threadIdx.x));
                          }
                          __syncwarp();
                        }
                        __syncthreads();
                      }),
            "");
  return steps;
}

TEST(Schedule, IsDecidedByTheSeed) {
  for (const Order order : {Order::in_order, Order::shuffled, Order::greedy_warp}) {
    EXPECT_EQ(order_of_steps(order, 7), order_of_steps(order, 7));
  }
  EXPECT_NE(order_of_steps(Order::shuffled, 7), order_of_steps(Order::shuffled, 8));
  EXPECT_EQ(order_of_steps(Order::in_order, 7), order_of_steps(Order::in_order, 8));
}

TEST(Schedule, GreedyWarpRunsAheadUntilABarrier) {
  const std::vector<int> steps = order_of_steps(Order::greedy_warp, 3);
  ASSERT_EQ(steps.size(), 2U * 64U * 3U);
  for (std::size_t i = 0; i < steps.size(); ++i) {  // all three steps of one warp, then the other's
    EXPECT_EQ(steps[i] / 32, steps[i / 96 * 96] / 32) << i;
  }
}

// Warp 0 reads a word before warp 1 writes it.
TEST(Schedule, InOrderFindsAReaderBeforeItsWriter) {
  TS_SKIP_UNDER_TSAN();
  const auto body = [](bool& wrong) {
    auto* number = shared_memory<volatile int>();
    if (threadIdx.x == 32) *number = 1;
    if (threadIdx.x == 0 && *number != 1) wrong = true;
  };
  EXPECT_EQ(seeds_that_show(Order::in_order, Landing::late, {64, 4}, body), 20);
  EXPECT_LT(seeds_that_show(Order::greedy_warp, Landing::late, {64, 4}, body), 20);
}

// Threads 1 to 31 rely on thread 0 to have run before them, which a fixed order hides.
TEST(Schedule, ShuffledFindsRelianceOnTheThreadNumber) {
  TS_SKIP_UNDER_TSAN();
  const auto body = [](bool& wrong) {
    auto* number = shared_memory<volatile int>();
    if (threadIdx.x == 0) *number = 1;
    if (threadIdx.x == 5 && *number != 1) wrong = true;
  };
  EXPECT_EQ(seeds_that_show(Order::in_order, Landing::late, {32, 4}, body), 0);
  EXPECT_GT(seeds_that_show(Order::shuffled, Landing::late, {32, 4}, body), 3);
}

// A number is wrong between two steps of warp 1; a warp that runs ahead hides it.
TEST(Schedule, ShuffledFindsWhatIsWrongForAMoment) {
  TS_SKIP_UNDER_TSAN();
  const auto body = [](bool& wrong) {
    auto* number = shared_memory<volatile int>();
    if (threadIdx.x >= 32) {
      *number = 1;
      __syncwarp();
      *number = -1;
    } else if (*number != -1) {
      wrong = true;
    }
  };
  EXPECT_EQ(seeds_that_show(Order::in_order, Landing::late, {64, 4}, body), 0);
  EXPECT_EQ(seeds_that_show(Order::greedy_warp, Landing::late, {64, 4}, body), 0);
  EXPECT_GT(seeds_that_show(Order::shuffled, Landing::late, {64, 4}, body), 3);
}

// No barrier between the reads of one round and the writes of the next. Fair orders mostly let
// every warp read first; a warp that runs ahead overwrites data that the other has not read.
TEST(Schedule, GreedyWarpFindsAMissingBarrierThatFairOrdersHide) {
  TS_SKIP_UNDER_TSAN();
  const auto body = [](bool& wrong) {
    auto* numbers = shared_memory<volatile int>();
    for (int turn = 0; turn < 4; ++turn) {
      numbers[threadIdx.x] = turn;
      __syncthreads();
      if (numbers[threadIdx.x ^ 32U] != turn) wrong = true;
      __syncwarp();
    }
  };
  EXPECT_EQ(seeds_that_show(Order::in_order, Landing::late, {64, 256}, body), 0);
  EXPECT_LT(seeds_that_show(Order::shuffled, Landing::late, {64, 256}, body), 10);
  EXPECT_EQ(seeds_that_show(Order::greedy_warp, Landing::late, {64, 256}, body), 20);
}

// ---- landing times of copies; one thread, so that order does not matter

TEST(Landing, LateFindsAMissingWait) {
  const DeviceArray<int> from(std::vector<int>{5, 5, 5, 5}, "from");
  const auto body = [&](bool& wrong) {
    copy_async(shared_memory<int>(), from.data());
    copy_async_commit();
    copy_async_wait<1>();  // one group too many is left in flight
    if (*shared_memory<volatile int>() != 5) wrong = true;
    copy_async_wait<0>();
  };
  EXPECT_EQ(seeds_that_show(Order::in_order, Landing::late, {1, 16}, body), 20);
  EXPECT_EQ(seeds_that_show(Order::in_order, Landing::early, {1, 16}, body), 0);
}

TEST(Landing, EarlyFindsAStageFilledWhileItIsRead) {
  const DeviceArray<int> from(std::vector<int>{5, 5, 5, 5}, "from");
  const auto body = [&](bool& wrong) {
    auto* stage = shared_memory<volatile int>();
    stage[0] = 4;
    copy_async(shared_memory<int>(), from.data());  // copy of the next round, too early
    copy_async_commit();
    if (stage[0] != 4) wrong = true;
    copy_async_wait<0>();
  };
  EXPECT_EQ(seeds_that_show(Order::in_order, Landing::late, {1, 16}, body), 0);
  EXPECT_EQ(seeds_that_show(Order::in_order, Landing::early, {1, 16}, body), 20);
}

// The landing of the second copy is taken for that of the first.
TEST(Landing, MixedFindsRelianceOnTheOrderOfCopies) {
  const DeviceArray<int> from(std::vector<int>{5, 5, 5, 5}, "from");
  const auto body = [&](bool& wrong) {
    auto* stage = shared_memory<volatile int>();
    copy_async(shared_memory<int>(), from.data());
    copy_async(shared_memory<int>(16), from.data());
    copy_async_commit();
    if (stage[4] == 5 && stage[0] != 5) wrong = true;
    copy_async_wait<0>();
  };
  EXPECT_EQ(seeds_that_show(Order::in_order, Landing::late, {1, 32}, body), 0);
  EXPECT_EQ(seeds_that_show(Order::in_order, Landing::early, {1, 32}, body), 0);
  EXPECT_GT(seeds_that_show(Order::in_order, Landing::mixed, {1, 32}, body), 1);
}

}  // namespace
}  // namespace tiersim::kernels::schedule_test
