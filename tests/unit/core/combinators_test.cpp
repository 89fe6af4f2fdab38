#include "sim/core/combinators.hpp"

#include <chrono>
#include <stdexcept>
#include <vector>

#include <gtest/gtest.h>

#include "sim/core/engine.hpp"
#include "sim/core/resource.hpp"
#include "sim/core/store.hpp"

namespace tiersim::combinators_test {
namespace {

using namespace std::chrono_literals;

SimTime at(Duration since_start) {
  return SimTime(since_start);
}

struct Live {
  explicit Live(int& live_count) : count(live_count) { ++count; }
  ~Live() { --count; }
  Live(const Live&) = delete;
  Live& operator=(const Live&) = delete;
  int& count;
};

Process wait(Engine& engine, Duration time, int& live) {
  const Live here(live);
  if (time > 0ns) co_await engine.delay(time);
}
Process fail(Engine& engine, Duration time) {
  co_await engine.delay(time);
  throw std::runtime_error("failed");
}

/// Runs `body` as the only process and returns when it ended.
template <class Body>
Duration run(Engine& engine, Body body) {
  engine.spawn(body());
  engine.run();
  return engine.now().time_since_epoch();
}

TEST(AllOf, WaitsForTheLast) {
  Engine engine;
  int live = 0;
  const auto body = [&]() -> Process {
    co_await all_of(wait(engine, 3ns, live), wait(engine, 9ns, live), engine.delay(5ns));
    EXPECT_EQ(engine.now(), at(9ns));
    co_await all_of(wait(engine, 0ns, live), wait(engine, 0ns, live));
    std::vector<Process> many;
    for (int i = 0; i < 4; ++i) many.push_back(wait(engine, 2ns, live));
    co_await all_of(std::move(many));
    EXPECT_EQ(live, 0);
  };
  EXPECT_EQ(run(engine, body), 11ns);
}

TEST(AllOf, OfNothingDoesNotWait) {
  Engine engine;
  const auto body = []() -> Process {
    std::vector<Process> none;
    co_await all_of(std::move(none));
  };
  EXPECT_EQ(run(engine, body), 0ns);
}

TEST(AllOf, AFailureEndsTheRest) {
  Engine engine;
  int live = 0;
  bool caught = false;
  const auto body = [&]() -> Process {
    try {
      co_await all_of(wait(engine, 9ns, live), fail(engine, 3ns));
    } catch (const std::runtime_error&) {
      caught = true;
      EXPECT_EQ(live, 0);
    }
  };
  EXPECT_EQ(run(engine, body), 3ns);
  EXPECT_TRUE(caught);
}

TEST(AnyOf, GivesTheFirstAndEndsTheRest) {
  Engine engine;
  int live = 0;
  const auto body = [&]() -> Process {
    const std::size_t first =
        co_await any_of(wait(engine, 5ns, live), wait(engine, 2ns, live), engine.delay(9ns));
    EXPECT_EQ(first, 1U);
    EXPECT_EQ(live, 0);
    const std::size_t at_once = co_await any_of(wait(engine, 5ns, live), wait(engine, 0ns, live));
    EXPECT_EQ(at_once, 1U);
    co_await engine.delay(1ns);
  };
  EXPECT_EQ(run(engine, body), 3ns);
}

TEST(AnyOf, TheLoserLeavesTheLine) {
  Engine engine;
  Resource resource(engine, 1);
  const auto body = [&]() -> Process {
    co_await resource.acquire();
    const std::size_t first = co_await any_of(resource.acquire(), engine.delay(4ns));
    EXPECT_EQ(first, 1U);
    resource.release();
    EXPECT_EQ(resource.in_use(), 0);
  };
  EXPECT_EQ(run(engine, body), 4ns);
}

TEST(Timeout, TellsWhetherItCameInTime) {
  Engine engine;
  Resource resource(engine, 1);
  const auto body = [&]() -> Process {
    const bool free_one = co_await timeout(resource.acquire(), 5ns);
    EXPECT_TRUE(free_one);
    const bool taken = co_await timeout(resource.acquire(), 5ns);
    EXPECT_FALSE(taken);
    EXPECT_EQ(engine.now(), at(5ns));
    engine.call_after(3ns, [&] { resource.release(); });
    const bool in_time = co_await timeout(resource.acquire(), 5ns);
    EXPECT_TRUE(in_time);
    EXPECT_EQ(engine.now(), at(8ns));
  };
  EXPECT_EQ(run(engine, body), 8ns);
  EXPECT_EQ(resource.in_use(), 1);
}

TEST(Timeout, EndsAProcessThatTakesTooLong) {
  Engine engine;
  int live = 0;
  const auto body = [&]() -> Process {
    const bool done = co_await timeout(wait(engine, 9ns, live), 5ns);
    EXPECT_FALSE(done);
    EXPECT_EQ(live, 0);
  };
  EXPECT_EQ(run(engine, body), 5ns);
}

TEST(Timeout, CancellingWhoWaitsCancelsWhatItWaitsFor) {
  Engine engine;
  int live = 0;
  Store<int> store(engine);
  const auto body = [&]() -> Process {
    const Live here(live);
    co_await timeout(all_of(wait(engine, 50ns, live), store.get()), 40ns);
  };
  const ProcessRef process = engine.spawn(body());
  engine.call_at(at(10ns), [&] {
    EXPECT_EQ(live, 2);
    engine.cancel(process);
    EXPECT_EQ(live, 0);
  });
  engine.run();
  EXPECT_EQ(engine.now(), at(10ns));
}

}  // namespace
}  // namespace tiersim::combinators_test
