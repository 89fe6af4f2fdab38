// All objects that processes wait for. Times are in nanoseconds.
#include <chrono>
#include <cstdint>
#include <string>
#include <vector>

#include <gtest/gtest.h>

#include "sim/core/engine.hpp"
#include "sim/core/resource.hpp"
#include "sim/core/semaphore.hpp"
#include "sim/core/trigger.hpp"

namespace tiersim::resources_test {
namespace {

using namespace std::chrono_literals;

SimTime at(Duration since_start) {
  return SimTime(since_start);
}

/// The events as "name@nanosecond".
class Log {
 public:
  explicit Log(const Engine& engine) : engine_(engine) {}
  void add(const std::string& what) {
    const auto ns = engine_.now().time_since_epoch().count() / 1000;
    entries.push_back(what + "@" + std::to_string(ns));
  }
  std::vector<std::string> entries;

 private:
  const Engine& engine_;
};
using Entries = std::vector<std::string>;

Process use(Engine& engine, Resource& resource, Log& log, char name, Duration service) {
  co_await resource.acquire();
  log.add(std::string("got ") + name);
  co_await engine.delay(service);
  resource.release();
}

TEST(Resource, ServesFirstComeFirstServed) {
  Engine engine;
  Log log(engine);
  Resource resource(engine, 2);
  for (const char name : {'a', 'b', 'c', 'd'}) engine.spawn(use(engine, resource, log, name, 10ns));
  engine.run();
  EXPECT_EQ(log.entries, (Entries{"got a@0", "got b@0", "got c@10", "got d@10"}));
  EXPECT_EQ(resource.in_use(), 0);
}

Process count_acquisitions(Resource& resource, int count) {
  for (int i = 0; i < count; ++i) {
    co_await resource.acquire();
    resource.release();
  }
}

// One event: the start of the process.
TEST(Resource, AnUncontendedAcquireIsNoEvent) {
  Engine engine;
  Resource resource(engine, 1);
  engine.spawn(count_acquisitions(resource, 100));
  engine.run();
  EXPECT_EQ(engine.events(), 1U);
}

// A release hands the server over, so that a request between that and the wake-up does not get it.
TEST(Resource, IsNotTakenByWhoComesBetweenReleaseAndWaking) {
  Engine engine;
  Log log(engine);
  Resource resource(engine, 1);
  engine.spawn(use(engine, resource, log, 'a', 10ns));
  engine.spawn(use(engine, resource, log, 'b', 10ns));
  engine.call_at(
      at(10ns), [&] { EXPECT_FALSE(resource.try_acquire()); }, Lane::urgent);
  engine.call_at(at(10ns), [&] { EXPECT_FALSE(resource.try_acquire()); });
  engine.run();
  EXPECT_EQ(log.entries, (Entries{"got a@0", "got b@10"}));
}

TEST(Resource, ACancelledWaiterLeavesTheLineAndAGrantedOneGivesBack) {
  Engine engine;
  Log log(engine);
  Resource resource(engine, 1);
  engine.spawn(use(engine, resource, log, 'a', 10ns));
  const ProcessRef b = engine.spawn(use(engine, resource, log, 'b', 10ns));
  const ProcessRef c = engine.spawn(use(engine, resource, log, 'c', 10ns));
  engine.spawn(use(engine, resource, log, 'd', 10ns));
  engine.call_at(at(5ns), [&] { engine.cancel(b); });
  // At 10 ns a's release grants the server to c, which is cancelled before it runs.
  engine.call_at(at(0ns), [&] { engine.call_at(at(10ns), [&] { engine.cancel(c); }); });
  engine.run();
  EXPECT_EQ(log.entries, (Entries{"got a@0", "got d@10"}));
  EXPECT_EQ(resource.in_use(), 0);
}

Process hold_for(Engine& engine, Resource& resource, Duration time) {
  const Resource::Hold held = co_await resource.hold();
  co_await engine.delay(time);
}

TEST(Resource, AHoldEndsWithItsScopeAlsoByCancellation) {
  Engine engine;
  Resource resource(engine, 1);
  const ProcessRef first = engine.spawn(hold_for(engine, resource, 10ns));
  const ProcessRef second = engine.spawn(hold_for(engine, resource, 10ns));
  engine.call_at(at(4ns), [&] { engine.cancel(first); });
  engine.call_at(at(5ns), [&] { EXPECT_EQ(resource.in_use(), 1); });
  engine.run();
  EXPECT_FALSE(engine.alive(second));
  EXPECT_EQ(resource.in_use(), 0);
  EXPECT_EQ(engine.now(), at(14ns));
}

// The resource dies before the engine; the frames that use it must die before both.
TEST(Resource, MayGoBeforeTheProcessesThatUseIt) {
  Engine engine;
  Resource resource(engine, 1);
  for (int i = 0; i < 3; ++i) engine.spawn(hold_for(engine, resource, 10ns));
  engine.run_until(at(5ns));
}

Process take_units(Semaphore& semaphore, Log& log, std::string name, std::int64_t units) {
  co_await semaphore.acquire(units);
  log.add(name);
}

TEST(Semaphore, ALargeRequestIsNotOvertaken) {
  Engine engine;
  Log log(engine);
  Semaphore semaphore(engine, 1);
  engine.spawn(take_units(semaphore, log, "three", 3));
  engine.spawn(take_units(semaphore, log, "one", 1));
  engine.call_at(at(1ns), [&] { semaphore.release(1); });
  engine.call_at(at(2ns), [&] { semaphore.release(2); });
  engine.run();
  EXPECT_EQ(log.entries, (Entries{"three@2", "one@2"}));
  EXPECT_EQ(semaphore.count(), 0);
}

TEST(Semaphore, CancellingTheLargeRequestLetsTheNextThrough) {
  Engine engine;
  Log log(engine);
  Semaphore semaphore(engine, 1);
  const ProcessRef large = engine.spawn(take_units(semaphore, log, "three", 3));
  engine.spawn(take_units(semaphore, log, "one", 1));
  engine.call_at(at(1ns), [&] { engine.cancel(large); });
  engine.run();
  EXPECT_EQ(log.entries, (Entries{"one@1"}));
}

Process wait_for(Trigger& trigger, Log& log, std::string name) {
  co_await trigger.wait();
  log.add(name);
}

TEST(Trigger, WakesAllInTheOrderInWhichTheyCame) {
  Engine engine;
  Log log(engine);
  Trigger trigger(engine);
  engine.spawn(wait_for(trigger, log, "a"));
  const ProcessRef gone = engine.spawn(wait_for(trigger, log, "gone"));
  engine.spawn(wait_for(trigger, log, "b"));
  engine.call_at(at(1ns), [&] { engine.cancel(gone); });
  engine.call_at(at(2ns), [&] { trigger.fire(); });
  engine.call_at(at(3ns), [&] { engine.spawn(wait_for(trigger, log, "c")); });
  engine.run();
  EXPECT_EQ(log.entries, (Entries{"a@2", "b@2", "c@3"}));
}

}  // namespace
}  // namespace tiersim::resources_test
