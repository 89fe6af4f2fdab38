#include <gtest/gtest.h>

#include "hwmodels/compute/roofline_gpu.hpp"
#include "hwmodels/device_library.hpp"

namespace tiersim::compute_test {
namespace {

using namespace std::chrono_literals;
using namespace literals;

RooflineGpuConfig one_teraflop() {
  RooflineGpuConfig c;
  c.peak_bf16.value = 2_TFLOPps;
  c.peak_int8.value = 8_TFLOPps;
  c.efficiency.value = 0.5;
  c.launch.value = 3us;
  return c;
}

TEST(RooflineGpu, TakesTheLongerOfArithmeticAndMemory) {
  const auto gpu = make_device(one_teraflop());
  KernelWork work{.flops = 1_GFLOP, .memory_time = 2ms};
  EXPECT_EQ(gpu->time(work).compute, 1ms);
  EXPECT_EQ(gpu->time(work).body, 2ms);
  work.memory_time = 10us;
  EXPECT_EQ(gpu->time(work).body, 1ms);
  EXPECT_EQ(gpu->time(work).launch, 3us);
}

TEST(RooflineGpu, TheArithmeticChoosesThePeak) {
  const auto gpu = make_device(one_teraflop());
  EXPECT_EQ(gpu->time({.arithmetic = Arithmetic::int8, .flops = 1_GFLOP}).compute, 250us);
}

TEST(RooflineGpu, WithoutFp8UnitsSuchWeightsAreMultipliedAsBf16) {
  RooflineGpuConfig c = one_teraflop();
  const KernelWork work{.arithmetic = Arithmetic::fp8, .flops = 1_GFLOP};
  EXPECT_EQ(make_device(c)->time(work).compute, 1ms);
  c.peak_fp8 = {.value = 4_TFLOPps};
  EXPECT_EQ(make_device(c)->time(work).compute, 500us);
}

TEST(RooflineGpu, AFamilyMayHaveAnEfficiencyOfItsOwn) {
  RooflineGpuConfig c = one_teraflop();
  c.family_efficiency.emplace();
  c.family_efficiency->of[static_cast<std::size_t>(KernelFamily::attention)] = {.value = 0.25};
  const auto gpu = make_device(c);
  EXPECT_EQ(gpu->time({.family = KernelFamily::attention, .flops = 1_GFLOP}).compute, 2ms);
  EXPECT_EQ(gpu->time({.family = KernelFamily::gemm, .flops = 1_GFLOP}).compute, 1ms);
}

TEST(RooflineGpu, ExpertsAreProductsUnlessTheyHaveNumbersOfTheirOwn) {
  RooflineGpuConfig c = one_teraflop();
  c.family_efficiency.emplace();
  c.family_efficiency->of[static_cast<std::size_t>(KernelFamily::gemm)] = {.value = 0.25};
  const KernelWork work{.family = KernelFamily::experts, .flops = 1_GFLOP};
  EXPECT_EQ(make_device(c)->time(work).compute, 2ms);
  EXPECT_EQ(make_device(c)->family_for(KernelFamily::experts), KernelFamily::gemm);
  c.family_efficiency->of[static_cast<std::size_t>(KernelFamily::experts)] = {.value = 0.5};
  EXPECT_EQ(make_device(c)->time(work).compute, 1ms);
  EXPECT_EQ(make_device(c)->family_for(KernelFamily::experts), KernelFamily::experts);
}

// 1 MiB with 1 KiB in flight for 1 us each: 1024 us.
TEST(RooflineGpu, BytesInFlightOverTheLatencyLimitTheOwnMemory) {
  RooflineGpuConfig c = one_teraflop();
  KernelWork work{.memory_time = 1us, .memory_bytes = 1_MiB, .memory_latency = 1us};
  EXPECT_EQ(make_device(c)->time(work).body, 1us);
  c.in_flight = {.value = 1_KiB};
  EXPECT_EQ(make_device(c)->time(work).body, 1024us);
  work.memory_time = 2ms;
  EXPECT_EQ(make_device(c)->time(work).body, 2ms);
}

// p = 2: 3 ms and 4 ms are 5 ms together; p = 1 adds them up.
TEST(RooflineGpu, SharpnessBlendsArithmeticAndMemory) {
  RooflineGpuConfig c = one_teraflop();
  c.sharpness = {.value = 2.0};
  const KernelWork work{.flops = 3_GFLOP, .memory_time = 4ms};
  // The power is good to 1e-13: 1 ps of 5 ms, rounded up.
  EXPECT_NEAR(static_cast<double>(make_device(c)->time(work).body.count()), 5e9, 1.5);
  c.sharpness->value = 1.0;
  EXPECT_NEAR(static_cast<double>(make_device(c)->time(work).body.count()), 7e9, 1.5);
  c.sharpness->value = 64.0;
  EXPECT_EQ(make_device(c)->time({.flops = 1_GFLOP, .memory_time = 4ms}).body, 4ms);
  EXPECT_EQ(make_device(c)->time({.memory_time = 4ms}).body, 4ms);
  EXPECT_EQ(make_device(c)->time({}).body, 0ms);
}

TEST(RooflineGpu, TheBlendLiesBetweenTheLargerAndTheSumAndNeverFalls) {
  RooflineGpuConfig c = one_teraflop();
  for (const double p : {1.0, 1.7, 4.0, 16.0, 64.0}) {
    c.sharpness = {.value = p};
    const auto gpu = make_device(c);
    Duration last{};
    for (int us = 0; us <= 3000; us += 50) {
      const Duration memory = std::chrono::microseconds(us);
      const Duration body = gpu->time({.flops = 1_GFLOP, .memory_time = memory}).body;
      EXPECT_GE(body, std::max<Duration>(memory, 1ms));
      EXPECT_LE(body, memory + 1ms + Duration(1));
      EXPECT_GE(body, last);
      last = body;
    }
  }
}

TEST(DeviceLibrary, HasEveryKindThatIsListed) {
  const DeviceLibrary library = make_device_library();
  EXPECT_EQ(library.memory.names(), std::vector<std::string>({"dram", "nvme"}));
  EXPECT_EQ(library.link.names(),
            std::vector<std::string>({"cxl", "hop", "network", "nvlink", "pcie"}));
  EXPECT_EQ(library.request.names(),
            std::vector<std::string>({"copy_engine", "host_cpu", "sm_loads"}));
  EXPECT_EQ(library.compute.names(), std::vector<std::string>({"roofline_gpu"}));
}

}  // namespace
}  // namespace tiersim::compute_test
