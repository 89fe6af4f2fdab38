#pragma once
// Runs a script of flows through a network and replays the result in exact rationals: between the
// instants at which flows start or finish, every flow has its exact max-min share.
#include <algorithm>
#include <cstdint>
#include <vector>

#include <boost/multiprecision/cpp_int.hpp>

#include "sim/core/engine.hpp"
#include "sim/core/flow_network.hpp"
#include "tests/property/flow_reference.hpp"

namespace tiersim::flow_reference {

using Rational = boost::multiprecision::cpp_rational;

struct ScriptHop {
  std::size_t link;
  std::int64_t wire;
};

struct ScriptFlow {
  std::int64_t start = 0;  ///< ps
  std::int64_t payload = 1;
  std::int64_t weight = 1;
  std::int64_t min_duration = 0;
  std::vector<ScriptHop> hops;
};

struct Script {
  std::vector<std::int64_t> capacity;
  std::vector<ScriptFlow> flows;  ///< by start
};

/// Plays a script; the flow with index i is started at its time, in order.
class Player final : public EventHandler {
 public:
  explicit Player(const Script& script) : script_(script), network_(engine_) {
    for (const std::int64_t capacity : script.capacity)
      network_.add_link("link", Bandwidth::from_base(capacity));
    finish_.assign(script.flows.size(), -1);
  }

  /// Schedules all starts.
  void start() {
    for (std::size_t i = 0; i < script_.flows.size(); ++i)
      engine_.schedule(SimTime(Duration(script_.flows[i].start)), *this, kStart | i);
  }
  /// Plays the script; returns the finish time of each flow.
  const std::vector<std::int64_t>& run() {
    start();
    engine_.run();
    return finish_;
  }
  const std::vector<std::uint64_t>& order() const { return order_; }
  FlowNetwork& network() { return network_; }
  Engine& engine() { return engine_; }

  void on_event(Engine& engine, std::uint64_t payload) override {
    if ((payload & kStart) == 0) {
      finish_[payload] = engine.now().time_since_epoch().count();
      order_.push_back(payload);
      return;
    }
    const ScriptFlow& flow = script_.flows[payload & ~kStart];
    hops_.clear();
    for (const ScriptHop& hop : flow.hops)
      hops_.push_back({LinkId(hop.link), Bytes::from_base(hop.wire)});
    network_.start({.hops = hops_,
                    .payload = Bytes::from_base(flow.payload),
                    .weight = flow.weight,
                    .min_duration = Duration(flow.min_duration)},
                   *this, payload & ~kStart);
  }

 private:
  static constexpr std::uint64_t kStart = std::uint64_t{1} << 63U;
  const Script& script_;
  Engine engine_;
  FlowNetwork network_;
  std::vector<Hop> hops_;
  std::vector<std::int64_t> finish_;
  std::vector<std::uint64_t> order_;
};

/// The end of one flow against exact arithmetic on the same history.
struct Verdict {
  bool early = false;        ///< ended before all of its payload had moved
  std::int64_t late = 0;     ///< whole ps after the first instant at which it had moved
  std::int64_t periods = 0;  ///< of constant rate
};

inline Demand<Rational> demand_of(const ScriptFlow& flow) {
  Demand<Rational> demand;
  demand.weight = flow.weight;
  if (flow.min_duration > 0)
    demand.rate_max = Rational(flow.payload) * kPicosecondsPerSecond / flow.min_duration;
  for (const ScriptHop& hop : flow.hops)
    demand.uses.push_back({hop.link, Rational(hop.wire, flow.payload)});
  return demand;
}

/// Replays the run with the given finish times. Every flow needs a hop or a cap.
inline std::vector<Verdict> replay(const Script& script, const std::vector<std::int64_t>& finish) {
  std::vector<Rational> capacity(script.capacity.begin(), script.capacity.end());
  std::vector<std::int64_t> instants;
  for (std::size_t f = 0; f < finish.size(); ++f) {
    instants.push_back(script.flows[f].start);
    instants.push_back(finish[f]);
  }
  std::sort(instants.begin(), instants.end());
  instants.erase(std::unique(instants.begin(), instants.end()), instants.end());
  std::vector<Verdict> verdicts(finish.size());
  std::vector<Rational> left, rate_before(finish.size(), Rational(0));
  for (const ScriptFlow& flow : script.flows) left.emplace_back(flow.payload);
  for (std::size_t i = 0; i + 1 < instants.size(); ++i) {
    std::vector<std::size_t> active;
    std::vector<Demand<Rational>> demands;
    for (std::size_t f = 0; f < finish.size(); ++f) {
      if (script.flows[f].start > instants[i] || finish[f] <= instants[i]) continue;
      active.push_back(f);
      demands.push_back(demand_of(script.flows[f]));
    }
    const std::vector<Rational> rates = fill(capacity, demands);
    for (std::size_t k = 0; k < active.size(); ++k) {
      const std::size_t f = active[k];
      if (rates[k] != rate_before[f]) ++verdicts[f].periods;
      rate_before[f] = rates[k];
      const Rational rate = rates[k] / kPicosecondsPerSecond;
      const Rational over = rate * (instants[i + 1] - instants[i]) - left[f];
      if (over >= 0) {  // finished within this period: time before its end, in whole ps
        const Rational before_end =
            (left[f] > 0 ? over : rate * (instants[i + 1] - instants[i])) / rate;
        verdicts[f].late += static_cast<std::int64_t>(
            boost::multiprecision::cpp_int(numerator(before_end) / denominator(before_end)));
      }
      left[f] -= rate * (instants[i + 1] - instants[i]);
    }
  }
  for (std::size_t f = 0; f < finish.size(); ++f) verdicts[f].early = left[f] > 0;
  return verdicts;
}

}  // namespace tiersim::flow_reference
