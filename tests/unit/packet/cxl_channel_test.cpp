#include <vector>

#include <gtest/gtest.h>

#include "hwmodels/packet/cxl/flit_channel.hpp"
#include "sim/core/engine.hpp"

namespace tiersim::cxl_channel_test {
namespace {

using namespace std::chrono_literals;
using namespace literals;

/// 68 B flits that take 1 ns each: 128/130 of this rate are 68 GB/s.
CxlPacketConfig nanosecond_flits() {
  CxlPacketConfig c;
  c.raw.value = Bandwidth::from_base(69'062'500'000);
  c.credits.requests.value = 10'000;
  c.credits.writes.value = 10'000;
  c.credits.responses.value = 10'000;
  return c;
}

struct Sink final : CxlReceiver {
  explicit Sink(Engine& e) : engine(e) {}
  void receive(const CxlMessage& message) override {
    seen.push_back(message.access);
    when.push_back(engine.now());
    if (channel != nullptr) channel->release(message);
  }
  Engine& engine;
  std::vector<std::uint32_t> seen;
  std::vector<SimTime> when;
  FlitChannel* channel = nullptr;
};

struct Fixture {
  explicit Fixture(const CxlPacketConfig& c, std::size_t inputs = 1,
                   std::vector<std::int64_t> weights = {})
      : sink(engine),
        channel(engine, c, {.raw = c.raw.value, .inputs = inputs, .weights = std::move(weights)}) {
    channel.connect(sink);
  }
  void offer(CxlClass message_class, std::uint32_t access, Duration at = Duration(0),
             std::size_t input = 0) {
    channel.offer(input, {.access = access, .message_class = message_class}, SimTime(at));
  }
  /// Sends all at once from one input; returns the number of flits.
  std::int64_t flits_of(CxlClass message_class, std::uint32_t count) {
    // Ready a moment later, so that the first flit finds all of them.
    for (std::uint32_t i = 0; i < count; ++i) offer(message_class, i, 1ns);
    engine.run();
    EXPECT_EQ(sink.seen.size(), count);
    return channel.flits();
  }
  Engine engine;
  Sink sink;
  FlitChannel channel;
};

// One header and three slots of data, then an empty first slot and the fourth.
TEST(FlitChannel, ALoneLineTakesTwoFlits) {
  Fixture f(nanosecond_flits());
  f.offer(CxlClass::data, 1);
  f.engine.run();
  EXPECT_EQ(f.channel.flits(), 2);
  EXPECT_EQ(f.sink.when, (std::vector<SimTime>{SimTime(2ns)}));
  EXPECT_DOUBLE_EQ(f.channel.slots_used(), 4.5 / 8);
}

// Two headers in one slot and 3 data, then 4 data, then the last one.
TEST(FlitChannel, TwoLinesShareAHeaderSlot) {
  Fixture f(nanosecond_flits());
  EXPECT_EQ(f.flits_of(CxlClass::data, 2), 3);
  EXPECT_EQ(f.sink.when, (std::vector<SimTime>{SimTime(1ns + 2ns), SimTime(1ns + 3ns)}));
}

TEST(FlitChannel, AFlitHoldsFourRequestsOrEightAnswersWithoutData) {
  EXPECT_EQ(Fixture(nanosecond_flits()).flits_of(CxlClass::request, 4), 1);
  EXPECT_EQ(Fixture(nanosecond_flits()).flits_of(CxlClass::request, 5), 2);
  EXPECT_EQ(Fixture(nanosecond_flits()).flits_of(CxlClass::no_data, 8), 1);
  EXPECT_EQ(Fixture(nanosecond_flits()).flits_of(CxlClass::no_data, 9), 2);
}

// 4.5 slots a line that is read, 5 a line that is written; the last flit may not be full.
TEST(FlitChannel, ABacklogFillsEverySlot) {
  EXPECT_NEAR(static_cast<double>(Fixture(nanosecond_flits()).flits_of(CxlClass::data, 800)),
              800 * 4.5 / 4, 1);
  EXPECT_NEAR(static_cast<double>(Fixture(nanosecond_flits()).flits_of(CxlClass::write, 800)),
              800 * 5.0 / 4, 1);
  CxlPacketConfig large = nanosecond_flits();
  large.flit.value = 256_B;
  EXPECT_NEAR(static_cast<double>(Fixture(large).flits_of(CxlClass::data, 1000)), 1000 * 4.5 / 15,
              1);
  EXPECT_NEAR(static_cast<double>(Fixture(large).flits_of(CxlClass::write, 1500)), 1500 * 5.0 / 15,
              1);
}

// r requests of 1 slot and 1 - r writes of 5, or .5 (1 - r) and 4.5 r the other way.
TEST(FlitChannel, MixesTakeTheSumOfTheirSlots) {
  for (const std::uint32_t reads : {300U, 500U, 800U}) {
    Fixture down(nanosecond_flits());
    Fixture up(nanosecond_flits());
    for (std::uint32_t i = 0; i < 1000; ++i) {
      const bool read = i * reads / 1000 != (i + 1) * reads / 1000;  // spread evenly
      down.offer(read ? CxlClass::request : CxlClass::write, i, 1ns);
      up.offer(read ? CxlClass::data : CxlClass::no_data, i, 1ns);
    }
    down.engine.run();
    up.engine.run();
    const double r = reads;
    EXPECT_NEAR(static_cast<double>(down.channel.flits()), (r + 5 * (1000 - r)) / 4, 1) << reads;
    // Two neighbouring answers share a header slot: an odd answer at the end leaves half a slot.
    EXPECT_NEAR(static_cast<double>(up.channel.flits()), (4.5 * r + 0.5 * (1000 - r)) / 4, 1)
        << reads;
  }
}

// One line in 10 ns: every line starts a new flit, so that it takes two.
TEST(FlitChannel, ThinTrafficLeavesSlotsEmpty) {
  Fixture f(nanosecond_flits());
  for (std::uint32_t i = 0; i < 100; ++i) f.offer(CxlClass::data, i, 10ns * static_cast<int>(i));
  f.engine.run();
  EXPECT_EQ(f.channel.flits(), 200);
}

// One credit, 5 ns of flight: a request has come after 6 ns, its credit after another 5 ns and a
// flit.
TEST(FlitChannel, ASenderWaitsForItsCredit) {
  CxlPacketConfig c = nanosecond_flits();
  c.credits.requests.value = 1;
  c.flight.value = 5ns;
  Fixture f(c);
  f.sink.channel = &f.channel;
  for (std::uint32_t i = 0; i < 3; ++i) f.offer(CxlClass::request, i);
  f.engine.run();
  EXPECT_EQ(f.sink.when, (std::vector<SimTime>{SimTime(6ns), SimTime(18ns), SimTime(30ns)}));
  EXPECT_EQ(f.channel.credits(CxlClass::request).issued(), 3);
  EXPECT_EQ(f.channel.credits(CxlClass::request).held(), 0);
}

TEST(FlitChannel, ClassesDoNotWaitForEachOther) {
  CxlPacketConfig c = nanosecond_flits();
  c.credits.requests.value = 1;
  Fixture f(c);
  for (std::uint32_t i = 0; i < 2; ++i) f.offer(CxlClass::request, i);
  f.offer(CxlClass::write, 7);
  f.engine.run();
  EXPECT_EQ(f.sink.seen, (std::vector<std::uint32_t>{0, 7}));
  EXPECT_EQ(f.channel.entered() - f.channel.delivered(), 1);
}

TEST(FlitChannel, InputsShareByWeight) {
  Fixture f(nanosecond_flits(), 2, {1, 3});
  for (std::uint32_t i = 0; i < 400; ++i) {
    f.offer(CxlClass::write, 0, 1ns, 0);
    f.offer(CxlClass::write, 1, 1ns, 1);
  }
  f.engine.run_until(SimTime(1ns + 251ns));  // 200 lines of 5 slots and a flit
  std::int64_t of_second = 0;
  for (const std::uint32_t input : f.sink.seen) of_second += input;
  EXPECT_NEAR(static_cast<double>(f.sink.seen.size()), 200, 1);
  EXPECT_NEAR(static_cast<double>(of_second), 150, 2);
}

}  // namespace
}  // namespace tiersim::cxl_channel_test
