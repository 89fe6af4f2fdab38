#include "hwmodels/topology/transfers.hpp"

#include <algorithm>
#include <numeric>

#include "hwmodels/topology/symmetry.hpp"
#include "sim/core/engine.hpp"
#include "sim/core/flow_network.hpp"

namespace tiersim {
namespace {

FlowClasses each_by_itself(const Topology& topology, std::span<const RoutedFlow> flows) {
  FlowClasses classes;
  classes.of_flow.resize(flows.size());
  std::iota(classes.of_flow.begin(), classes.of_flow.end(), 0);
  classes.first = classes.of_flow;
  classes.of_link.assign(topology.links().size(), -1);
  for (const RoutedFlow& flow : flows)
    for (const std::int32_t link : flow.links) {
      std::int32_t& number = classes.of_link[static_cast<std::size_t>(link)];
      if (number >= 0) continue;
      number = static_cast<std::int32_t>(classes.first_link.size());
      classes.first_link.push_back(link);
    }
  return classes;
}

// The classes of flows that cross the first link of each class, with their number of flows there.
using Crossings = std::vector<std::vector<std::pair<std::int32_t, std::int64_t>>>;

Crossings crossings_of(std::span<const RoutedFlow> flows, const FlowClasses& classes) {
  Crossings counts(classes.first.size());  // by class of flow: link class, count
  for (std::size_t i = 0; i < flows.size(); ++i) {
    auto& of_class = counts[static_cast<std::size_t>(classes.of_flow[i])];
    for (const std::int32_t link : flows[i].links) {
      const std::int32_t c = classes.of_link[static_cast<std::size_t>(link)];
      if (classes.first_link[static_cast<std::size_t>(c)] != link) continue;
      const auto it = std::ranges::find(of_class, c, [](const auto& entry) { return entry.first; });
      if (it == of_class.end())
        of_class.emplace_back(c, 1);
      else
        ++it->second;
    }
  }
  return counts;
}

class EndTimes final : public EventHandler {
 public:
  explicit EndTimes(std::size_t flows) : at(flows) {}
  void on_event(Engine& engine, std::uint64_t flow) override {
    at[flow] = engine.now().time_since_epoch();
  }
  std::vector<Duration> at;
};

// The end of each class of flows, where one of them and one link of each class are simulated.
std::vector<Duration> simulate_classes(const Topology& topology, std::span<const RoutedFlow> flows,
                                       const FlowClasses& classes) {
  Engine engine;
  FlowNetwork network(engine);
  for (const std::int32_t link : classes.first_link)
    network.add_link({}, topology.links()[static_cast<std::size_t>(link)].capacity);
  EndTimes ends(classes.first.size());
  const Crossings crossings = crossings_of(flows, classes);
  std::vector<Hop> hops;
  for (std::size_t c = 0; c < classes.first.size(); ++c) {
    const Bytes bytes = flows[static_cast<std::size_t>(classes.first[c])].bytes;
    hops.clear();
    for (const auto& [link, count] : crossings[c])
      hops.push_back({LinkId(static_cast<std::size_t>(link)), bytes * count});
    network.start({.hops = hops, .payload = bytes}, ends, c);
  }
  engine.run();
  return ends.at;
}

FlowClasses classes_by(const Topology& topology, std::span<const RoutedFlow> flows,
                       Symmetry symmetry) {
  return symmetry == Symmetry::reduced ? classes_of(topology, flows)
                                       : each_by_itself(topology, flows);
}

}  // namespace

std::vector<RoutedFlow> routed(const Topology& topology, std::span<const Transfer> transfers) {
  std::vector<RoutedFlow> flows;
  flows.reserve(transfers.size());
  const std::int64_t paths = topology.paths();
  for (const Transfer& t : transfers) {
    TS_EXPECTS(t.from != t.to && t.bytes > Bytes{}, t.from, t.to);
    const bool inside = t.from / topology.domain() == t.to / topology.domain();
    const std::int64_t parts = inside ? 1 : std::min(paths, t.bytes.in_base());
    for (std::int64_t p = 0; p < parts; ++p) {
      const std::int64_t bytes =
          t.bytes.in_base() * (p + 1) / parts - t.bytes.in_base() * p / parts;
      flows.push_back({topology.route(t.from, t.to, p), Bytes::from_base(bytes)});
    }
  }
  return flows;
}

TransferTimes bound_of(const Topology& topology, std::span<const RoutedFlow> flows) {
  TransferTimes times{.flows = flows.size()};
  std::vector<Bytes> loads(topology.links().size());
  for (const RoutedFlow& flow : flows) {
    for (const std::int32_t link : flow.links) {
      Bytes& load = loads[static_cast<std::size_t>(link)];
      load = load + flow.bytes;
    }
    times.latency = std::max(times.latency, topology.latency(flow.links));
  }
  for (std::size_t i = 0; i < loads.size(); ++i) {
    if (loads[i] == Bytes{}) continue;
    const Duration busy = loads[i] / topology.links()[i].capacity;
    if (busy <= times.least) continue;
    times.least = busy;
    times.busiest = static_cast<std::int32_t>(i);
  }
  times.all = times.least;
  return times;
}

TransferTimes simulate(const Topology& topology, std::span<const RoutedFlow> flows,
                       Symmetry symmetry) {
  TransferTimes times = bound_of(topology, flows);
  if (flows.empty()) return times;
  const FlowClasses classes = classes_by(topology, flows, symmetry);
  times.classes = classes.first.size();
  times.all = std::ranges::max(simulate_classes(topology, flows, classes));
  return times;
}

std::vector<Duration> ends_of(const Topology& topology, std::span<const RoutedFlow> flows,
                              Symmetry symmetry) {
  const FlowClasses classes = classes_by(topology, flows, symmetry);
  const std::vector<Duration> ends = simulate_classes(topology, flows, classes);
  std::vector<Duration> of_flows;
  of_flows.reserve(flows.size());
  for (const std::int32_t c : classes.of_flow)
    of_flows.push_back(ends[static_cast<std::size_t>(c)]);
  return of_flows;
}

}  // namespace tiersim
