// SMs that a gather by kernel loads withholds from kernels that run at the same time.
#include <gtest/gtest.h>

#include "sim/step/bound.hpp"
#include "sim/step/executor.hpp"
#include "tests/unit/step/small_system.hpp"

namespace tiersim::held_sms_test {
namespace {

using namespace std::chrono_literals;
using namespace literals;
using testing::copy;
using testing::empty_graph;
using testing::fixed;
using testing::kernel;
using testing::small_system;

// SM loads of 5 GB/s, on a quarter of the SMs where `held`.
SystemConfig quarter_system(bool held = true) {
  SystemConfig c = small_system();
  SmLoadsConfig sm;
  sm.to_gpu.value = sm.from_gpu.value = 5_GBps;
  sm.in_flight.value = 1_GiB;
  if (held) sm.sms = HeldSms{.taken = {.value = 33}, .of = {.value = 132}};
  c.sm = fixed<Requester>(sm);
  return c;
}

// From the pool into registers: it shares nothing but the SMs with a kernel.
Op gather(const System& system, Bytes bytes) {
  return {.kind = OpKind::transfer,
          .phase = Phase::gather,
          .requester = RequesterKind::sm,
          .flops = {},
          .accesses = {{system.tier("pool"), Direction::read, TensorClass::keys, bytes, bytes}}};
}

// Ends of the kernel, which is ready first, and of the gather: after a launch of 1 us and latencies
// of .1 us (HBM) and .5 us (pool).
struct Ends {
  Duration kernel;  // or what is beside the gather
  Duration gather;
};
Ends together(const System& system, const Op& compute, const Op& transfer) {
  StepGraph graph = empty_graph(system);
  graph.add(compute);
  graph.add(transfer);
  const OpPlans plans = system.plan(graph);
  const Execution e = execute(graph, system, plans);
  EXPECT_GE(e.time, bound_of(graph, system, plans).time);
  return {e.timings[0].end.time_since_epoch(), e.timings[1].end.time_since_epoch()};
}

constexpr double kByte = 10;  // ps of HBM, in whose bytes SMs are counted

double ps(Duration time) {
  return static_cast<double>(time.count());
}

// 100 us of arithmetic. It is alone for .5 us, then has three quarters of the SMs for the 200 us of
// the gather: 1.5 us + 99.5 us / .75.
TEST(HeldSms, AKernelBesideAGatherComputesOnTheOthers) {
  const System system(quarter_system());
  const Ends ends = together(system, kernel(system, 0_B, Flops::from_base(100'000'000)),
                             gather(system, 1'000'000_B));
  EXPECT_NEAR(ps(ends.kernel), 1.5e6 + 99.5e6 / 0.75, 2 * kByte);
  EXPECT_EQ(ends.gather, 201'500ns);
}

// A gather of 40 us: the kernel does 30 us of its work meanwhile, and 69.5 us after it.
TEST(HeldSms, TheyAreGivenBackWhenTheGatherEnds) {
  const System system(quarter_system());
  const Ends ends = together(system, kernel(system, 0_B, Flops::from_base(100'000'000)),
                             gather(system, 200'000_B));
  EXPECT_EQ(ends.gather, 41'500ns);
  EXPECT_NEAR(ps(ends.kernel), 41.5e6 + 69.5e6, 2 * kByte);
}

TEST(HeldSms, AKernelThatWaitsForMemoryIsNotSlowed) {
  const System system(quarter_system());
  const Ends ends = together(system, kernel(system, 10'000'000_B, Flops::from_base(50'000'000)),
                             gather(system, 1'000'000_B));
  EXPECT_EQ(ends.kernel, 1us + 100ns + 100us);
}

TEST(HeldSms, NothingIsHeldByCopiesOrWhereNothingIsStated) {
  const System held(quarter_system());
  const Op compute = kernel(held, 0_B, Flops::from_base(100'000'000));
  EXPECT_EQ(together(held, compute, copy(held, 1'000'000_B)).kernel, 101us);
  const System free(quarter_system(false));
  EXPECT_EQ(together(free, compute, gather(free, 1'000'000_B)).kernel, 101us);
  EXPECT_EQ(held.channels().size(), free.channels().size() + 1);
  EXPECT_EQ(held.channels().back().name, "gpu.sms");
}

// Both could take half or more of the link's 10 GB/s. The copy has 8 for 1 us, then each has 5, of
// which a header of 20 B on 1 MB takes its part, until the copy ends.
TEST(HeldSms, AGatherSharesItsLinkAsIfItHeldNone) {
  const System system(quarter_system());
  const Ends ends = together(system, copy(system, 1'000'000_B), gather(system, 1'000'000_B));
  const double headers = 992'000 * 20e-6 * 200;
  EXPECT_NEAR(ps(ends.kernel), 1.5e6 + 992'000 * 200.0 + headers, 2);
  EXPECT_NEAR(ps(ends.gather), 201.5e6 + headers, 2);
}

// 100 us of arithmetic on three quarters of the SMs, and 50 us of it beside 100 us of memory: 50 us
// on a half are 100 us as well, and on a third more.
TEST(LeftSms, ArithmeticTakesLongerOnTheRest) {
  const System system(small_system());
  const auto time = [&](Bytes bytes, std::int64_t flops, double sms) {
    Op op = kernel(system, bytes, Flops::from_base(flops));
    op.sm_share = sms;
    StepGraph graph = empty_graph(system);
    graph.add(op);
    return execute(graph, system, system.plan(graph)).time;
  };
  EXPECT_EQ(time(0_B, 100'000'000, 1), 101us);
  EXPECT_NEAR(ps(time(0_B, 100'000'000, 0.75)), 1e6 + 100e6 / 0.75, 2);
  EXPECT_EQ(time(10'000'000_B, 50'000'000, 0.5), time(10'000'000_B, 50'000'000, 1));
  EXPECT_NEAR(ps(time(10'000'000_B, 50'000'000, 1.0 / 3)),
              ps(time(10'000'000_B, 50'000'000, 1)) + 50e6, 20);
}

// The gather holds the quarter that the kernel leaves free, and neither waits for the other.
TEST(LeftSms, AreThereForAGather) {
  const System system(quarter_system());
  Op op = kernel(system, 0_B, Flops::from_base(100'000'000));
  op.sm_share = 0.75;
  const Ends ends = together(system, op, gather(system, 1'000'000_B));
  EXPECT_NEAR(ps(ends.kernel), 1e6 + 100e6 / 0.75, 2 * kByte);
  EXPECT_EQ(ends.gather, 201'500ns);
}

TEST(HeldSms, AloneEachTakesWhatItTakesWithout) {
  const System held(quarter_system());
  const System free(quarter_system(false));
  for (const Op& op : {kernel(held, 1'234'567_B, Flops::from_base(98'765'432)),
                       kernel(held, 9_B, Flops::from_base(98'765'432)), gather(held, 777'777_B)}) {
    StepGraph graph = empty_graph(held);
    graph.add(op);
    EXPECT_EQ(execute(graph, held, held.plan(graph)).time,
              execute(graph, free, free.plan(graph)).time);
  }
}

}  // namespace
}  // namespace tiersim::held_sms_test
