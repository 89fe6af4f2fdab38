// Random systems at flow level: the properties of every one of them, and a check that each property
// finds a fault planted in the model and reduces it to a small system.
#include <gtest/gtest.h>

#include "tests/property/flow_system_properties.hpp"

namespace tiersim::testing::flow_system_test {
namespace {

const int kDraws = draws_of(100, 5000);

Simulation real(const FlowSystem& s) {
  return run(s);
}

TEST(RandomSystems, KeepEveryInvariant) {
  expect_always(1, kDraws, keeps_invariants(real));
}
TEST(RandomSystems, AreNeverSlowerWithMoreOfAnyCapacity) {
  expect_always(2, kDraws, wider_is_never_slower(real));
}
TEST(RandomSystems, AreNeverSlowerWithLessOverhead) {
  expect_always(3, kDraws, less_overhead_is_never_slower(real));
}
TEST(RandomSystems, LoseNoThroughputToOneMoreGpu) {
  expect_always(4, kDraws, one_gpu_more_keeps_throughput(real));
}
TEST(RandomSystems, TakeAsLongWithTwiceTheGpusOnTwiceOfWhatTheyShare) {
  expect_always(5, kDraws, twice_of_all_takes_as_long(real));
}
TEST(RandomSystems, TakeTwiceAsLongOnAClockOfHalfTheRate) {
  expect_always(6, kDraws, slower_clock_scales_times(real));
}
TEST(RandomSystems, TakeTheirSetupMoreInHalfChunks) {
  expect_always(9, kDraws, half_chunks_add_their_setup(real));
}
TEST(RandomSystems, DoNotCareForTheOrderOfCopies) {
  expect_always(7, kDraws, order_of_copies_is_nothing(real));
}

/// Events of the channel observer against the operations that began and ended by then.
class InFlight final : public ChannelObserver {
 public:
  void on_taken(ChannelId channel, std::size_t instance, SimTime now, Bytes taken) override {
    told_.push_back({channel, instance, now, taken});
  }
  std::string broken(const Simulation& sim) const {
    for (const Told& t : told_) {
      const auto [least, most] = bounds(sim, t);
      if (t.taken < least || t.taken > most)
        return fmt::format("{} has taken {} B at {} ps; {} have ended, {} have begun",
                           sim.system->channels()[t.channel.index()].name, t.taken.in_base(),
                           t.now.time_since_epoch().count(), least.in_base(), most.in_base());
    }
    return {};
  }

 private:
  struct Told {
    ChannelId channel;
    std::size_t instance;
    SimTime now;
    Bytes taken;
  };
  static std::pair<Bytes, Bytes> bounds(const Simulation& sim, const Told& t) {
    const auto sharers =
        static_cast<std::size_t>(sim.system->channels()[t.channel.index()].sharers);
    Bytes least;
    Bytes most;
    for (std::size_t gpu = t.instance * sharers; gpu < (t.instance + 1) * sharers; ++gpu)
      for (std::size_t op = 0; op < sim.plans.size(); ++op) {
        const OpTiming& timing = sim.execution.timings[gpu * sim.plans.size() + op];
        for (const ChannelCharge& charge : sim.plans[op].charges) {
          if (charge.channel != t.channel) continue;
          if (timing.end < t.now) least += charge.busy;
          if (timing.flow < t.now) most += charge.busy;
        }
      }
    return {least, most};
  }
  std::vector<Told> told_;
};

Property bytes_are_in_or_out_or_in_flight(bool honest) {
  return [honest](Choices& c) {
    const FlowSystem s = draw_system(c, Order::any);
    InFlight observer;
    Simulation sim = run(s, &observer);
    if (!honest)
      for (OpTiming& timing : sim.execution.timings) timing.flow = timing.end;
    return observer.broken(sim);
  };
}

TEST(RandomSystems, HaveBytesInOrOutOrInFlight) {
  expect_always(8, kDraws, bytes_are_in_or_out_or_in_flight(true));
  EXPECT_TRUE(find_counterexample(8, kDraws, bytes_are_in_or_out_or_in_flight(false)));
}

struct Fault {
  const char* name;
  Property (*property)(const FlowModel&);
  Simulation (*model)(const FlowSystem&);
};

class PlantedFault : public ::testing::TestWithParam<Fault> {};

TEST_P(PlantedFault, IsFoundAndMadeSmall) {
  const auto found = find_counterexample(11, 150, GetParam().property(GetParam().model));
  ASSERT_TRUE(found);
  // Of 40 to 90 choices; a fast link, for example, shows only between fast tiers and engines.
  EXPECT_LE(found->size(), 6U) << found->text();
}

Simulation counts_one_byte_more(const FlowSystem& s) {
  Simulation sim = run(s);
  sim.execution.busy.back() += Bytes::from_base(1);
  return sim;
}
Simulation links_above_40_GBps_are_slow(const FlowSystem& s) {
  FlowSystem other = s;
  for (FlowLink& link : other.links)
    if (link.rate > 40'000'000'000) link.rate /= 4;
  return run(other);
}
Simulation without_a_launch_rows_take_long(const FlowSystem& s) {
  FlowSystem other = s;
  if (s.launch == 0)
    for (FlowTier& tier : other.tiers) tier.row_time += 1000;
  return run(other);
}
Simulation many_gpus_thrash(const FlowSystem& s) {
  FlowSystem other = s;
  if (s.gpus > 4)
    for (FlowTier& tier : other.tiers) tier.rate /= 4;
  return run(other);
}
Simulation latency_has_a_floor(const FlowSystem& s) {
  FlowSystem other = s;
  for (FlowLink& link : other.links) link.latency = std::max<std::int64_t>(link.latency, 50'000);
  return run(other);
}
Simulation small_copies_are_slow(const FlowSystem& s) {
  FlowSystem other = s;
  for (FlowOp& op : other.ops)
    if (op.bytes < 2000) op.bytes = 2000;
  return run(other);
}
Simulation first_copy_is_read_twice(const FlowSystem& s) {
  FlowSystem other = s;
  other.ops.front().bytes *= 2;
  return run(other);
}

INSTANTIATE_TEST_SUITE_P(
    RandomSystems, PlantedFault,
    ::testing::Values(Fault{"Invariants", keeps_invariants, counts_one_byte_more},
                      Fault{"Wider", wider_is_never_slower, links_above_40_GBps_are_slow},
                      Fault{"Overhead", less_overhead_is_never_slower,
                            without_a_launch_rows_take_long},
                      Fault{"OneGpuMore", one_gpu_more_keeps_throughput, many_gpus_thrash},
                      Fault{"Twice", twice_of_all_takes_as_long, many_gpus_thrash},
                      Fault{"Clock", slower_clock_scales_times, latency_has_a_floor},
                      Fault{"HalfChunks", half_chunks_add_their_setup, small_copies_are_slow},
                      Fault{"OrderOfCopies", order_of_copies_is_nothing, first_copy_is_read_twice}),
    [](const auto& fault) { return std::string(fault.param.name); });

}  // namespace
}  // namespace tiersim::testing::flow_system_test
