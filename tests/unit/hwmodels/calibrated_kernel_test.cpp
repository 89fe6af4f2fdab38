#include <gtest/gtest.h>

#include "hwmodels/compute/roofline_gpu.hpp"

namespace tiersim::calibrated_kernel_test {
namespace {

using namespace std::chrono_literals;
using namespace literals;

constexpr Bytes kKB = Bytes::from_base(1000);
constexpr Bytes kMB = Bytes::from_base(1'000'000);
constexpr Flops kMFLOP = Flops::from_base(1'000'000);

// 1 TB/s, 1 TFLOP/s and 2 us, timed on part "a" with data-sheet rates of 2 TB/s and 2 TFLOP/s.
CalibratedKernelConfig fitted() {
  CalibratedKernelConfig c;
  c.kernel = "dense_decode/fma bf16";
  c.calibration = "a/2026-01-01-x";
  c.part = "a";
  c.launch = {.value = 2us, .number_class = NumberClass::fitted};
  c.bandwidth = Sourced<Bandwidth>{.value = 1000_GBps, .number_class = NumberClass::fitted};
  c.peak = Sourced<FlopRate>{.value = 1_TFLOPps, .number_class = NumberClass::fitted};
  c.part_memory_peak.value = 2000_GBps;
  c.part_peak.value = 2_TFLOPps;
  c.shortest = 1us;
  c.longest = 1s;
  return c;
}

RooflineGpuConfig gpu_of(const CalibratedKernelConfig& kernel, const std::string& part) {
  RooflineGpuConfig c;
  c.part = part;
  c.peak_bf16 = {.value = 2_TFLOPps, .number_class = NumberClass::specification};
  c.peak_int8 = {.value = 4_TFLOPps, .number_class = NumberClass::specification};
  c.efficiency = {.value = 0.5, .number_class = NumberClass::assumed};
  c.launch = {.value = 3us, .number_class = NumberClass::assumed};
  c.kernels.emplace().of[static_cast<std::size_t>(KernelFamily::attention)] = kernel;
  return c;
}

KernelWork attention(Bytes bytes, Flops flops) {
  return {.family = KernelFamily::attention,
          .flops = flops,
          .memory_time = 7us,  // by the memory's own model, which the fit replaces
          .memory_bytes = bytes,
          .memory_peak = 2000_GBps};
}

TEST(CalibratedKernel, TakesLaunchAndTheLargerOfItsOwnMemoryAndArithmetic) {
  const auto gpu = make_device(gpu_of(fitted(), "a"));
  const KernelTime by_memory = gpu->time(attention(4 * kMB, 1 * kMFLOP));
  EXPECT_EQ(by_memory.launch, 2us);
  EXPECT_EQ(by_memory.body, 4us);
  EXPECT_EQ(by_memory.own_memory, 4us);
  EXPECT_EQ(by_memory.compute, 1us);
  EXPECT_EQ(gpu->time(attention(4 * kMB, 9 * kMFLOP)).body, 9us);
}

// (3^2 + 4^2)^(1/2) = 5.
TEST(CalibratedKernel, RoundsTheCorner) {
  CalibratedKernelConfig kernel = fitted();
  kernel.sharpness = Sourced<double>{.value = 2};
  const auto gpu = make_device(gpu_of(kernel, "a"));
  EXPECT_NEAR(to_seconds(gpu->time(attention(3 * kMB, 4 * kMFLOP)).body), 5e-6, 2e-12);
}

TEST(CalibratedKernel, MisfitIsAFactorOnTheWholeTime) {
  CalibratedKernelConfig kernel = fitted();
  kernel.misfit.value = 1.5;
  const KernelTime time = make_device(gpu_of(kernel, "a"))->time(attention(4 * kMB, 1 * kMFLOP));
  EXPECT_EQ(time.launch + time.body, 9us);  // 1.5 * (2 + 4)
}

TEST(CalibratedKernel, OnAnotherPartRatesFollowTheCeilings) {
  CalibratedKernelConfig kernel = fitted();
  kernel.transfer.value = 2;
  KernelWork work = attention(4 * kMB, 1 * kMFLOP);
  work.memory_peak = 4000_GBps;  // twice that of the timed part: 2 us rather than 4
  const KernelTime time = make_device(gpu_of(kernel, "b"))->time(work);
  EXPECT_EQ(time.launch + time.body, 8us);  // 2 * (2 + 2)
  // The same card with another memory is still the timed part: no factor of a transfer.
  EXPECT_EQ(make_device(gpu_of(kernel, "a"))->time(work).body, 2us);
}

// The timed part reached 1 of 4 TFLOP/s; this one has 2, so half a TFLOP/s is left.
TEST(CalibratedKernel, ArithmeticFollowsTheRatioOfPeaks) {
  CalibratedKernelConfig kernel = fitted();
  kernel.part_peak.value = 4_TFLOPps;
  EXPECT_EQ(make_device(gpu_of(kernel, "b"))->time(attention(1 * kMB, 4 * kMFLOP)).body, 8us);
}

// 4 MB take 2 us of a memory of 2 TB/s, however fast a draw of the fit is.
TEST(CalibratedKernel, NoDrawIsFasterThanTheDataSheet) {
  CalibratedKernelConfig kernel = fitted();
  kernel.misfit.value = 0.1;
  const auto gpu = make_device(gpu_of(kernel, "a"));
  EXPECT_EQ(gpu->time(attention(4 * kMB, 1 * kMFLOP)).body, 2us);
  EXPECT_EQ(gpu->time(attention(1 * kMB, 40 * kMFLOP)).body, 20us);  // 2 TFLOP/s
}

TEST(CalibratedKernel, SaysWhereNothingWasTimed) {
  CalibratedKernelConfig kernel = fitted();
  kernel.shortest = 4us;
  kernel.longest = 10us;
  const auto gpu = make_device(gpu_of(kernel, "a"));
  EXPECT_FALSE(gpu->time(attention(8 * kMB, 1 * kMFLOP)).beyond_timed);  // 10 us
  EXPECT_TRUE(gpu->time(attention(9 * kMB, 1 * kMFLOP)).beyond_timed);
  EXPECT_TRUE(gpu->time(attention(1 * kMB, 1 * kMFLOP)).beyond_timed);  // 3 us
}

TEST(CalibratedKernel, AnotherArithmeticScalesByTheDataSheet) {
  const auto gpu = make_device(gpu_of(fitted(), "a"));
  KernelWork work = attention(1 * kMB, 8 * kMFLOP);
  work.arithmetic = Arithmetic::int8;  // 4 rather than 2 TFLOP/s
  EXPECT_EQ(gpu->time(work).body, 4us);
}

// 16 KB in flight for 1 us each: 16 GB/s.
TEST(CalibratedKernel, BytesInFlightOverTheLatencyLimitItsRate) {
  CalibratedKernelConfig kernel = fitted();
  kernel.in_flight = Sourced<Bytes>{.value = 16 * kKB};
  kernel.latency = Sourced<Duration>{.value = 1us};
  const KernelTime time = make_device(gpu_of(kernel, "a"))->time(attention(16 * kMB, 1 * kMFLOP));
  EXPECT_NEAR(to_seconds(time.body), 1e-3, 2e-12);  // rounds up to a picosecond
}

// Knots double every time.
TEST(CalibratedKernel, TheTableCorrectsTheEquation) {
  CalibratedKernelConfig kernel = fitted();
  for (const Duration t : {Duration(1us), Duration(10us), Duration(100us), Duration(1ms)})
    kernel.table.push_back({t, 2 * t});
  const auto gpu = make_device(gpu_of(kernel, "a"));
  const KernelTime time = gpu->time(attention(4 * kMB, 1 * kMFLOP));
  EXPECT_NEAR(to_seconds(time.launch + time.body), 12e-6, 2e-12);
  // Beyond the last knot its ratio goes on.
  const KernelTime beyond = gpu->time(attention(2_GB, 1 * kMFLOP));
  EXPECT_NEAR(to_seconds(beyond.launch + beyond.body), 4.004e-3, 1e-9);
}

TEST(CalibratedKernel, WhatLiesBeyondTheGpusOwnMemoryIsWaitedFor) {
  KernelWork work = attention(4 * kMB, 1 * kMFLOP);
  work.other_time = 20us;
  EXPECT_EQ(make_device(gpu_of(fitted(), "a"))->time(work).body, 20us);
}

TEST(CalibratedKernel, WithoutARateOfItsOwnTheModelOfTheMemoryStands) {
  CalibratedKernelConfig kernel = fitted();
  kernel.bandwidth.reset();
  const KernelTime time = make_device(gpu_of(kernel, "a"))->time(attention(4 * kMB, 1 * kMFLOP));
  EXPECT_EQ(time.body, 7us);
  EXPECT_FALSE(time.own_memory);
}

TEST(CalibratedKernel, SaysWhatItsTimesRestOn) {
  const auto here = make_device(gpu_of(fitted(), "a"))->basis(KernelFamily::attention);
  EXPECT_EQ(here.basis, "fitted");
  EXPECT_EQ(here.number_class, NumberClass::fitted);
  EXPECT_EQ(here.source, "a/2026-01-01-x: dense_decode/fma bf16");
  const auto there = make_device(gpu_of(fitted(), "b"))->basis(KernelFamily::attention);
  EXPECT_EQ(there.basis, "transferred");
  EXPECT_EQ(there.number_class, NumberClass::assumed);
  const auto other = make_device(gpu_of(fitted(), "a"))->basis(KernelFamily::gemm);
  EXPECT_EQ(other.basis, "specification");
  EXPECT_EQ(other.number_class, NumberClass::assumed);  // efficiency and launch are
}

TEST(CalibratedKernel, NeverTakesLessForMoreWork) {
  CalibratedKernelConfig kernel = fitted();
  kernel.sharpness = Sourced<double>{.value = 1.7};
  Duration modelled = 1us;
  for (const Duration measured : {Duration(3us), Duration(3us), Duration(9us), Duration(500us)}) {
    kernel.table.push_back({modelled, measured});
    modelled *= 7;
  }
  const auto gpu = make_device(gpu_of(kernel, "a"));
  Duration before{};
  for (std::int64_t kilobytes = 1; kilobytes < 1'000'000; kilobytes += kilobytes / 3 + 1) {
    const KernelTime time = gpu->time(attention(kilobytes * kKB, 5 * kMFLOP));
    EXPECT_GE(time.launch + time.body, before) << kilobytes;
    before = time.launch + time.body;
  }
}

}  // namespace
}  // namespace tiersim::calibrated_kernel_test
