// Fibers, and blocks on them. This source makes two tests: with the switch of stacks in assembler,
// and with ucontext, which machines other than x86-64 use.
#include <gtest/gtest.h>

#include <array>
#include <atomic>
#include <cmath>
#include <stdexcept>
#include <vector>

#include "kernels/device/platform.cuh"
#include "kernels/emulator/fiber.hpp"
#include "tests/kernels/emulator/complaint.hpp"

namespace tiersim::kernels::fiber_test {
namespace {

#if defined(TS_EMULATOR_UCONTEXT)
#define TS_FIBER_SUBJECT FiberByUcontext
#else
#define TS_FIBER_SUBJECT Fiber
#endif

TEST(TS_FIBER_SUBJECT, KeepsItsNumbersOverASwitch) {
  std::vector<double> sums(96);
  const auto body = [&] {
    std::array<double, 16> numbers{};
    for (std::size_t i = 0; i < 16; ++i)
      numbers[i] = std::sqrt(static_cast<double>(threadIdx.x + i));
    __syncthreads();
    double sum = 0;
    for (const double number : numbers) {
      sum += number;
      __syncwarp();
    }
    sums[threadIdx.x] = sum;
  };
  ASSERT_EQ(complaint({96}, body), "");
  for (std::size_t t = 0; t < 96; ++t) {
    double sum = 0;
    for (std::size_t i = 0; i < 16; ++i) sum += std::sqrt(static_cast<double>(t + i));
    EXPECT_EQ(sums[t], sum);
  }
}

TEST(TS_FIBER_SUBJECT, ExceptionEndsTheLaunchAndTheNextOneRuns) {
  const auto throws = [] {
    __syncwarp();
    if (threadIdx.x == 7) throw std::runtime_error("of the kernel");
    __syncthreads();
  };
  EXPECT_THROW(emulator::run_grid(dim3(1), dim3(32), 0, throws), std::runtime_error);
  EXPECT_EQ(complaint({32}, [] { __syncthreads(); }), "");
}

TEST(TS_FIBER_SUBJECT, FailureUnwindsThreadsThatWait) {
  struct Counted {
    std::atomic<int>& alive;
    explicit Counted(std::atomic<int>& count) : alive(count) { ++alive; }
    ~Counted() { --alive; }
  };
  std::atomic<int> alive = 0;
  const auto body = [&] {
    const Counted held(alive);
    if (threadIdx.x == 31) emulator::fail("enough");
    __syncthreads();
  };
  EXPECT_NE(complaint({32}, body), "");
  EXPECT_EQ(alive, 0);
}

TEST(TS_FIBER_SUBJECT, StacksAreTakenAgain) {
  emulator::StackPool pool(std::size_t{64} * 1024);
  void* first = pool.take();
  void* second = pool.take();
  EXPECT_NE(first, second);
  static_cast<unsigned char*>(first)[0] = 1;  // lowest and highest byte exist
  static_cast<unsigned char*>(first)[pool.bytes() - 1] = 1;
  pool.give(first);
  EXPECT_EQ(pool.take(), first);
}

}  // namespace
}  // namespace tiersim::kernels::fiber_test
