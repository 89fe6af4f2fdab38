#include "sim/step/system.hpp"

#include <gtest/gtest.h>

#include "tests/unit/step/small_system.hpp"

namespace tiersim::system_test {
namespace {

using namespace std::chrono_literals;
using namespace literals;
using testing::copy;
using testing::kernel;
using testing::small_system;

Bytes busy(const System& system, const OpPlan& plan, std::string_view channel) {
  for (const ChannelCharge& charge : plan.charges)
    if (system.channels()[charge.channel.index()].name == channel) return charge.busy;
  return {};
}

TEST(System, AKernelTakesLaunchLatencyAndTheLongerOfMemoryAndArithmetic) {
  const System system(small_system());
  const OpPlan memory = system.plan(kernel(system, 1'000'000_B, 1_GFLOP));  // 10 us, 1 ms
  EXPECT_TRUE(memory.exclusive);
  EXPECT_EQ(memory.setup, 1us + 100ns);
  EXPECT_EQ(memory.uncontended(system.channels()), 1us + 100ns + 1ms);
  const OpPlan reading = system.plan(kernel(system, 1_GB, 1_GFLOP));  // 10 ms, 1 ms
  EXPECT_EQ(reading.uncontended(system.channels()), 1us + 100ns + 10ms);
}

// The host submits four runs, 1 us each, before the engine starts.
TEST(System, ACopyStartsWhenItsDescriptorsAreSubmitted) {
  SystemConfig config = small_system();
  CopyEngineConfig engine;
  engine.to_gpu.value = engine.from_gpu.value = 8_GBps;
  engine.submission = Submission{.time = {.value = 1us}, .ahead = {.value = 16}};
  config.copy_engine = testing::fixed<Requester>(engine);
  const System system(config);
  Op op = copy(system, 8'000'000_B);
  for (Access& access : op.accesses) access.run = 2'000'000_B;
  EXPECT_EQ(system.plan(op).setup, 500ns + 4us);
  EXPECT_EQ(system.plan(op).issue, 4us);
  EXPECT_EQ(system.plan(op).uncontended(system.channels()), 500ns + 4us + 1ms);
  // Keys and values of one operation are submitted one after another.
  const Access values = op.accesses.front();
  op.accesses.push_back(values);
  EXPECT_EQ(system.plan(op).setup, 500ns + 8us);
}

TEST(System, ACopyChargesEveryDeviceOnItsWayOnce) {
  const System system(small_system());
  const OpPlan plan = system.plan(copy(system, 8'000'000_B));
  EXPECT_FALSE(plan.exclusive);
  EXPECT_EQ(plan.setup, 500ns);  // link and memory; copies are not launched
  EXPECT_EQ(busy(system, plan, "pool.bus"), 8'000'000_B);
  EXPECT_EQ(busy(system, plan, "hbm.bus"), 8'000'000_B);
  EXPECT_EQ(busy(system, plan, "pcie.to_gpu"), 8'000'020_B);  // one completion header
  EXPECT_EQ(busy(system, plan, "pcie.from_gpu"), 24_B);       // one request
  EXPECT_EQ(busy(system, plan, "copy_engine.to_gpu"), 8'000'000_B);
  EXPECT_EQ(plan.uncontended(system.channels()), 500ns + 1ms);  // the copy engine's 8 GB/s
}

// Attention as timed: 2 us, 80 GB/s of the memory's 100, and the specification's 1 TFLOP/s.
SystemConfig calibrated_system(double read_efficiency) {
  CalibratedKernelConfig fit;
  fit.part = "small";
  fit.launch.value = 2us;
  fit.bandwidth = Sourced<Bandwidth>{.value = 80_GBps};
  fit.part_memory_peak.value = 100_GBps;
  fit.part_peak.value = 1_TFLOPps;
  fit.shortest = 1us;
  fit.longest = 1s;
  RooflineGpuConfig gpu;
  gpu.part = "small";
  gpu.peak_bf16.value = gpu.peak_int8.value = 1_TFLOPps;
  gpu.efficiency.value = 1.0;
  gpu.launch.value = 1us;
  gpu.kernels.emplace().of[static_cast<std::size_t>(KernelFamily::attention)] = fit;
  DramConfig hbm = testing::dram(1000_GB, 100_GBps);
  hbm.read_efficiency.value = read_efficiency;
  SystemConfig config = small_system();
  config.gpu = testing::fixed<ComputeUnit>(gpu);
  config.tiers.at("hbm").memory = testing::fixed<MemoryTier>(hbm);
  return config;
}

Op attention(const System& system) {
  Op op = kernel(system, 1_GB, 1_GFLOP);
  op.family = KernelFamily::attention;
  return op;
}

// By the memory's own model 1 GB takes 20 ms; the kernel was seen to take 12.5 ms, and its launch
// holds the memory's latency.
TEST(System, ATimedKernelIsFasterThanAPessimisticModelOfTheMemory) {
  const System system(calibrated_system(0.5));
  const OpPlan plan = system.plan(attention(system));
  EXPECT_EQ(plan.setup, 2us);
  EXPECT_NEAR(to_seconds(plan.uncontended(system.channels())), 12.502e-3, 2e-12);
  EXPECT_NEAR(busy(system, plan, "hbm.bus") / 1_GB, 1.25, 1e-9);
}

// By the model 10 ms: the kernel takes its 12.5 ms and leaves the memory to others meanwhile.
TEST(System, ATimedKernelThatIsSlowerThanTheMemoryLeavesItToOthers) {
  const System system(calibrated_system(1.0));
  const OpPlan plan = system.plan(attention(system));
  EXPECT_NEAR(to_seconds(plan.uncontended(system.channels())), 12.502e-3, 2e-12);
  EXPECT_EQ(busy(system, plan, "hbm.bus"), 1_GB);
  EXPECT_EQ(plan.min_reason, "kernel");
}

// 1 GB by loads of 5 GB/s: 200 ms after the link's and the pool's 500 ns.
TEST(System, ATimedKernelWaitsForWhatItReadsBeyondItsMemory) {
  const System system(calibrated_system(1.0));
  Op op = attention(system);
  Access far = op.accesses.front();
  far.tier = system.tier("pool");
  op.accesses.push_back(far);
  const OpPlan plan = system.plan(op);
  EXPECT_EQ(plan.setup, 2us + 500ns);
  EXPECT_NEAR(to_seconds(plan.uncontended(system.channels())), 0.2 + 2.5e-6, 1e-6);
}

TEST(System, TrafficNamesTheTierAndTheLinks) {
  const System system(small_system());
  const OpPlan plan = system.plan(copy(system, 1000_B));
  std::vector<std::string> devices;
  for (const DeviceTraffic& part : plan.traffic) {
    devices.push_back(system.device_names()[part.device.index()]);
    EXPECT_EQ(part.payload, 1000_B);
  }
  EXPECT_EQ(devices, (std::vector<std::string>{"pool", "pcie", "hbm"}));
}

TEST(System, TransfersByKernelsAreLaunchedAndTransfersByDmaAreNot) {
  const System system(small_system());
  Op op = copy(system, 1000_B);
  op.requester = RequesterKind::sm;
  EXPECT_EQ(system.plan(op).setup, 500ns + 1us);
}

// 1000 rows of 2 B: by kernels 1000 sectors of 32 B on every device of the way, by DMA the rows.
TEST(System, LinksAndTiersServeTheSectorsThatKernelsRequest) {
  const System system(small_system());
  Op op = copy(system, 2000_B);
  for (Access& access : op.accesses) access.run = 2_B;
  const OpPlan dma = system.plan(op);
  EXPECT_EQ(busy(system, dma, "pool.bus"), 2000_B);
  op.requester = RequesterKind::sm;
  const OpPlan plan = system.plan(op);
  EXPECT_EQ(busy(system, plan, "sm.to_gpu"), 32'000_B);
  EXPECT_EQ(busy(system, plan, "pcie.to_gpu"), 1000 * (32_B + 20_B));
  EXPECT_EQ(busy(system, plan, "pool.bus"), 32'000_B);
  EXPECT_EQ(busy(system, plan, "hbm.bus"), 2000_B);
  for (const DeviceTraffic& part : plan.traffic) {
    const bool near = system.device_names()[part.device.index()] == "hbm";
    EXPECT_EQ(part.payload, 2000_B);
    EXPECT_EQ(part.moved, near ? 2000_B : 32'000_B);
  }
  EXPECT_EQ(plan.payload, 4000_B);
  op.accesses = {{system.tier("pool"), Direction::read, TensorClass::keys, 150_B, 100_B}};
  EXPECT_EQ(busy(system, system.plan(op), "pool.bus"), 192_B);
}

}  // namespace
}  // namespace tiersim::system_test
