// Barriers of a block and operations of a warp: their effects, and the errors of their misuse.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "kernels/device/hopper.cuh"
#include "kernels/device/math.cuh"
#include "kernels/device/mma.cuh"
#include "kernels/device/platform.cuh"
#include "tests/kernels/emulator/complaint.hpp"

namespace tiersim::kernels::barrier_test {
namespace {

using ::testing::AllOf;
using ::testing::HasSubstr;

TEST(BlockBarrier, OrdersAllThreads) {
  const auto body = [] {
    auto* numbers = shared_memory<unsigned>();
    numbers[threadIdx.x] = threadIdx.x;
    __syncthreads();
    EXPECT_EQ(numbers[(threadIdx.x + 33) % 96], (threadIdx.x + 33) % 96);
  };
  EXPECT_EQ(complaint({96, std::size_t{96} * 4}, body), "");
}

TEST(BlockBarrier, InTwoPlacesOfTheSourceFails) {
  const auto body = [] {
    // NOLINTNEXTLINE(bugprone-branch-clone): the same barrier in two places is the mistake
    if (threadIdx.x < 32) {
      __syncthreads();
    } else {
      __syncthreads();
    }
  };
  EXPECT_THAT(complaint({64}, body),
              AllOf(HasSubstr("divergent __syncthreads"), HasSubstr("barrier_test.cpp")));
}

TEST(BlockBarrier, DoesNotWaitForThreadsThatEnded) {
  EXPECT_EQ(complaint({64},
                      [] {
                        if (threadIdx.x % 2 == 0) return;
                        __syncthreads();
                      }),
            "");
}

TEST(BlockBarrier, ThatSomeThreadsNeverReachEndsInADeadlockWithItsPlace) {
  const auto body = [] {
    if (threadIdx.x == 0) {
      named_barrier_wait(1, 64);
    } else {
      __syncthreads();
    }
  };
  EXPECT_THAT(complaint({64}, body),
              AllOf(HasSubstr("no thread can go on"), HasSubstr("waits at named_barrier_wait (")));
}

TEST(NamedBarrier, JoinsTheThreadsItCounts) {
  const auto body = [] {
    auto* numbers = shared_memory<unsigned>();
    if (threadIdx.x < 64) {
      numbers[threadIdx.x] = threadIdx.x;
      named_barrier_wait(3, 64);
      EXPECT_EQ(numbers[threadIdx.x ^ 32], threadIdx.x ^ 32);
    }
  };
  EXPECT_EQ(complaint({96, std::size_t{64} * 4}, body), "");
}

TEST(NamedBarrier, ArrivalDoesNotWait) {
  const auto body = [] {
    if (threadIdx.x < 32) {
      named_barrier_arrive(2, 64);
    } else {
      named_barrier_wait(2, 64);
    }
  };
  EXPECT_EQ(complaint({64}, body), "");
}

TEST(NamedBarrier, NumberZeroAndSixteenAreRefused) {
  EXPECT_THAT(complaint({32}, [] { named_barrier_wait(0, 32); }),
              HasSubstr("named barriers are 1 to 15, not 0"));
  EXPECT_THAT(complaint({32}, [] { named_barrier_wait(16, 32); }), HasSubstr("not 16"));
}

TEST(NamedBarrier, TakesWholeWarps) {
  EXPECT_THAT(complaint({32}, [] { named_barrier_wait(1, 48); }),
              HasSubstr("takes whole warps, not 48"));
}

TEST(NamedBarrier, AskedForTwoCountsAtOnceFails) {
  EXPECT_THAT(complaint({64}, [] { named_barrier_wait(1, threadIdx.x < 32 ? 64 : 96); }),
              HasSubstr("named barrier 1 is asked for"));
}

TEST(NamedBarrier, OfMoreThreadsThanComeEndsInADeadlock) {
  EXPECT_THAT(complaint({64}, [] { named_barrier_wait(1, 96); }), HasSubstr("no thread can go on"));
}

TEST(WarpOperation, ShufflesReadTheLaneTheyName) {
  const auto body = [] {
    const int lane = lane_index();
    EXPECT_EQ(__shfl_sync(kAllLanes, lane, 5), 5);
    EXPECT_EQ(__shfl_sync(kAllLanes, lane, 37), 5);
    EXPECT_EQ(__shfl_xor_sync(kAllLanes, lane, 3), lane ^ 3);
    EXPECT_EQ(__shfl_up_sync(kAllLanes, lane, 2), lane < 2 ? lane : lane - 2);
    EXPECT_EQ(__shfl_down_sync(kAllLanes, lane, 4), lane > 27 ? lane : lane + 4);
    EXPECT_EQ(__shfl_xor_sync(kAllLanes, 1.5 * lane, 1), 1.5 * (lane ^ 1));
  };
  EXPECT_EQ(complaint({64}, body), "");
}

TEST(WarpOperation, SumAndMaximumReachEveryLane) {
  const auto body = [] {
    const auto lane = static_cast<float>(lane_index());
    EXPECT_EQ(warp_sum(lane), 496.0F);
    EXPECT_EQ(warp_max(-lane), 0.0F);
    EXPECT_EQ(warp_sum<4>(1.0F), 4.0F);
  };
  EXPECT_EQ(complaint({32}, body), "");
}

TEST(WarpOperation, VotesOfAllLanes) {
  const auto body = [] {
    const int lane = lane_index();
    EXPECT_EQ(__ballot_sync(kAllLanes, lane % 2 == 0), 0x55555555U);
    EXPECT_TRUE(__any_sync(kAllLanes, lane == 31));
    EXPECT_FALSE(__all_sync(kAllLanes, lane != 31));
    if (lane < 4) {
      EXPECT_EQ(__ballot_sync(0xfU, lane > 1), 0xcU);
    }
  };
  EXPECT_EQ(complaint({32}, body), "");
}

// One half may be done with its own operation and wait for the other half, which is still in its
// own.
TEST(WarpOperation, HalvesOfAWarpGoTheirOwnWay) {
  const auto body = [] {
    const int lane = lane_index();
    const unsigned half = lane < 16 ? 0xffffU : 0xffff0000U;
    EXPECT_EQ(__shfl_xor_sync(half, lane, 8), lane ^ 8);
    EXPECT_EQ(__ballot_sync(half, lane % 2 == 0), 0x55555555U & half);
    EXPECT_EQ(__ballot_sync(kAllLanes, lane < 16), 0xffffU);
  };
  for (const emulator::Order order :
       {emulator::Order::in_order, emulator::Order::shuffled, emulator::Order::greedy_warp}) {
    emulator::Options options;
    options.order = order;
    EXPECT_EQ(complaint({64, 0, 1, options}, body), "");
  }
}

TEST(WarpOperation, ShuffleFromALaneTheMaskLeavesOutFails) {
  const auto body = [] {
    if (lane_index() < 16) __shfl_sync(0xffffU, 1, 20);
  };
  EXPECT_THAT(complaint({32}, body), HasSubstr("a shuffle reads lane 20, which its mask leaves"));
}

TEST(WarpOperation, CalledOutsideItsOwnMaskFails) {
  EXPECT_THAT(complaint({32}, [] { __syncwarp(0xffffU); }), HasSubstr("outside its mask"));
}

TEST(WarpOperation, NamingALaneThatEndedFails) {
  emulator::Options in_order;
  in_order.order = emulator::Order::in_order;
  const auto body = [] {
    if (lane_index() == 0) return;
    __shfl_sync(kAllLanes, 1, 1);
  };
  EXPECT_THAT(complaint({32, 0, 1, in_order}, body), HasSubstr("names lane 0, which has ended"));
}

TEST(WarpOperation, NamingLanesTheBlockHasNotFails) {
  EXPECT_THAT(complaint({16}, [] { __syncwarp(); }), HasSubstr("names lanes that the block has"));
}

TEST(WarpOperation, LanesInDifferentOperationsFail) {
  const auto body = [] {
    if (lane_index() < 16) {
      __ballot_sync(kAllLanes, true);
    } else {
      __shfl_sync(kAllLanes, 1, 0);
    }
  };
  EXPECT_THAT(complaint({32}, body), HasSubstr("lanes of one warp meet in different operations"));
}

TEST(WarpOperation, LanesWithDifferentMasksFail) {
  const auto body = [] { __ballot_sync(lane_index() < 16 ? kAllLanes : 0xfffffffeU, true); };
  EXPECT_THAT(complaint({32}, body), HasSubstr("lanes of one warp meet in different operations"));
}

TEST(WarpOperation, MatrixProductByHalfAWarpEndsInADeadlock) {
  const auto body = [] {
    float d[4] = {};
    const unsigned a[4] = {};
    const unsigned b[2] = {};
    if (lane_index() < 16) {
      mma(d, a, b);
    } else {
      __syncthreads();
    }
  };
  EXPECT_THAT(complaint({32}, body), HasSubstr("no thread can go on"));
}

}  // namespace
}  // namespace tiersim::kernels::barrier_test
