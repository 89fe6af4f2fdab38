#include <gtest/gtest.h>

#include "hwmodels/compute/copy_engine.hpp"
#include "hwmodels/compute/sm_loads.hpp"
#include "hwmodels/memory/dram.hpp"

namespace tiersim::requests_test {
namespace {

using namespace std::chrono_literals;
using namespace literals;

// A tier that adds so much latency for each GB/s, at the end of a path.
class Tier final : public MemoryTier {
 public:
  explicit Tier(Duration each = {}) : each_(each) {}
  std::span<const Channel> channels() const override { return {}; }
  Bytes capacity() const override { return {}; }
  AccessCost cost(Direction, Bytes, Bytes) const override { return {}; }
  Duration added_latency(Bandwidth rate, double, Bytes) const override {
    return each_ * (rate.in_base() / 1'000'000'000);
  }

 private:
  Duration each_;
};

RoundTrip alone(Duration unloaded) {
  static const Tier tier;
  return {.unloaded = unloaded, .memory = &tier};
}

CopyEngineConfig fast_engine() {
  CopyEngineConfig c;
  c.to_gpu.value = 1000_GBps;
  c.from_gpu.value = 1000_GBps;
  return c;
}

// 8192 rows of 4 KB, a descriptor each of 1.365 us, reach 3 GB/s whatever the link could do.
TEST(CopyEngine, ADescriptorForEachRowLimitsScatteredCopies) {
  CopyEngineConfig c = fast_engine();
  c.descriptor_time = Sourced<Duration>{.value = Duration(1'365'000)};
  const auto engine = make_device(c);
  const Bytes payload = 4096_B * 8192;
  const auto cost = engine->cost(Direction::read, payload, 4096_B, alone(1us));
  EXPECT_EQ(cost.min_duration, Duration(1'365'000) * 8192);
  EXPECT_NEAR(static_cast<double>(payload.in_base()) / to_seconds(cost.min_duration) / 1e9, 3.0,
              0.01);
  EXPECT_EQ(engine->cost(Direction::read, payload, payload, alone(1us)).min_duration,
            Duration(1'365'000));
}

// The host takes 2 us for each of 1000 descriptors. The engine starts after 64 of them, and the
// other 936 are submitted while it runs: 50 ns each of the engine hide behind them, 3 us do not.
TEST(CopyEngine, TheFirstDescriptorsAreSubmittedBeforeTheEngineStarts) {
  CopyEngineConfig c = fast_engine();
  c.submission = Submission{.time = {.value = 2us}, .ahead = {.value = 64}};
  const auto cost = [&](Direction direction, std::int64_t descriptors = 1000) {
    return make_device(c)->cost(direction, 4096_B * descriptors, 4096_B, alone(1us));
  };
  EXPECT_EQ(cost(Direction::read).latency, 128us);
  EXPECT_EQ(cost(Direction::read).min_duration, 1872us);
  EXPECT_EQ(cost(Direction::write).latency, 128us);
  EXPECT_EQ(cost(Direction::write).min_duration, 1872us);
  EXPECT_EQ(cost(Direction::read, 10).latency, 20us);
  EXPECT_EQ(cost(Direction::read, 10).min_duration, 0us);
  c.descriptor_time = Sourced<Duration>{.value = 50ns};
  EXPECT_EQ(cost(Direction::read).min_duration, 1872us);
  c.descriptor_time->value = 3us;
  EXPECT_EQ(cost(Direction::read).min_duration, 3000us);
}

// 100 copies of 4000 B: 100 ns each and 4000 B at 8 GB/s (500 ns) are 60 us; the last 40 wait for
// 250 ns each.
TEST(CopyEngine, TheHostWritesShortCopiesItself) {
  CopyEngineConfig c = fast_engine();
  c.submission = Submission{.time = {.value = 2us}, .ahead = {.value = 1}};
  c.inlined = InlineCopies{.below = {.value = 4001_B},
                           .rate = {.value = 8_GBps},
                           .time = {.value = 100ns},
                           .queue = {.value = 60},
                           .waiting = {.value = 250ns}};
  const auto cost = [&](Direction direction, Bytes run) {
    return make_device(c)->cost(direction, run * 100, run, alone(1us));
  };
  EXPECT_EQ(cost(Direction::read, 4000_B).min_duration, 70us);
  EXPECT_EQ(cost(Direction::read, 4000_B).latency, 0us);
  EXPECT_EQ(cost(Direction::read, 4001_B).min_duration, 198us);  // submitted
  EXPECT_EQ(cost(Direction::read, 4001_B).latency, 2us);
  EXPECT_EQ(cost(Direction::write, 4000_B).min_duration, 198us);  // away from the GPU
}

// Kernel loads that only the bytes in flight limit.
SmLoadsConfig window_of(Bytes window) {
  SmLoadsConfig c;
  c.to_gpu.value = 1000_GBps;
  c.from_gpu.value = 1000_GBps;
  c.in_flight.value = window;
  return c;
}

// 1000 runs of 20 ns are 20 us, where their bytes take 4 us.
TEST(SmLoads, AGatherTakesTimeForEachRun) {
  SmLoadsConfig c = window_of(1_GiB);
  c.run_time = Sourced<Duration>{.value = 20ns};
  const auto loads = make_device(c);
  EXPECT_EQ(loads->cost(Direction::read, 4096_B * 1000, 4096_B, alone(1us)).min_duration, 20us);
  EXPECT_EQ(loads->cost(Direction::write, 4096_B * 1000, 4096_B, alone(1us)).min_duration, 20us);
}

// 4 SMs of 2 GB/s reach 8 GB/s, and 40 of them no more than the path.
TEST(SmLoads, FewSmsReachTheirOwnRate) {
  SmLoadsConfig c;
  c.to_gpu.value = 50_GBps;
  c.from_gpu.value = 20_GBps;
  c.in_flight.value = 1_GiB;
  c.sms = HeldSms{.taken = {.value = 4}, .of = {.value = 100}};
  EXPECT_EQ(make_device(c)->channels()[kToGpu].capacity, 50_GBps);
  c.sms->each_to_gpu = Sourced<Bandwidth>{.value = 2_GBps};
  EXPECT_EQ(make_device(c)->channels()[kToGpu].capacity, 8_GBps);
  EXPECT_EQ(make_device(c)->channels()[kFromGpu].capacity, 20_GBps);
  c.sms->each_from_gpu = Sourced<Bandwidth>{.value = 1_GBps};
  EXPECT_EQ(make_device(c)->channels()[kFromGpu].capacity, 4_GBps);
  c.sms->taken.value = 40;
  EXPECT_EQ(make_device(c)->channels()[kToGpu].capacity, 50_GBps);
}

TEST(SmLoads, BytesInFlightOverTheRoundTripLimitTheRate) {
  SmLoadsConfig c;
  c.to_gpu.value = 35_GBps;
  c.from_gpu.value = 50_GBps;
  c.in_flight.value = 64_KiB;
  const auto loads = make_device(c);
  // 64 KiB each microsecond: 16 MiB take 256 us.
  EXPECT_EQ(loads->cost(Direction::read, 16_MiB, 256_B, alone(1us)).min_duration, 256us);
  const auto stores = loads->cost(Direction::write, 16_MiB, 256_B, alone(1us));
  EXPECT_EQ(stores.charges.front().channel, 1U);
  EXPECT_EQ(stores.min_duration, 0us);  // posted
}

// 256 tags of 512 B over 1 us are 131 GB/s; of 64 B, 16.4 GB/s: 1 MiB takes 64 us.
TEST(SmLoads, OutstandingRequestsAreOfARunAtMost) {
  SmLoadsConfig c = window_of(1_GiB);
  c.outstanding = OutstandingRequests{.count = {.value = 256}, .size = {.value = 512_B}};
  const auto loads = make_device(c);
  EXPECT_EQ(loads->cost(Direction::read, 1_MiB, 4096_B, alone(1us)).min_duration, 8us);
  EXPECT_EQ(loads->cost(Direction::read, 1_MiB, 64_B, alone(1us)).min_duration, 64us);
}

// 1000 runs of 2 B are 1000 sectors of 32 B: 32 kB at 32 GB/s, and 16 sectors a microsecond.
TEST(SmLoads, AShortRunTakesAWholeSector) {
  SmLoadsConfig c;
  c.to_gpu.value = 32_GBps;
  c.from_gpu.value = 32_GBps;
  c.in_flight.value = 1_GiB;
  c.outstanding = OutstandingRequests{.count = {.value = 16}, .size = {.value = 128_B}};
  const auto loads = make_device(c);
  EXPECT_EQ(loads->request_run(1_B), 32_B);
  EXPECT_EQ(loads->request_run(32_B), 32_B);
  EXPECT_EQ(loads->request_run(33_B), 64_B);
  const auto read = loads->cost(Direction::read, 2000_B, 2_B, alone(1us));
  EXPECT_EQ(read.charges.front().busy, 32'000_B);
  EXPECT_EQ(read.moved, 32'000_B);
  EXPECT_EQ(read.min_duration, 62'500ns);
  EXPECT_EQ(loads->cost(Direction::write, 2000_B, 2_B, alone(1us)).charges.front().busy, 32'000_B);
  // 100 B and 50 B more: 4 sectors and 2.
  EXPECT_EQ(loads->cost(Direction::read, 150_B, 100_B, alone(1us)).moved, 192_B);
  c.sector.value = 64_B;
  EXPECT_EQ(make_device(c)->request_run(33_B), 64_B);
  EXPECT_EQ(make_device(c)->request_run(65_B), 128_B);
}

TEST(CopyEngine, RequestsARunAsItIs) {
  CopyEngineConfig c;
  c.to_gpu.value = 100_GBps;
  c.from_gpu.value = 100_GBps;
  EXPECT_EQ(make_device(c)->request_run(2_B), 2_B);
  EXPECT_EQ(make_device(c)->cost(Direction::read, 2000_B, 2_B, alone(1us)).moved, 2000_B);
}

TEST(CopyEngine, TheSlowerOfDescriptorsAndOutstandingRequestsCounts) {
  CopyEngineConfig c;
  c.to_gpu.value = 100_GBps;
  c.from_gpu.value = 100_GBps;
  c.descriptor_time = Sourced<Duration>{.value = 1us};
  c.outstanding = OutstandingRequests{.count = {.value = 32}, .size = {.value = 512_B}};
  const auto engine = make_device(c);
  // 16 KiB each microsecond: 64 us in one run; 256 descriptors of 4 KiB take longer.
  EXPECT_EQ(engine->cost(Direction::read, 1_MiB, 1_MiB, alone(1us)).min_duration, 64us);
  EXPECT_EQ(engine->cost(Direction::read, 1_MiB, 4096_B, alone(1us)).min_duration, 256us);
  EXPECT_EQ(engine->cost(Direction::write, 1_MiB, 1_MiB, alone(1us)).min_duration, 1us);  // posted
}

// 1 us and 10 ns each GB/s: 200 KB in flight keep up R with R (1 us + R 10 ns) = 200 KB, R = 100
// GB/s, where half of that would stand without load on a round trip of 2 us. Steps of 1 GB/s.
TEST(SmLoads, TheRateAndTheLoadedRoundTripFitEachOther) {
  const Tier tier(10ns);
  const auto loads = make_device(window_of(200'000_B));
  const Bytes payload = 1_GB;
  const auto cost =
      loads->cost(Direction::read, payload, 256_B, RoundTrip{.unloaded = 1us, .memory = &tier});
  const double rate = 1.0 / to_seconds(cost.min_duration);
  EXPECT_NEAR(rate, 100.0, 1.0);
}

TEST(SmLoads, MoreInFlightOrAShorterWayNeverTakesLonger) {
  for (const Duration each : {Duration{}, Duration(3ns), Duration(1us)}) {
    const Tier tier(each);
    Duration last = 24h;
    for (std::int64_t window = 1; window < (std::int64_t{1} << 40); window = window * 9 / 8 + 1) {
      const auto loads = make_device(window_of(Bytes::from_base(window)));
      const auto time = [&](Duration way) {
        return loads
            ->cost(Direction::read, 1_MiB, 256_B, RoundTrip{.unloaded = way, .memory = &tier})
            .min_duration;
      };
      EXPECT_LE(time(1us), last) << window;
      EXPECT_LE(time(500ns), time(1us)) << window;
      last = time(1us);
    }
  }
}

TEST(SmLoads, MoreBytesNeverTakeLessTime) {
  const Tier tier(3ns);
  const auto loads = make_device(window_of(64_KiB));
  Duration last{};
  for (std::int64_t bytes = 256; bytes < 1'000'000'000; bytes = bytes * 5 / 4) {
    const auto cost = loads->cost(Direction::read, Bytes::from_base(bytes), 256_B,
                                  {.unloaded = 1us, .memory = &tier});
    EXPECT_GE(cost.min_duration, last);
    last = cost.min_duration;
  }
}

TEST(SmLoads, HoldTheShareOfTheSmsThatIsStated) {
  SmLoadsConfig c = window_of(64_KiB);
  EXPECT_EQ(make_device(c)->held_sms(), 0);
  c.sms = HeldSms{.taken = {.value = 33}, .of = {.value = 132}};
  EXPECT_EQ(make_device(c)->held_sms(), 0.25);
}

}  // namespace
}  // namespace tiersim::requests_test
