// Errors and counts of the emulator for global and shared memory.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <vector>

#include "kernels/device/memory.cuh"
#include "kernels/emulator/sanitizer.hpp"
#include "kernels/runtime/array.cuh"
#include "kernels/runtime/copy.cuh"
#include "tests/kernels/emulator/complaint.hpp"

namespace tiersim::kernels::memory_test {
namespace {

using ::testing::HasSubstr;

const std::vector<int> kEight = {0, 1, 2, 3, 4, 5, 6, 7};

TEST(GlobalMemory, LoadPastTheEndOfAnArrayFails) {
  const DeviceArray<int> array(kEight, "eight");
  EXPECT_THAT(complaint({1}, [&] { load(array.data() + 8); }),
              HasSubstr("0 bytes past the end of 'eight'"));
}

TEST(GlobalMemory, WideLoadThatRunsPastTheEndFails) {
  const DeviceArray<int> array(std::vector<int>(6), "six");
  EXPECT_THAT(complaint({1}, [&] { load(reinterpret_cast<const uint4*>(array.data() + 4)); }),
              HasSubstr("16 bytes at offset 16 runs past the end of 'six' (24 bytes)"));
}

TEST(GlobalMemory, AccessOutsideEveryArrayFails) {
  int host = 0;
  EXPECT_THAT(complaint({1}, [&] { store(&host, 1); }), HasSubstr("outside every array"));
}

TEST(GlobalMemory, MisalignedAccessFails) {
  const DeviceArray<int> array(kEight, "eight");
  EXPECT_THAT(complaint({1}, [&] { load(reinterpret_cast<const uint4*>(array.data() + 1)); }),
              HasSubstr("at offset 4 of 'eight' is not aligned to 16"));
}

TEST(GlobalMemory, LoadOfWhatNobodyWroteFails) {
  const DeviceArray<int> array(8, "fresh");
  EXPECT_THAT(complaint({1}, [&] { load(array.data() + 2); }),
              HasSubstr("4 bytes at offset 8 of 'fresh' reads what nobody wrote"));
}

TEST(GlobalMemory, PoisonedArrayCountsAsUnwritten) {
  DeviceArray<int> array(kEight, "eight");
  array.poison();
  EXPECT_THAT(complaint({1}, [&] { load_coherent(array.data()); }), HasSubstr("nobody wrote"));
  EXPECT_EQ(array.download()[0], -1);
}

TEST(GlobalMemory, StoreIsReadBackCoherentlyButNotByTheReadOnlyPath) {
  DeviceArray<int> array(8, "both");
  EXPECT_EQ(complaint({1},
                      [&] {
                        store(array.data(), 7);
                        EXPECT_EQ(load_coherent(array.data()), 7);
                      }),
            "");
  EXPECT_THAT(complaint({1},
                        [&] {
                          store(array.data(), 7);
                          load(array.data());
                        }),
              HasSubstr("'both' reads what this launch wrote"));
}

TEST(GlobalMemory, StoresOfTwoBlocksToOneByteFail) {
  DeviceArray<int> array(8, "shared by blocks");
  EXPECT_THAT(complaint({1, 0, 2}, [&] { store(array.data() + 3, 1); }),
              HasSubstr("two blocks of one launch store to offset 12 of 'shared by blocks'"));
  EXPECT_EQ(complaint({1, 0, 2}, [&] { store(array.data() + blockIdx.x, 1); }), "");
}

TEST(GlobalMemory, StoresOfTwoLaunchesToOneByteAreInOrder) {
  DeviceArray<int> array(1, "one");
  for (int launch = 0; launch < 2; ++launch) {
    EXPECT_EQ(complaint({1}, [&] { store(array.data(), launch); }), "");
  }
}

TEST(GlobalMemory, FailedLaunchLeavesNoTrace) {
  DeviceArray<int> array(8, "one");
  EXPECT_NE(complaint({1},
                      [&] {
                        store(array.data(), 1);
                        load(array.data() + 8);
                      }),
            "");
  EXPECT_EQ(complaint({1}, [&] { store(array.data(), 2); }), "");
}

TEST(GlobalMemory, AtomicsOfAllBlocksAddUp) {
  DeviceArray<int> sum(std::vector<int>{0}, "sum");
  DeviceArray<int> mask(std::vector<int>{-1}, "mask");
  EXPECT_EQ(complaint({64, 0, 3},
                      [&] {
                        atomic_add(sum.data(), 2);
                        atomic_and(mask.data(), ~(1 << threadIdx.x % 8));
                      }),
            "");
  EXPECT_EQ(sum.download()[0], 2 * 64 * 3);
  EXPECT_EQ(mask.download()[0], -256);
}

TEST(GlobalMemory, AtomicOfUnwrittenMemoryFails) {
  DeviceArray<int> sum(1, "sum");
  EXPECT_THAT(complaint({1}, [&] { atomic_add(sum.data(), 1); }), HasSubstr("nobody wrote"));
}

TEST(GlobalMemory, MessageNamesBlockAndThread) {
  const DeviceArray<int> array(8, "fresh");
  const auto body = [&] {
    if (blockIdx.x == 1 && threadIdx.x == 5) load(array.data());
  };
  EXPECT_THAT(complaint({8, 0, 2}, body), HasSubstr("[block (1,0,0); in thread 5]"));
}

// 64 threads read 16 B each of one 64 B array twice: 64 distinct bytes, two sectors, 1024 requested
// bytes. Each thread also writes one byte.
TEST(GlobalMemory, CountsDistinctBytesSectorsAndRequests) {
  const DeviceArray<uint4> from(std::vector<uint4>(4), "from");
  DeviceArray<unsigned char> to(64, "to");
  emulator::Memory& memory = emulator::machine().memory;
  memory.clear();
  const auto body = [&] {
    load(from.data() + threadIdx.x % 4);
    store(to.data() + threadIdx.x, static_cast<unsigned char>(1));
  };
  ASSERT_EQ(complaint({64}, body), "");
  EXPECT_EQ(memory.traffic().read_bytes, 64);
  EXPECT_EQ(memory.traffic().read_sector_bytes, 64);
  EXPECT_EQ(memory.traffic().written_bytes, 64);
  EXPECT_EQ(memory.traffic().requested_bytes, 64 * 16 + 64);
  ASSERT_EQ(complaint({64}, body), "");
  EXPECT_EQ(memory.traffic().read_bytes, 128);  // distinct within a launch, not over two
}

TEST(GlobalMemory, OneByteTouchesAWholeSector) {
  const DeviceArray<char> from(std::vector<char>(64), "from");
  emulator::Memory& memory = emulator::machine().memory;
  memory.clear();
  ASSERT_EQ(complaint({1}, [&] { load(from.data() + 33); }), "");
  EXPECT_EQ(memory.traffic().read_bytes, 1);
  EXPECT_EQ(memory.traffic().read_sector_bytes, 32);
}

TEST(GlobalMemory, PinnedMemoryCountsAsLinkTraffic) {
  PinnedArray<int> host(9, "host");
  emulator::Memory& memory = emulator::machine().memory;
  memory.clear();
  const auto body = [&] { store(host.device() + 1 + threadIdx.x, load_coherent(host.device())); };
  ASSERT_EQ(complaint({8}, body), "");
  EXPECT_EQ(memory.traffic().link_read_bytes, 4);
  EXPECT_EQ(memory.traffic().link_written_bytes, 32);
  EXPECT_EQ(memory.traffic().read_bytes + memory.traffic().written_bytes, 0);
}

TEST(GlobalMemory, CopyOfTheStreamIsCheckedAndCounted) {
  const DeviceArray<int> from(kEight, "from");
  DeviceArray<int> to(8, "to");
  Stream stream;
  emulator::Memory& memory = emulator::machine().memory;
  memory.clear();
  copy(stream, to.data(), from.data(), 32);
  EXPECT_EQ(to.download(), kEight);
  EXPECT_EQ(memory.traffic().read_bytes, 32);
  EXPECT_THROW(copy(stream, to.data(), from.data(), 36), emulator::KernelFailure);
}

TEST(GlobalMemory, UploadOfAnotherSizeIsRefused) {
  DeviceArray<int> array(4);
  EXPECT_THROW(array.upload(kEight), std::invalid_argument);
  EXPECT_THROW(emulator::machine().memory.host_wrote(array.data(), 17), emulator::KernelFailure);
}

TEST(GlobalMemory, ArrayOfNoNumbersIsAllowed) {
  const DeviceArray<int> none(0, "none");
  EXPECT_TRUE(none.download().empty());
  EXPECT_THAT(complaint({1}, [&] { load(none.data()); }), HasSubstr("past the end of 'none'"));
}

TEST(SharedMemory, IsPoisonedAndAlignedForSwizzling) {
  EXPECT_EQ(complaint({1, 16},
                      [] {
                        EXPECT_EQ(shared_memory<int>()[3], -1);
                        EXPECT_EQ(reinterpret_cast<std::uintptr_t>(shared_memory<int>()) % 1024, 0);
                      }),
            "");
}

TEST(SharedMemory, StoreOneByteBeyondItsEndIsFound) {
  const auto body = [] { shared_memory<volatile char>()[17] = 1; };
#if TS_EMULATOR_ASAN
  EXPECT_DEATH(complaint({1, 17}, body), "AddressSanitizer");
#else
  EXPECT_THAT(complaint({1, 17}, body),
              HasSubstr("shared memory was written 0 bytes past its end (17 bytes)"));
#endif
}

TEST(SharedMemory, LoadBeyondItsEndIsFoundByAddressSanitizer) {
#if TS_EMULATOR_ASAN
  EXPECT_DEATH(complaint({1, 16}, [] { static_cast<void>(shared_memory<volatile char>()[16]); }),
               "AddressSanitizer");
#else
  GTEST_SKIP() << "this build has no AddressSanitizer";
#endif
}

TEST(SharedMemory, AtomicOutsideItFails) {
  EXPECT_THAT(complaint({1, 8}, [] { atomic_add_shared(shared_memory<int>(8), 1); }),
              HasSubstr("an atomic in shared memory: 4 bytes do not lie in the block's shared "
                        "memory (offset 8 of 8)"));
}

TEST(SharedMemory, AtomicMustBeAligned) {
  EXPECT_THAT(complaint({1, 8}, [] { atomic_add_shared(shared_memory<int>(2), 1); }),
              HasSubstr("is not aligned to 4"));
}

TEST(SharedMemory, AtomicsOfABlockAddUp) {
  EXPECT_EQ(complaint({96, 4},
                      [] {
                        if (threadIdx.x == 0) *shared_memory<int>() = 0;
                        __syncthreads();
                        atomic_add_shared(shared_memory<int>(), 1);
                        __syncthreads();
                        EXPECT_EQ(*shared_memory<int>(), 96);
                      }),
            "");
}

TEST(Launch, RefusesWhatACardRefuses) {
  const auto nothing = [] {};
  EXPECT_THAT(complaint({0}, nothing), HasSubstr("1 to 1024 threads, not 0"));
  EXPECT_THAT(complaint({1025}, nothing), HasSubstr("1 to 1024 threads, not 1025"));
  EXPECT_THAT(complaint({32, 0, 0}, nothing), HasSubstr("a grid of 0 x 1 x 1 blocks"));
  EXPECT_THAT(complaint({32, 227 * 1024 + 1}, nothing), HasSubstr("more than 232448"));
  EXPECT_EQ(complaint({1024, std::size_t{227} * 1024}, nothing), "");
}

TEST(Launch, NumbersBlocksAndThreadsAsCuda) {
  std::vector<int> seen(std::size_t{2} * 3 * 4 * 5, 0);
  emulator::run_grid(dim3(2, 3), dim3(4, 5), 0, [&] {
    EXPECT_EQ(gridDim.y, 3U);
    EXPECT_EQ(blockDim.x, 4U);
    const unsigned at =
        ((blockIdx.y * gridDim.x + blockIdx.x) * blockDim.y + threadIdx.y) * blockDim.x +
        threadIdx.x;
    EXPECT_EQ(emulator::block().self().linear, static_cast<int>(threadIdx.y * 4 + threadIdx.x));
    ++seen[at];
  });
  EXPECT_EQ(seen, std::vector<int>(seen.size(), 1));
}

}  // namespace
}  // namespace tiersim::kernels::memory_test
