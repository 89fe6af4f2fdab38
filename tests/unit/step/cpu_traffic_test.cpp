// Traffic of CPUs in a memory that GPUs use as well.
#include "sim/step/cpu_traffic.hpp"

#include <gtest/gtest.h>

#include "tests/unit/step/small_system.hpp"

namespace tiersim::cpu_traffic_test {
namespace {

using namespace std::chrono_literals;
using namespace literals;

// 50 GB/s, and 1 ns of queueing for each GB/s of reads; writes queue for nothing.
class Queueing final : public MemoryTier {
 public:
  std::span<const Channel> channels() const override { return channels_; }
  Bytes capacity() const override { return 1_GiB; }
  AccessCost cost(Direction, Bytes payload, Bytes) const override {
    return {.charges = {{0, payload}}, .latency = 100ns, .min_duration = {}, .moved = payload};
  }
  Duration added_latency(Bandwidth rate, double read_share, Bytes) const override {
    return Duration(
        static_cast<std::int64_t>(static_cast<double>(rate.in_base()) * read_share / 1e6));
  }

 private:
  std::vector<Channel> channels_{{"bus", 50_GBps}};
};

std::unique_ptr<MemoryTier> beside_cpus(Bandwidth rate, double read_share = 1) {
  return beside(std::make_unique<Queueing>(), {.rate = {.value = rate}, .read_share = read_share});
}

TEST(CpuTraffic, TakesItsPartOfTheBandwidth) {
  const auto memory = beside_cpus(30_GBps);
  ASSERT_EQ(memory->channels().size(), 1U);
  EXPECT_EQ(memory->channels().front().capacity, 20_GBps);
  EXPECT_EQ(memory->channels().front().name, "bus");
  EXPECT_EQ(memory->capacity(), 1_GiB);
  EXPECT_DOUBLE_EQ(share_left(Queueing(), {.rate = {.value = 30_GBps}}), 0.4);
  EXPECT_LT(share_left(Queueing(), {.rate = {.value = 60_GBps}}), 0);
}

// Of 30 GB/s of CPUs a read waits 30 ns, and at 10 GB/s of its own 10 ns more.
TEST(CpuTraffic, ReadsQueueBehindIt) {
  const auto memory = beside_cpus(30_GBps);
  EXPECT_EQ(memory->cost(Direction::read, 4_KiB, 4_KiB).latency, 130ns);
  EXPECT_EQ(memory->cost(Direction::write, 4_KiB, 4_KiB).latency, 100ns);
  EXPECT_EQ(memory->added_latency(10_GBps, 1, 4_KiB), 10ns);
  // Writes of CPUs: (10 * 1 + 30 * 0) of 40 GB/s are reads.
  EXPECT_EQ(beside_cpus(30_GBps, 0)->added_latency(10_GBps, 1, 4_KiB), 10ns);
  EXPECT_EQ(beside_cpus(30_GBps, 0)->cost(Direction::read, 4_KiB, 4_KiB).latency, 100ns);
}

// A pool of 50 GB/s behind a link of 10: copies slow down once CPUs leave less than the link takes.
TEST(CpuTraffic, SlowsCopiesOfASystem) {
  const auto time = [](std::optional<Bandwidth> rate) {
    SystemConfig config = testing::small_system();
    if (rate) config.tiers["pool"].cpu_traffic = CpuTraffic{.rate = {.value = *rate}};
    const System system(config);
    const OpPlan plan = system.plan(testing::copy(system, 8'000'000_B));
    return plan.uncontended(system.channels()) - plan.setup;
  };
  EXPECT_EQ(time(std::nullopt), 1ms);  // the copy engine's 8 GB/s
  EXPECT_EQ(time(40_GBps), 1ms);
  EXPECT_EQ(time(46_GBps), 2ms);
}

}  // namespace
}  // namespace tiersim::cpu_traffic_test
