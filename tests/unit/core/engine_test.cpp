#include "sim/core/engine.hpp"

#include <array>
#include <chrono>
#include <cstdint>
#include <memory>
#include <stdexcept>
#include <thread>
#include <vector>

#include <gtest/gtest.h>

namespace tiersim::engine_test {
namespace {

using namespace std::chrono_literals;

SimTime at(Duration since_start) {
  return SimTime(since_start);
}

TEST(Engine, RunsEventsInTheOrderOfTime) {
  Engine engine;
  std::vector<int> order;
  engine.call_at(at(3ns), [&] { order.push_back(3); });
  engine.call_at(at(1ns), [&] { order.push_back(1); });
  engine.call_after(2ns, [&] { order.push_back(2); });
  engine.run();
  EXPECT_EQ(order, (std::vector<int>{1, 2, 3}));
  EXPECT_EQ(engine.now(), at(3ns));
  EXPECT_EQ(engine.events(), 3U);
}

TEST(Engine, RunsEventsOfOneInstantInTheOrderOfScheduling) {
  Engine engine;
  std::vector<int> order;
  engine.call_at(at(1ns), [&] {
    order.push_back(0);
    engine.call_at(at(1ns), [&] { order.push_back(3); });
  });
  engine.call_at(at(1ns), [&] { order.push_back(1); });
  engine.call_at(at(1ns), [&] { order.push_back(2); });
  engine.run();
  EXPECT_EQ(order, (std::vector<int>{0, 1, 2, 3}));
}

TEST(Engine, RunsTheLanesOfAnInstantInTheirOrder) {
  Engine engine;
  std::vector<int> order;
  const auto note = [&](int what, Lane lane) {
    engine.call_at(
        at(1ns), [&order, what] { order.push_back(what); }, lane);
  };
  note(5, Lane::late);
  note(3, Lane::normal);
  note(1, Lane::urgent);
  note(6, Lane::late);
  note(4, Lane::normal);
  note(2, Lane::urgent);
  engine.run();
  EXPECT_EQ(order, (std::vector<int>{1, 2, 3, 4, 5, 6}));
}

TEST(Engine, AnUrgentEventForNowGoesBeforeWhatIsDue) {
  Engine engine;
  std::vector<int> order;
  engine.call_at(at(1ns), [&] {
    engine.call_at(
        at(1ns), [&] { order.push_back(4); }, Lane::late);
    engine.call_at(at(1ns), [&] { order.push_back(3); });
    engine.call_at(
        at(1ns), [&] { order.push_back(1); }, Lane::urgent);
  });
  engine.call_at(at(1ns), [&] { order.push_back(2); });
  engine.run();
  EXPECT_EQ(order, (std::vector<int>{1, 2, 3, 4}));
}

TEST(Engine, RunUntilStopsAfterTheEventsOfItsEnd) {
  Engine engine;
  int count = 0;
  for (const Duration time : {1ns, 2ns, 3ns}) engine.call_at(at(time), [&] { ++count; });
  engine.run_until(at(2ns));
  EXPECT_EQ(count, 2);
  EXPECT_EQ(engine.now(), at(2ns));
  engine.call_at(at(Duration(2500)), [&] { EXPECT_EQ(count++, 2); });
  engine.run();
  EXPECT_EQ(count, 4);
}

TEST(Engine, GivesAHandlerItsPayload) {
  struct Sum final : EventHandler {
    void on_event(Engine&, std::uint64_t payload) override { total += payload; }
    std::uint64_t total = 0;
  } sum;
  Engine engine;
  engine.schedule(at(1ns), sum, 7);
  engine.schedule(at(2ns), sum);
  engine.schedule(at(3ns), sum, 30);
  engine.run();
  EXPECT_EQ(sum.total, 37U);
  EXPECT_EQ(engine.events(), 3U);
}

TEST(Engine, ACancelledEventDoesNotHappenAndDoesNotMoveTheClock) {
  Engine engine;
  int count = 0;
  const Token late = engine.call_at_cancellable(at(9ns), [&] { ++count; });
  const Token early = engine.call_at_cancellable(at(1ns), [&] { ++count; });
  engine.call_at(at(2ns), [&] {
    EXPECT_FALSE(engine.cancel(early));
    EXPECT_TRUE(engine.cancel(late));
    EXPECT_FALSE(engine.cancel(late));
  });
  engine.run();
  EXPECT_EQ(count, 1);
  EXPECT_EQ(engine.now(), at(2ns));
  EXPECT_FALSE(engine.cancel(Token()));
}

TEST(Engine, CancellingDestroysTheCapturesAtOnce) {
  Engine engine;
  const auto held = std::make_shared<int>(1);
  const Token token = engine.call_at_cancellable(at(1ns), [held] {});
  EXPECT_EQ(held.use_count(), 2);
  engine.cancel(token);
  EXPECT_EQ(held.use_count(), 1);
}

TEST(Engine, DestructionDestroysPendingCallables) {
  const auto held = std::make_shared<int>(1);
  {
    Engine engine;
    engine.call_at(at(1ns), [held] {});
    EXPECT_EQ(held.use_count(), 2);
  }
  EXPECT_EQ(held.use_count(), 1);
}

TEST(EngineDeathTest, RefusesThePast) {
  Engine engine;
  engine.run_until(at(2ns));
  EXPECT_DEATH(engine.call_at(at(1ns), [] {}), "precondition violated");
  EXPECT_DEATH(static_cast<void>(engine.delay(Duration(-1))), "precondition violated");
}

Process ticker(Engine& engine, std::vector<Duration>& times, int count) {
  for (int i = 0; i < count; ++i) {
    co_await engine.delay(10ns);
    times.push_back(engine.now().time_since_epoch());
  }
}

TEST(Process, WaitsForItsDelays) {
  Engine engine;
  std::vector<Duration> times;
  engine.spawn(ticker(engine, times, 3));
  EXPECT_TRUE(times.empty());
  engine.run();
  EXPECT_EQ(times, (std::vector<Duration>{10ns, 20ns, 30ns}));
}

Process caller(Engine& engine, std::vector<Duration>& times) {
  co_await ticker(engine, times, 2);
  times.push_back(0ns);
  const ProcessRef spawned = engine.spawn(ticker(engine, times, 1));
  co_await spawned;
  EXPECT_FALSE(engine.alive(spawned));
  co_await spawned;
  times.push_back(1ns);
}

TEST(Process, CallsAndJoins) {
  Engine engine;
  std::vector<Duration> times;
  engine.spawn(caller(engine, times));
  engine.run();
  EXPECT_EQ(times, (std::vector<Duration>{10ns, 20ns, 0ns, 30ns, 1ns}));
}

Process thrower(Engine& engine, Duration when) {
  if (when > 0ns) co_await engine.delay(when);
  throw std::runtime_error("broken");
}
Process catcher(Engine& engine, Duration when, bool& caught) {
  try {
    co_await thrower(engine, when);
  } catch (const std::runtime_error&) {
    caught = true;
  }
}

TEST(Process, ThrowsToItsCaller) {
  for (const Duration when : {Duration(0ns), Duration(1ns)}) {
    Engine engine;
    bool caught = false;
    engine.spawn(catcher(engine, when, caught));
    engine.run();
    EXPECT_TRUE(caught);
  }
}

TEST(Process, ThrowsOutOfRunWhereSpawned) {
  Engine engine;
  engine.spawn(thrower(engine, 1ns));
  EXPECT_THROW(engine.run(), std::runtime_error);
  engine.run();
}

Process empty() {
  co_return;
}
Process many_calls(int count) {
  for (int i = 0; i < count; ++i) co_await empty();
}

TEST(Process, CallsThatNeverWaitDoNotGrowTheStack) {
  Engine engine;
  engine.spawn(many_calls(200'000));
  engine.run();
}

struct Counted {
  explicit Counted(int& live_count) : live(live_count) { ++live; }
  ~Counted() { --live; }
  Counted(const Counted&) = delete;
  Counted& operator=(const Counted&) = delete;
  int& live;
};
Process holder(Engine& engine, int& live) {
  const Counted counted(live);
  co_await engine.delay(100ns);
}
Process outer(Engine& engine, int& live) {
  const Counted counted(live);
  co_await holder(engine, live);
}

TEST(Process, EndsWithTheEngine) {
  int live = 0;
  {
    Engine engine;
    engine.spawn(outer(engine, live));
    engine.spawn(holder(engine, live));
    engine.run_until(at(1ns));
    engine.spawn(holder(engine, live));
    const Process never_spawned = holder(engine, live);
    EXPECT_EQ(live, 3);
  }
  EXPECT_EQ(live, 0);
}

TEST(Process, CancellationDestroysWhatItHoldsAndWakesItsJoiners) {
  Engine engine;
  int live = 0;
  const ProcessRef victim = engine.spawn(outer(engine, live));
  bool joined = false;
  const auto join = [](Engine& e, ProcessRef other, bool& done) -> Process {
    co_await other;
    EXPECT_EQ(e.now(), at(5ns));
    done = true;
  };
  engine.spawn(join(engine, victim, joined));
  engine.call_at(at(5ns), [&] {
    EXPECT_EQ(live, 2);
    EXPECT_TRUE(engine.cancel(victim));
    EXPECT_EQ(live, 0);
    EXPECT_FALSE(engine.cancel(victim));
    for (int i = 0; i < 10; ++i) engine.spawn(outer(engine, live));  // not in the victim's frame
  });
  engine.run_until(at(50ns));
  EXPECT_TRUE(joined);
  EXPECT_EQ(live, 20);
  engine.run();
  EXPECT_EQ(live, 0);
  EXPECT_EQ(engine.now(), at(105ns));
}

// Each thread has its own engine and pool of frames; a frame may also end on another thread.
TEST(Process, EnginesOnThreadsShareNothing) {
  std::vector<std::unique_ptr<Engine>> engines;
  for (int i = 0; i < 4; ++i) engines.push_back(std::make_unique<Engine>());
  std::array<int, 4> live{};
  std::vector<std::thread> threads;
  for (std::size_t i = 0; i < engines.size(); ++i) {
    threads.emplace_back([&engine = *engines[i], &count = live[i]] {
      for (int n = 0; n < 100; ++n) engine.spawn(outer(engine, count));
      engine.run();
      for (int n = 0; n < 100; ++n) engine.spawn(outer(engine, count));
      engine.run_until(engine.now() + 1ns);
    });
  }
  for (std::thread& thread : threads) thread.join();
  EXPECT_EQ(live, (std::array{200, 200, 200, 200}));
  engines.clear();
  EXPECT_EQ(live, (std::array{0, 0, 0, 0}));
}

TEST(ProcessDeathTest, CannotCancelItself) {
  const auto suicide = [](Engine& engine, ProcessRef& self) -> Process {
    engine.cancel(self);
    co_return;
  };
  EXPECT_DEATH(
      {
        Engine engine;
        ProcessRef self;
        self = engine.spawn(suicide(engine, self));
        engine.run();
      },
      "precondition violated");
}

}  // namespace
}  // namespace tiersim::engine_test
