// Reports of ThreadSanitizer about kernels on the emulator: missing order between threads and
// between blocks, and no report for correct kernels. Each body runs in a separate process, which
// ends with code 66 after a report.
#include <gtest/gtest.h>

#include <cstdlib>
#include <functional>
#include <vector>

#include "kernels/device/hopper.cuh"
#include "kernels/device/memory.cuh"
#include "kernels/emulator/sanitizer.hpp"
#include "kernels/runtime/array.cuh"
#include "tests/kernels/emulator/complaint.hpp"

namespace tiersim::kernels::race_test {
namespace {

using ::testing::ExitedWithCode;

void run_and_exit(const Shape& shape, const std::function<void()>& body) {
  std::exit(complaint(shape, body).empty() ? 0 : 1);
}

class Race : public ::testing::Test {
 protected:
  void SetUp() override {
    if (!TS_EMULATOR_TSAN) GTEST_SKIP() << "this build has no ThreadSanitizer";
    GTEST_FLAG_SET(death_test_style, "threadsafe");  // a fresh process each
  }
  void expect(const Shape& shape, const std::function<void()>& body) {
    EXPECT_EXIT(run_and_exit(shape, body), ExitedWithCode(66), "data race");
  }
  void expect_none(const Shape& shape, const std::function<void()>& body) {
    EXPECT_EXIT(run_and_exit(shape, body), ExitedWithCode(0), "");
  }
};

// A thread writes its word of shared memory, orders, and reads another warp's.
template <class Ordered>
std::function<void()> exchange(const Ordered& order, unsigned distance = 32) {
  return [order, distance] {
    auto* numbers = shared_memory<volatile unsigned>();
    numbers[threadIdx.x] = threadIdx.x;
    order();
    static_cast<void>(numbers[threadIdx.x ^ distance]);
  };
}

TEST_F(Race, OfABlockWithoutBarrierIsReported) {
  expect({64, 256}, exchange([] {}));
}

TEST_F(Race, OfABlockWithItsBarrierIsNone) {
  expect_none({64, 256}, exchange([] { __syncthreads(); }));
  expect_none({64, 256}, exchange([] { named_barrier_wait(1, 64); }));
}

TEST_F(Race, WarpBarrierOrdersAWarpAndNoMore) {
  expect_none({64, 256}, exchange([] { __syncwarp(); }, 1));
  expect({64, 256}, exchange([] { __syncwarp(); }, 32));
}

TEST_F(Race, ShuffleAndVoteOrderNothing) {
  expect({32, 128}, exchange([] { __shfl_xor_sync(kAllLanes, 1, 1); }, 1));
  expect({32, 128}, exchange([] { __ballot_sync(kAllLanes, true); }, 1));
}

TEST_F(Race, WriteOverWhatAnotherStillReadsIsReported) {
  expect({64, 256}, [] {
    auto* numbers = shared_memory<volatile unsigned>();
    for (unsigned turn = 0; turn < 2; ++turn) {
      numbers[threadIdx.x] = turn;
      __syncthreads();
      static_cast<void>(numbers[threadIdx.x ^ 32U]);
    }
  });
}

TEST_F(Race, TransactionBarrierOrdersThoseWhoArriveBeforeThoseWhoWait) {
  const auto body = [](bool waits) {
    return [waits] {
      auto* barrier = shared_memory<std::uint64_t>();
      auto* number = shared_memory<volatile int>(8);
      if (threadIdx.x == 0) barrier_init(barrier, 32);
      __syncthreads();
      if (threadIdx.x >= 32) {
        number[threadIdx.x] = 1;
        barrier_arrive(barrier);
      } else {
        if (waits) barrier_wait(barrier, 0);
        static_cast<void>(number[threadIdx.x + 32]);
      }
    };
  };
  expect_none({64, 8 + 256}, body(true));
  expect({64, 8 + 256}, body(false));
}

TEST_F(Race, CopyOfAnotherThreadNeedsABarrierAfterItsWait) {
  const DeviceArray<int> from(std::vector<int>(256), "from");
  const auto body = [&](bool ordered) {
    return [&, ordered] {
      auto* to = shared_memory<int>();
      const unsigned own = 4 * threadIdx.x;
      const unsigned other = 4 * (threadIdx.x ^ 32U);
      copy_async(to + own, from.data() + own);
      copy_async_commit();
      copy_async_wait<0>();
      if (ordered) __syncthreads();
      static_cast<void>(shared_memory<volatile int>()[other]);
    };
  };
  expect_none({64, 1024}, body(true));
  expect({64, 1024}, body(false));
}

TEST_F(Race, BulkCopyNeedsAWaitOnItsBarrier) {
  const DeviceArray<int> from(std::vector<int>(64), "from");
  const auto body = [&](bool waits) {
    return [&, waits] {
      auto* barrier = shared_memory<std::uint64_t>();
      if (threadIdx.x == 0) {
        barrier_init(barrier, 1);
        barrier_arrive_expect(barrier, 256);
        bulk_load(shared_memory<int>(16), from.data(), 256, barrier);
      }
      __syncthreads();
      if (waits || threadIdx.x == 0) barrier_wait(barrier, 0);
      static_cast<void>(shared_memory<volatile int>(16)[threadIdx.x]);
    };
  };
  expect_none({64, 16 + 256}, body(true));
  expect({64, 16 + 256}, body(false));
}

// Blocks run one after the other here, but a card does not promise that.
TEST_F(Race, OfTwoBlocksIsReported) {
  DeviceArray<int> number(std::vector<int>{0, 0}, "number");
  expect({1, 0, 2}, [&] {
    if (blockIdx.x == 0) {
      store(number.data(), 1);
    } else {
      store(number.data() + 1, load_coherent(number.data()));
    }
  });
}

TEST_F(Race, OfTwoBlocksByAtomicsIsNone) {
  DeviceArray<int> number(std::vector<int>{0, 0}, "number");
  expect_none({32, 0, 3}, [&] { atomic_add(number.data(), 1); });
}

TEST_F(Race, OfTwoLaunchesIsNone) {
  DeviceArray<int> number(std::vector<int>{0, 0}, "number");
  EXPECT_EXIT(
      {
        EXPECT_EQ(complaint({32},
                            [&] {
                              if (threadIdx.x == 3) store(number.data(), 1);
                            }),
                  "");
        run_and_exit({1}, [&] { store(number.data() + 1, load(number.data())); });
      },
      ExitedWithCode(0), "");
}

}  // namespace
}  // namespace tiersim::kernels::race_test
