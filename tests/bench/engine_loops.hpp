#pragma once
// The loops whose speed is compared, each over the same draws. An increment costs the same in all:
// one step of xoshiro256++ and one lookup in a table of 1024 exponential quantiles (4 KiB), plus
// ten random bits so that times are not only those of the table. Mean 1 us.
#include <array>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <queue>
#include <vector>

#include "sim/base/portable_math.hpp"
#include "sim/base/rng.hpp"
#include "sim/core/engine.hpp"
#include "sim/core/resource.hpp"

namespace tiersim::bench {

inline constexpr std::uint64_t kMeanTicks = 1'000'000;

class Increments {
 public:
  explicit Increments(std::uint64_t seed) : rng_(seed, "increments") {
    for (std::size_t i = 0; i < table_.size(); ++i) {
      const double u = (static_cast<double>(i) + 0.5) / static_cast<double>(table_.size());
      table_[i] = static_cast<std::uint32_t>(-portable_log(u) * static_cast<double>(kMeanTicks));
    }
  }
  std::uint64_t ticks() {
    const std::uint64_t bits = rng_.next();
    return table_[bits >> 54U] + (bits & 1023U) + 1;
  }
  Duration duration() { return Duration(static_cast<std::int64_t>(ticks())); }

 private:
  Rng rng_;
  std::array<std::uint32_t, 1024> table_{};
};

/// The least work of an engine without processes, with the standard heap: pop, draw, push.
class BareHold {
 public:
  explicit BareHold(std::size_t pending) : increments_(1) {
    for (std::size_t i = 0; i < pending; ++i) heap_.push({increments_.ticks(), i});
  }
  std::uint64_t run(std::uint64_t events) {
    for (std::uint64_t i = 0; i < events; ++i) {
      const Entry entry = heap_.top();
      heap_.pop();
      heap_.push({entry.time + increments_.ticks(), entry.payload});
    }
    return events;
  }

 private:
  struct Entry {
    std::uint64_t time;
    std::uint64_t payload;
    friend bool operator>(const Entry& a, const Entry& b) { return a.time > b.time; }
  };
  Increments increments_;
  std::priority_queue<Entry, std::vector<Entry>, std::greater<>> heap_;
};

/// A model that can run for a given number of its own units of work.
class EngineLoop {
 public:
  Engine& engine() { return engine_; }

 protected:
  ~EngineLoop() = default;
  /// Runs for `ticks` picoseconds and returns the number of events.
  std::uint64_t run_for(std::uint64_t ticks) {
    const std::uint64_t before = engine_.events();
    engine_.run_until(engine_.now() + Duration(static_cast<std::int64_t>(ticks)));
    return engine_.events() - before;
  }
  Increments increments_{1};
  Engine engine_;
};

class ProcessHold : public EngineLoop {
 public:
  explicit ProcessHold(std::size_t pending) : pending_(pending) {
    for (std::size_t i = 0; i < pending; ++i) engine_.spawn(hold(engine_, increments_));
  }
  std::uint64_t run(std::uint64_t events) { return run_for(events * kMeanTicks / pending_); }

 private:
  static Process hold(Engine& engine, Increments& increments) {
    for (;;) co_await engine.delay(increments.duration());
  }
  std::size_t pending_;
};

/// The same by callbacks with a payload.
class HandlerHold final : public EngineLoop, EventHandler {
 public:
  explicit HandlerHold(std::size_t pending) : pending_(pending) {
    for (std::size_t i = 0; i < pending; ++i) on_event(engine_, i);
  }
  std::uint64_t run(std::uint64_t events) { return run_for(events * kMeanTicks / pending_); }

 private:
  void on_event(Engine& engine, std::uint64_t payload) override {
    engine.schedule(engine.now() + increments_.duration(), *this, payload);
  }
  std::size_t pending_;
};

/// One server at load 0.8, a process for each customer. Counts customers that departed.
class CustomerQueue : public EngineLoop {
 public:
  CustomerQueue() { engine_.spawn(arrivals(*this)); }
  std::uint64_t run(std::uint64_t customers) {
    const std::uint64_t before = served_;
    run_for(customers * kMeanTicks * 5 / 4);
    return served_ - before;
  }

 private:
  static Process customer(CustomerQueue& queue) {
    co_await queue.server_.acquire();
    co_await queue.engine_.delay(queue.increments_.duration());
    queue.server_.release();
    ++queue.served_;
  }
  static Process arrivals(CustomerQueue& queue) {
    for (;;) {
      co_await queue.engine_.delay(queue.increments_.duration() * 5 / 4);
      queue.engine_.spawn(customer(queue));
    }
  }
  Resource server_{engine_, 1};
  std::uint64_t served_ = 0;
};

/// A thousand clients think a thousand times as long as the one server needs. Counts cycles.
class ClosedNetwork : public EngineLoop {
 public:
  static constexpr std::int64_t kClients = 1000;
  ClosedNetwork() {
    for (std::int64_t i = 0; i < kClients; ++i) engine_.spawn(client(*this));
  }
  std::uint64_t run(std::uint64_t cycles) {
    const std::uint64_t before = cycles_;
    run_for(cycles * kMeanTicks);
    return cycles_ - before;
  }

 private:
  static Process client(ClosedNetwork& network) {
    for (;;) {
      co_await network.engine_.delay(network.increments_.duration() * kClients);
      co_await network.server_.acquire();
      co_await network.engine_.delay(network.increments_.duration());
      network.server_.release();
      ++network.cycles_;
    }
  }
  Resource server_{engine_, 1};
  std::uint64_t cycles_ = 0;
};

/// Processes that start and end at once, one after another.
class SpawnAndEnd : public EngineLoop {
 public:
  std::uint64_t run(std::uint64_t processes) {
    engine_.spawn(spawner(*this, processes));
    engine_.run();
    return processes;
  }

 private:
  static Process nothing() { co_return; }
  static Process spawner(SpawnAndEnd& loop, std::uint64_t count) {
    for (std::uint64_t i = 0; i < count; ++i) {
      loop.engine_.spawn(nothing());
      co_await loop.engine_.delay(Duration(0));
    }
  }
};

/// Two processes that alternate at one instant: the cost of a suspension and a resumption.
class TakeTurns : public EngineLoop {
 public:
  std::uint64_t run(std::uint64_t turns) {
    engine_.spawn(turner(engine_, turns / 2));
    engine_.spawn(turner(engine_, turns / 2));
    engine_.run();
    return turns / 2 * 2;
  }

 private:
  static Process turner(Engine& engine, std::uint64_t turns) {
    for (std::uint64_t i = 0; i < turns; ++i) co_await engine.delay(Duration(0));
  }
};

}  // namespace tiersim::bench
