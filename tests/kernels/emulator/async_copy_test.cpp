// cp.async, bulk copies both ways and the transaction barriers they land on.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <numeric>
#include <vector>

#include "kernels/device/hopper.cuh"
#include "kernels/device/memory.cuh"
#include "kernels/emulator/sanitizer.hpp"
#include "kernels/runtime/array.cuh"
#include "tests/kernels/emulator/complaint.hpp"
#include "tests/kernels/support/planted_race.hpp"

namespace tiersim::kernels::async_copy_test {
namespace {

using emulator::Landing;
using emulator::Options;
using ::testing::HasSubstr;

std::vector<int> counting(int count) {
  std::vector<int> numbers(static_cast<std::size_t>(count));
  std::iota(numbers.begin(), numbers.end(), 0);
  return numbers;
}

Options landing(Landing when) {
  Options options;
  options.landing = when;
  return options;
}

TEST(AsyncCopy, BringsBytesAndZerosAtTheWait) {
  const DeviceArray<int> from(counting(4), "from");
  const auto body = [&] {
    auto* to = shared_memory<int>();
    copy_async<16>(to, from.data(), 8);
    copy_async<8>(to + 4, from.data());
    copy_async<4>(to + 6, from.data() + 3);
    copy_async<4>(to + 7, nullptr, 0);
    copy_async_commit();
    EXPECT_EQ(to[0], -1);  // not before
    copy_async_wait<0>();
    EXPECT_EQ(std::vector<int>(to, to + 8), (std::vector<int>{0, 1, 0, 0, 0, 1, 3, 0}));
  };
  EXPECT_EQ(complaint({1, 32, 1, landing(Landing::late)}, body), "");
}

TEST(AsyncCopy, LandsAtOnceWhereTheScheduleSaysEarly) {
  const DeviceArray<int> from(counting(4), "from");
  const auto body = [&] {
    copy_async(shared_memory<int>(), from.data());
    EXPECT_EQ(shared_memory<int>()[3], 3);
    copy_async_commit();
    copy_async_wait<0>();
  };
  EXPECT_EQ(complaint({1, 16, 1, landing(Landing::early)}, body), "");
}

TEST(AsyncCopy, WaitLeavesTheNewestGroupsInFlight) {
  const DeviceArray<int> from(counting(12), "from");
  const auto body = [&] {
    auto* to = shared_memory<int>();
    for (int group = 0; group < 3; ++group) {
      const int at = 4 * group;
      copy_async(to + at, from.data() + at);
      copy_async_commit();
    }
    copy_async_wait<2>();
    EXPECT_EQ(to[0], 0);
    EXPECT_EQ(to[4], -1);
    copy_async_wait<1>();
    EXPECT_EQ(to[4], 4);
    EXPECT_EQ(to[8], -1);
    copy_async_wait<0>();
    EXPECT_EQ(to[8], 8);
  };
  EXPECT_EQ(complaint({1, 48, 1, landing(Landing::late)}, body), "");
}

TEST(AsyncCopy, NeverWaitedForFails) {
  const DeviceArray<int> from(counting(4), "from");
  const char* const said = "a thread ends with asynchronous copies that it never waited for";
  EXPECT_THAT(complaint({1, 16}, [&] { copy_async(shared_memory<int>(), from.data()); }),
              HasSubstr(said));
  EXPECT_THAT(complaint({1, 16},
                        [&] {
                          copy_async(shared_memory<int>(), from.data());
                          copy_async_commit();
                        }),
              HasSubstr(said));
}

TEST(AsyncCopy, OutsideSharedMemoryFails) {
  const DeviceArray<int> from(counting(4), "from");
  EXPECT_THAT(complaint({1, 15}, [&] { copy_async(shared_memory<int>(), from.data()); }),
              HasSubstr("cp.async: 16 bytes do not lie in the block's shared memory"));
}

TEST(AsyncCopy, MisalignedAtEitherEndFails) {
  const DeviceArray<int> from(counting(8), "from");
  EXPECT_THAT(complaint({1, 32}, [&] { copy_async(shared_memory<int>(8), from.data()); }),
              HasSubstr("cp.async: the address in shared memory is not aligned to 16"));
  EXPECT_THAT(complaint({1, 32}, [&] { copy_async(shared_memory<int>(), from.data() + 2); }),
              HasSubstr("'from' is not aligned to 16"));
}

TEST(AsyncCopy, OfMoreBytesThanItsSizeFails) {
  const DeviceArray<int> from(counting(8), "from");
  EXPECT_THAT(complaint({1, 32}, [&] { copy_async(shared_memory<int>(), from.data(), 20); }),
              HasSubstr("cp.async of more bytes than its size"));
  EXPECT_THAT(complaint({1, 32}, [&] { copy_async(shared_memory<int>(), from.data(), -4); }),
              HasSubstr("cp.async of more bytes than its size"));
}

// ---- bulk copies into shared memory: one thread, a barrier at byte 0, data from byte 128

std::string bulk(const Options& options, int announced, int copied) {
  const DeviceArray<int> from(counting(64), "from");
  return complaint({1, 128 + 256, 1, options}, [&] {
    auto* barrier = shared_memory<std::uint64_t>();
    auto* to = shared_memory<int>(128);
    barrier_init(barrier, 1);
    fence_barrier_init();
    barrier_arrive_expect(barrier, announced);
    for (int at = 0; at < copied; at += 32)
      bulk_load(to + at / 4, from.data() + at / 4, 32, barrier);
    barrier_wait(barrier, 0);
    for (int i = 0; i < copied / 4; ++i) EXPECT_EQ(to[i], i);
  });
}

TEST(BulkCopy, LandsOnItsBarrierUnderEverySchedule) {
  for (const Landing when : {Landing::late, Landing::early, Landing::mixed}) {
    EXPECT_EQ(bulk(landing(when), 256, 256), "");
  }
}

TEST(BulkCopy, AnnouncingTooFewBytesFails) {
  EXPECT_THAT(bulk(landing(Landing::late), 224, 256),
              HasSubstr("expect_tx announced too few bytes"));
  EXPECT_THAT(bulk(landing(Landing::late), 208, 224),
              HasSubstr("16 bytes more than expect_tx announced"));
  EXPECT_NE(bulk(landing(Landing::early), 224, 256), "");
}

TEST(BulkCopy, AnnouncingTooManyBytesEndsInADeadlock) {
  EXPECT_THAT(bulk(landing(Landing::late), 272, 256), HasSubstr("no thread can go on"));
}

TEST(BulkCopy, AnnouncedAndNeverCopiedFailsWhereNobodyWaits) {
  EXPECT_THAT(complaint({1, 8},
                        [] {
                          barrier_init(shared_memory<std::uint64_t>(), 1);
                          barrier_arrive_expect(shared_memory<std::uint64_t>(), 64);
                        }),
              HasSubstr("64 bytes announced to a transaction barrier and not copied"));
}

TEST(BulkCopy, LeftInFlightAtTheEndFails) {
  const DeviceArray<int> from(counting(8), "from");
  const auto body = [&] {
    barrier_init(shared_memory<std::uint64_t>(), 1);
    bulk_load(shared_memory<int>(16), from.data(), 32, shared_memory<std::uint64_t>());
  };
  EXPECT_THAT(complaint({1, 64, 1, landing(Landing::late)}, body),
              HasSubstr("the block ends with 1 bulk copies in flight"));
}

TEST(BulkCopy, ShowsNothingBeforeTheWait) {
  TS_SKIP_UNDER_TSAN();
  const DeviceArray<int> from(counting(8), "from");
  const auto body = [&] {
    auto* barrier = shared_memory<std::uint64_t>();
    barrier_init(barrier, 1);
    barrier_arrive_expect(barrier, 32);
    bulk_load(shared_memory<int>(16), from.data(), 32, barrier);
    EXPECT_EQ(*shared_memory<int>(16), -1);
    barrier_wait(barrier, 0);
    EXPECT_EQ(*shared_memory<int>(16), 0);
  };
  EXPECT_EQ(complaint({1, 64, 1, landing(Landing::late)}, body), "");
}

TEST(BulkCopy, ChecksSizeBoundsAndAlignment) {
  const DeviceArray<int> from(counting(16), "from");
  const auto copies = [&](std::size_t to, int first, int bytes) {
    return complaint({1, 64}, [&, to, first, bytes] {
      barrier_init(shared_memory<std::uint64_t>(), 1);
      bulk_load(shared_memory<int>(to), from.data() + first, bytes, shared_memory<std::uint64_t>());
    });
  };
  EXPECT_THAT(copies(16, 0, 24), HasSubstr("a bulk copy moves multiples of 16 bytes"));
  EXPECT_THAT(copies(16, 0, 0), HasSubstr("a bulk copy moves multiples of 16 bytes"));
  EXPECT_THAT(copies(32, 0, 48), HasSubstr("a bulk copy: 48 bytes do not lie in"));
  EXPECT_THAT(copies(24, 0, 16), HasSubstr("a bulk copy: the address in shared memory"));
  EXPECT_THAT(copies(16, 1, 16), HasSubstr("'from' is not aligned to 16"));
  EXPECT_THAT(copies(16, 8, 48), HasSubstr("runs past the end of 'from'"));
}

// ---- transaction barriers

TEST(TransactionBarrier, CompletesAPhaseWhenAllHaveArrived) {
  const auto body = [] {
    auto* barrier = shared_memory<std::uint64_t>();
    auto* number = shared_memory<int>(8);
    if (threadIdx.x == 0) barrier_init(barrier, 32);
    __syncthreads();
    for (int phase = 0; phase < 4; ++phase) {
      if (threadIdx.x >= 32) {
        number[threadIdx.x] = phase;
        barrier_arrive(barrier);
      } else {
        barrier_wait(barrier, phase % 2);
        EXPECT_EQ(number[threadIdx.x + 32], phase);
      }
      __syncthreads();
    }
  };
  EXPECT_EQ(complaint({64, 8 + 64 * 4}, body), "");
}

TEST(TransactionBarrier, WaitForThePhaseBeforeReturnsAtOnce) {
  EXPECT_EQ(complaint({1, 8},
                      [] {
                        barrier_init(shared_memory<std::uint64_t>(), 1);
                        barrier_wait(shared_memory<std::uint64_t>(), 1);
                      }),
            "");
}

TEST(TransactionBarrier, WrongParityEndsInADeadlockThatNamesTheWait) {
  EXPECT_THAT(complaint({1, 8},
                        [] {
                          barrier_init(shared_memory<std::uint64_t>(), 1);
                          barrier_arrive(shared_memory<std::uint64_t>());
                          barrier_wait(shared_memory<std::uint64_t>(), 1);
                        }),
              HasSubstr("no thread can go on [block (0,0,0); thread 0 waits at barrier_wait ("));
}

TEST(TransactionBarrier, UsedBeforeItsInitialisationFails) {
  EXPECT_THAT(complaint({1, 8}, [] { barrier_arrive(shared_memory<std::uint64_t>()); }),
              HasSubstr("mbarrier.arrive of a barrier nobody initialised"));
  EXPECT_THAT(complaint({1, 8}, [] { barrier_wait(shared_memory<std::uint64_t>(), 0); }),
              HasSubstr("mbarrier.try_wait of a barrier nobody initialised"));
}

TEST(TransactionBarrier, OverwrittenFails) {
  EXPECT_THAT(complaint({1, 8},
                        [] {
                          barrier_init(shared_memory<std::uint64_t>(), 1);
                          *shared_memory<int>() = 0;
                          barrier_arrive(shared_memory<std::uint64_t>());
                        }),
              HasSubstr("mbarrier.arrive of a barrier that something overwrote"));
}

TEST(TransactionBarrier, InitialisedTwiceFails) {
  EXPECT_THAT(complaint({2, 8}, [] { barrier_init(shared_memory<std::uint64_t>(), 1); }),
              HasSubstr("mbarrier.init of a barrier in use"));
}

TEST(TransactionBarrier, OfNoArrivalsFails) {
  EXPECT_THAT(complaint({1, 8}, [] { barrier_init(shared_memory<std::uint64_t>(), 0); }),
              HasSubstr("mbarrier.init with 0 arrivals"));
}

TEST(TransactionBarrier, OutsideSharedMemoryFails) {
  EXPECT_THAT(complaint({1, 8}, [] { barrier_init(shared_memory<std::uint64_t>(8), 1); }),
              HasSubstr("mbarrier.init: 8 bytes do not lie in"));
}

// One arrival completes a phase; a second one before the bytes have landed belongs to none.
TEST(TransactionBarrier, MoreArrivalsThanItWasMadeForFail) {
  EXPECT_THAT(complaint({1, 8},
                        [] {
                          barrier_init(shared_memory<std::uint64_t>(), 1);
                          barrier_arrive_expect(shared_memory<std::uint64_t>(), 16);
                          barrier_arrive(shared_memory<std::uint64_t>());
                        }),
              HasSubstr("more arrivals at a transaction barrier than it was made for"));
}

// ---- bulk stores

std::string stores(bool fenced, bool waited, int bytes = 64) {
  DeviceArray<int> to(16, "to");
  std::string said = complaint({16, 64, 1, landing(Landing::late)}, [&] {
    shared_memory<int>()[threadIdx.x] = static_cast<int>(threadIdx.x);
    if (fenced) fence_async_proxy();
    __syncthreads();
    if (threadIdx.x != 0) return;
    bulk_store(to.data(), shared_memory<int>(), bytes);
    bulk_store_commit();
    if (waited) bulk_store_wait<0>();
  });
  if (said.empty()) {
    EXPECT_EQ(to.download(), counting(16));
  }
  return said;
}

TEST(BulkStore, WritesWhatSharedMemoryHolds) {
  EXPECT_EQ(stores(true, true), "");
}

TEST(BulkStore, OfOrdinaryStoresWithoutAProxyFenceFails) {
  EXPECT_THAT(stores(false, true),
              HasSubstr("a bulk store reads shared memory at offset 0 that ordinary stores wrote "
                        "without fence_async_proxy"));
}

TEST(BulkStore, NeverWaitedForFails) {
  EXPECT_THAT(stores(true, false), HasSubstr("bulk stores that it never waited for"));
}

TEST(BulkStore, ChecksSizeAndBounds) {
  EXPECT_THAT(stores(true, true, 40), HasSubstr("a bulk store moves multiples of 16 bytes"));
  EXPECT_THAT(stores(true, true, 80), HasSubstr("a bulk store: 80 bytes do not lie in"));
}

TEST(BulkStore, OfBytesOverwrittenBeforeTheWaitFails) {
  DeviceArray<int> to(4, "to");
  const auto body = [&] {
    auto* from = shared_memory<int>();
    for (int i = 0; i < 4; ++i) from[i] = i;
    fence_async_proxy();
    bulk_store(to.data(), from, 16);
    bulk_store_commit();
    from[0] = 9;
    bulk_store_wait<0>();
  };
  EXPECT_THAT(complaint({1, 16}, body), HasSubstr("or while it was in flight"));
}

}  // namespace
}  // namespace tiersim::kernels::async_copy_test
