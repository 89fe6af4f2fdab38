#pragma once
// The loops that the flow benchmarks time. Each runs a given number of completions on warm state.
#include <array>
#include <cstdint>
#include <queue>
#include <vector>

#include "sim/base/rng.hpp"
#include "sim/core/engine.hpp"
#include "sim/core/flow_network.hpp"
#include "tests/property/flow_reference.hpp"

namespace tiersim::flow_bench {

/// The baseline: pop the earliest of 1000 16-byte events, draw an exponential gap, push.
class BareHold {
 public:
  BareHold() : rng_(1, "hold") {
    for (std::uint64_t i = 0; i < 1000; ++i) queue_.push({gap(), i});
  }
  std::int64_t run(std::int64_t events) {
    for (std::int64_t i = 0; i < events; ++i) {
      Event event = queue_.top();
      queue_.pop();
      event.when += gap();
      queue_.push(event);
    }
    return events;
  }

 private:
  struct Event {
    std::uint64_t when;
    std::uint64_t payload;
    bool operator>(const Event& other) const { return when > other.when; }
  };
  std::uint64_t gap() { return static_cast<std::uint64_t>(rng_.exponential(1e6)) + 1; }

  Rng rng_;
  std::priority_queue<Event, std::vector<Event>, std::greater<>> queue_;
};

/// Uniform from 1 B to 1 MiB: cheap to draw, so that the loops below time the network.
inline Bytes random_size(Rng& rng) {
  return Bytes::from_base(1 + static_cast<std::int64_t>(rng.next() >> 44U));
}

/// `flows` flows at all times: each that finishes starts another of random size. All are on one
/// link, or, with hosts, each is between a random pair of hosts over the links of the sender and
/// the receiver.
class ClosedLoop final : public EventHandler {
 public:
  ClosedLoop(std::uint64_t flows, std::uint64_t hosts)
      : rng_(2, "sizes"), hosts_(hosts), network_(engine_) {
    for (std::uint64_t i = 0; i < (hosts == 0 ? 1 : 2 * hosts); ++i)
      network_.add_link("link", Bandwidth::from_base(64'000'000'000));
    for (std::uint64_t i = 0; i < flows; ++i) start();
  }
  /// Runs until at least `completions` more flows have finished; returns how many have.
  std::int64_t run(std::int64_t completions) {
    done_ = 0;
    while (done_ < completions) engine_.run_until(engine_.now() + Duration(kStep));
    return done_;
  }
  void on_event(Engine&, std::uint64_t) override {
    ++done_;
    start();
  }

 private:
  void start() {
    const Bytes size = random_size(rng_);
    if (hosts_ == 0) {
      const std::array hops{Hop{LinkId(0), size}};
      network_.start({.hops = hops, .payload = size}, *this);
      return;
    }
    const std::uint64_t from = rng_.below(hosts_);
    const std::uint64_t to = (from + 1 + rng_.below(hosts_ - 1)) % hosts_;
    const std::array hops{Hop{LinkId(2 * from), size}, Hop{LinkId(2 * to + 1), size}};
    network_.start({.hops = hops, .payload = size}, *this);
  }

  Rng rng_;
  std::uint64_t hosts_;
  Engine engine_;
  FlowNetwork network_;
  static constexpr std::int64_t kStep = 100'000'000;  ///< ps: a dozen completions of one link
  std::int64_t done_ = 0;
};

/// The same star with the textbook algorithm: all shares again at every completion, in double.
class FullFillingLoop {
 public:
  FullFillingLoop(std::uint64_t flows, std::uint64_t hosts)
      : rng_(2, "sizes"), hosts_(hosts), capacity_(2 * hosts, 64e9) {
    for (std::uint64_t i = 0; i < flows; ++i) {
      demands_.emplace_back();
      left_.push_back(0);
      draw(i);
    }
  }
  std::int64_t run(std::int64_t completions) {
    for (std::int64_t n = 0; n < completions; ++n) {
      const std::vector<double> rates = flow_reference::fill(capacity_, demands_);
      std::size_t next = 0;
      for (std::size_t i = 1; i < rates.size(); ++i)
        if (left_[i] * rates[next] < left_[next] * rates[i]) next = i;
      const double step = left_[next] / rates[next];
      for (std::size_t i = 0; i < rates.size(); ++i) left_[i] -= rates[i] * step;
      now_ += step;
      draw(next);
    }
    return completions;
  }

 private:
  void draw(std::size_t i) {
    left_[i] = static_cast<double>(random_size(rng_).in_base());
    const std::uint64_t from = rng_.below(hosts_);
    const std::uint64_t to = (from + 1 + rng_.below(hosts_ - 1)) % hosts_;
    demands_[i].uses = {{2 * from, 1.0}, {2 * to + 1, 1.0}};
  }

  Rng rng_;
  std::uint64_t hosts_;
  std::vector<double> capacity_;
  std::vector<flow_reference::Demand<double>> demands_;
  std::vector<double> left_;
  double now_ = 0;
};

}  // namespace tiersim::flow_bench
