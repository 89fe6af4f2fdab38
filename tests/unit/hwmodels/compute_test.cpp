#include <gtest/gtest.h>

#include "hwmodels/compute/copy_engine.hpp"
#include "hwmodels/compute/roofline_gpu.hpp"
#include "hwmodels/compute/sm_loads.hpp"
#include "hwmodels/device_library.hpp"

namespace tiersim {
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

// A tier whose latency no load changes, at the end of a path with this round trip.
RoundTrip alone(Duration unloaded) {
  class Tier final : public MemoryTier {
    std::span<const Channel> channels() const override { return {}; }
    Bytes capacity() const override { return {}; }
    AccessCost cost(Direction, Bytes, Bytes) const override { return {}; }
  };
  static const Tier tier;
  return {unloaded, &tier};
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

// 8192 rows of 4 KB, a descriptor each of 1.365 us, reach 3 GB/s whatever the link could do.
TEST(CopyEngine, ADescriptorForEachRowLimitsScatteredCopies) {
  CopyEngineConfig c;
  c.to_gpu.value = 55_GBps;
  c.from_gpu.value = 55_GBps;
  c.descriptor_time.value = Duration(1'365'000);
  const auto engine = make_device(c);
  const Bytes payload = 4096_B * 8192;
  const auto cost = engine->cost(Direction::read, payload, 4096_B, alone(1us));
  EXPECT_EQ(cost.min_duration, Duration(1'365'000) * 8192);
  EXPECT_NEAR(static_cast<double>(payload.in_base()) / to_seconds(cost.min_duration) / 1e9, 3.0,
              0.01);
  EXPECT_EQ(engine->cost(Direction::read, payload, payload, alone(1us)).min_duration, Duration(1'365'000));
}

TEST(SmLoads, BytesInFlightOverTheRoundTripLimitTheRate) {
  SmLoadsConfig c;
  c.to_gpu.value = 35_GBps;
  c.from_gpu.value = 50_GBps;
  c.in_flight.value = 64_KiB;
  const auto loads = make_device(c);
  // 64 KiB each microsecond: 16 MiB take 256 us.
  EXPECT_EQ(loads->cost(Direction::read, 16_MiB, 256_B, alone(1us)).min_duration, 256us);
  EXPECT_EQ(loads->cost(Direction::write, 16_MiB, 256_B, alone(1us)).charges.front().channel, 1U);
}

TEST(DeviceLibrary, HasEveryKindThatIsListed) {
  const DeviceLibrary library = make_device_library();
  EXPECT_EQ(library.memory.names(), std::vector<std::string>({"dram"}));
  EXPECT_EQ(library.link.names(), std::vector<std::string>({"cxl", "hop", "pcie"}));
  EXPECT_EQ(library.request.names(), std::vector<std::string>({"copy_engine", "sm_loads"}));
  EXPECT_EQ(library.compute.names(), std::vector<std::string>({"roofline_gpu"}));
}

}  // namespace
}  // namespace tiersim
