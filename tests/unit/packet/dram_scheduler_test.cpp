// The priorities of a pseudo channel. HBM3-6400 in clocks of .625 ns: tRCD 32, tCL 20, burst 2,
// tCCD_L 4, tRTP 9, tRP 26, tRFC 560, tREFI 6240.
#include <gtest/gtest.h>

#include <algorithm>

#include "tests/unit/packet/dram_support.hpp"

namespace tiersim::dram_scheduler_test {
namespace {

using namespace dram_test;
using Kind = DramCommandKind;

struct Bench {
  explicit Bench(DramPacketConfig c)
      : config(std::move(c)),
        channel(DramClocks(config.timings), shape_of(config), config.scheduler, &trace) {}

  void push(const DramAtom& atom) {
    channel.run_until(atom.arrival, done);
    channel.push(atom, done);
  }
  void finish() { channel.run_until(PseudoChannel::kNever, done); }
  std::int64_t done_at(std::uint32_t tag) const {
    for (const DramDone& each : done)
      if (each.tag == tag) return each.at;
    return -1;
  }
  std::int64_t count(Kind kind) const {
    return std::count_if(trace.begin(), trace.end(),
                         [kind](const DramCommand& c) { return c.kind == kind; });
  }

  DramPacketConfig config;
  DramTrace trace;
  PseudoChannel channel;
  std::vector<DramDone> done;
};

DramPacketConfig no_refresh() {
  DramPacketConfig c = hbm3();
  c.scheduler.refresh = DramRefresh::none;
  return c;
}

TEST(DramScheduler, ServesOpenRowsBeforeOlderConflicts) {
  Bench bench(no_refresh());
  bench.push({.arrival = 0, .row = 1, .bank = 0, .tag = 0});
  bench.push({.arrival = 40, .row = 2, .bank = 0, .tag = 1});
  bench.push({.arrival = 41, .row = 1, .bank = 0, .tag = 2});
  bench.finish();
  EXPECT_EQ(bench.done_at(0), 32 + 22);
  EXPECT_EQ(bench.done_at(2), 41 + 22);
  // Its PRE follows the hit by tRTP = 9, but no sooner than tRAS = 45 after the ACT at 0.
  EXPECT_EQ(bench.done_at(1), 50 + 26 + 32 + 22);
}

// Hits of another row come faster than they can be served, for ever. A read at a distance of tCCD_L
// is forced once the conflict is 1600 clocks old, closes the row and opens its own.
TEST(DramScheduler, NobodyStarves) {
  for (const bool bounded : {false, true}) {
    DramPacketConfig config = no_refresh();
    config.scheduler.max_age = bounded ? Duration(1'000'000) : std::chrono::milliseconds(1);
    Bench bench(config);
    for (std::uint32_t i = 0; i < 5000; ++i) {
      bench.push({.arrival = 2 * i, .row = 1, .bank = 0, .tag = 7});
      if (i == 50) bench.push({.arrival = 2 * i, .row = 2, .bank = 0, .tag = 1});
    }
    bench.finish();
    // It is seen within the 64 atoms of the window that are in front of it.
    const std::int64_t served = bench.done_at(1);
    if (bounded) {
      EXPECT_GT(served, 100 + 1600);
      EXPECT_LE(served, 100 + 64 * 4 + 1600 + 4 + 9 + 26 + 32 + 22);
    } else {
      EXPECT_GT(served, 5000 * 4);
    }
  }
}

TEST(DramScheduler, AtomsBeyondTheWindowWait) {
  DramPacketConfig config = no_refresh();
  config.scheduler.window = 1;
  Bench bench(config);
  bench.push({.arrival = 0, .row = 1, .bank = 0, .tag = 0});
  bench.push({.arrival = 0, .row = 1, .bank = 8, .tag = 1});  // another group
  bench.finish();
  // The second one's ACT follows the first one's RD, at 32.
  EXPECT_EQ(bench.done_at(1), 32 + 32 + 22);
}

TEST(DramScheduler, PostedWritesAreAcknowledgedWhenTaken) {
  DramPacketConfig config = no_refresh();
  config.scheduler.write_buffer = 2;
  config.scheduler.write_high = 2;
  config.scheduler.write_low = 0;
  Bench bench(config);
  for (std::uint32_t tag = 0; tag < 3; ++tag)
    bench.push({.arrival = 10, .row = 1, .bank = 0, .write = true, .tag = tag});
  EXPECT_EQ(bench.done_at(0), 10 + 22);
  EXPECT_EQ(bench.done_at(1), 10 + 22);
  EXPECT_EQ(bench.done_at(2), -1);
  EXPECT_EQ(bench.channel.in_flight(), 3);
  bench.finish();
  EXPECT_EQ(bench.done_at(2), 10 + 32 + 22);  // taken when the first WR went out
  EXPECT_EQ(bench.channel.in_flight(), 0);
}

// Reads always wait, so writes go only in batches: from 8 held ones down to 3.
TEST(DramScheduler, WritesAreDrainedFromTheHighToTheLowMark) {
  DramPacketConfig config = no_refresh();
  config.scheduler.write_buffer = 16;
  config.scheduler.write_high = 8;
  config.scheduler.write_low = 3;
  Bench bench(config);
  for (std::uint32_t i = 0; i < 64; ++i) bench.push({.arrival = 0, .row = 1, .bank = 0});
  for (std::uint32_t i = 0; i < 7; ++i)
    bench.push({.arrival = 0, .row = 1, .bank = 8, .write = true});
  bench.channel.run_until(100, bench.done);
  EXPECT_GT(bench.channel.counts().reads, 0);
  EXPECT_EQ(bench.channel.counts().writes, 0);
  bench.push({.arrival = 100, .row = 1, .bank = 8, .write = true});
  bench.channel.run_until(250, bench.done);
  EXPECT_EQ(bench.channel.counts().writes, 5);
  EXPECT_LT(bench.channel.counts().reads, 64);
  bench.finish();
  EXPECT_EQ(bench.channel.counts().writes, 8);  // and the rest once there are no reads
  EXPECT_EQ(bench.channel.counts().turnarounds, 3);
}

TEST(DramScheduler, AClosedPageSparesThePrechargeOfTheNextRow) {
  for (const auto policy : {DramPagePolicy::open, DramPagePolicy::closed}) {
    DramPacketConfig config = no_refresh();
    config.scheduler.page_policy = policy;
    Bench bench(config);
    bench.push({.arrival = 0, .row = 1, .bank = 0, .tag = 0});
    bench.push({.arrival = 1000, .row = 2, .bank = 0, .tag = 1});
    bench.finish();
    EXPECT_EQ(bench.done_at(1) - 1000, policy == DramPagePolicy::open ? 80 : 54);
  }
}

TEST(DramScheduler, AllBankRefreshStopsTheRankAndPerBankRefreshOneBank) {
  DramPacketConfig config = hbm3();
  Bench all(config);
  all.push({.arrival = 6240, .row = 1, .bank = 5, .tag = 0});
  all.finish();
  EXPECT_EQ(all.done_at(0), 6240 + 560 + 54);
  EXPECT_EQ(all.count(Kind::refresh), 1);

  config.scheduler.refresh = DramRefresh::per_bank;  // bank 0 is due at 6240 / 32 = 195
  Bench single(config);
  single.push({.arrival = 195, .row = 1, .bank = 0, .tag = 0});
  single.push({.arrival = 195 + 13, .row = 1, .bank = 9, .tag = 1});  // past tRREFD
  single.finish();
  EXPECT_EQ(single.done_at(0), 195 + 320 + 54);
  EXPECT_EQ(single.done_at(1), 195 + 13 + 54);
}

TEST(DramScheduler, RanksRefreshInTurns) {
  Bench bench(ddr5(2));
  const std::int64_t refi = DramClocks(bench.config.timings).refi;
  bench.push({.arrival = 3 * refi, .row = 1, .bank = 0});
  bench.finish();
  std::vector<std::int64_t> at;
  for (const DramCommand& c : bench.trace)
    if (c.kind == Kind::refresh) at.push_back(c.at_ps / 416);
  std::sort(at.begin(), at.end());
  EXPECT_EQ(at, (std::vector<std::int64_t>{refi, refi + refi / 2, 2 * refi, 2 * refi + refi / 2,
                                           3 * refi}));
}

}  // namespace
}  // namespace tiersim::dram_scheduler_test
