#include "hwmodels/topology/transfers.hpp"

#include <algorithm>
#include <map>
#include <numeric>
#include <unordered_map>

#include "hwmodels/topology/symmetry.hpp"
#include "sim/core/engine.hpp"
#include "sim/core/flow_network.hpp"

namespace tiersim {
namespace {

void cross(FlowGroup& group, std::int32_t link, std::int64_t flows) {
  const auto it = std::ranges::find(group.crossings, link, &FlowGroup::Crossing::link);
  if (it == group.crossings.end())
    group.crossings.push_back({link, flows});
  else
    it->flows += flows;
}

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

// One group of each class of flows.
std::vector<FlowGroup> groups_by(const Topology& topology, std::span<const RoutedFlow> flows,
                                 const FlowClasses& classes) {
  std::vector<FlowGroup> groups(classes.first.size());
  for (FlowGroup& group : groups) group.flows = 0;
  for (std::size_t i = 0; i < flows.size(); ++i) {
    FlowGroup& group = groups[static_cast<std::size_t>(classes.of_flow[i])];
    group.bytes = flows[i].bytes;
    ++group.flows;
    group.latency = std::max(group.latency, topology.latency(flows[i].links));
    for (const std::int32_t link : flows[i].links) {
      const std::int32_t c = classes.of_link[static_cast<std::size_t>(link)];
      if (classes.first_link[static_cast<std::size_t>(c)] == link) cross(group, link, 1);
    }
  }
  return groups;
}

class EndTimes final : public EventHandler {
 public:
  explicit EndTimes(std::size_t flows) : at(flows) {}
  void on_event(Engine& engine, std::uint64_t flow) override {
    at[flow] = engine.now().time_since_epoch();
  }
  std::vector<Duration> at;
};

// The end of each group, where one flow of it is simulated.
std::vector<Duration> ends_of_groups(const Topology& topology, std::span<const FlowGroup> groups) {
  Engine engine;
  FlowNetwork network(engine);
  std::unordered_map<std::int32_t, LinkId> links;
  EndTimes ends(groups.size());
  std::vector<Hop> hops;
  for (std::size_t g = 0; g < groups.size(); ++g) {
    hops.clear();
    for (const FlowGroup::Crossing& crossing : groups[g].crossings) {
      LinkId& link = links[crossing.link];
      if (!link.valid())
        link = network.add_link({},
                                topology.links()[static_cast<std::size_t>(crossing.link)].capacity);
      hops.push_back({link, groups[g].bytes * crossing.flows});
    }
    network.start({.hops = hops, .payload = groups[g].bytes}, ends, g);
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

std::vector<FlowGroup> groups_of(const Topology& topology, std::span<const RoutedFlow> flows) {
  return groups_by(topology, flows, classes_of(topology, flows));
}

std::vector<FlowGroup> groups_of_alike(const Topology& topology,
                                       std::span<const RoutedFlow> flows_of_first,
                                       std::int64_t ranks) {
  TS_EXPECTS(topology.are_alike(ranks), ranks);
  // A link is known by the kinds of its ends, and a kind of flow by those links and its bytes.
  const auto kind_of = [&](std::int32_t link) {
    const TopologyLink& l = topology.links()[static_cast<std::size_t>(link)];
    const auto kind = [&](std::int32_t v) {
      return static_cast<int>(topology.vertices()[static_cast<std::size_t>(v)].kind);
    };
    return kind(l.from) * static_cast<int>(kVertexKindNames.size()) + kind(l.to);
  };
  std::map<int, std::int32_t> first_link;
  std::map<std::pair<std::vector<int>, Bytes>, FlowGroup> groups;
  for (const RoutedFlow& flow : flows_of_first) {
    std::vector<int> kinds;
    for (const std::int32_t link : flow.links) {
      kinds.push_back(kind_of(link));
      first_link.try_emplace(kinds.back(), link);
    }
    const auto [it, is_new] = groups.try_emplace({kinds, flow.bytes});
    FlowGroup& group = it->second;
    group.flows = (is_new ? 0 : group.flows) + ranks;
    group.bytes = flow.bytes;
    group.latency = std::max(group.latency, topology.latency(flow.links));
    for (const int kind : kinds) cross(group, first_link.at(kind), ranks);
  }
  std::vector<FlowGroup> out;
  for (auto& [key, group] : groups) {
    for (FlowGroup::Crossing& crossing : group.crossings) {
      const std::int64_t links = topology.links_like(crossing.link, ranks);
      TS_EXPECTS(crossing.flows % links == 0, crossing.flows, links);
      crossing.flows /= links;
    }
    out.push_back(std::move(group));
  }
  return out;
}

TransferTimes bound_of(const Topology& topology, std::span<const FlowGroup> groups) {
  TransferTimes times;
  times.groups = groups.size();
  std::map<std::int32_t, Bytes> loads;
  for (const FlowGroup& group : groups) {
    times.flows += group.flows;
    times.latency = std::max(times.latency, group.latency);
    for (const FlowGroup::Crossing& crossing : group.crossings) {
      Bytes& load = loads[crossing.link];
      load = load + group.bytes * crossing.flows;
    }
  }
  for (const auto& [link, load] : loads) {
    const Duration busy = load / topology.links()[static_cast<std::size_t>(link)].capacity;
    if (busy <= times.least) continue;
    times.least = busy;
    times.busiest = link;
  }
  times.all = times.least;
  return times;
}

TransferTimes simulate(const Topology& topology, std::span<const FlowGroup> groups) {
  TransferTimes times = bound_of(topology, groups);
  if (!groups.empty()) times.all = std::ranges::max(ends_of_groups(topology, groups));
  return times;
}

std::vector<Duration> ends_of(const Topology& topology, std::span<const RoutedFlow> flows,
                              Symmetry symmetry) {
  const FlowClasses classes = classes_by(topology, flows, symmetry);
  const std::vector<Duration> ends = ends_of_groups(topology, groups_by(topology, flows, classes));
  std::vector<Duration> of_flows;
  of_flows.reserve(flows.size());
  for (const std::int32_t c : classes.of_flow)
    of_flows.push_back(ends[static_cast<std::size_t>(c)]);
  return of_flows;
}

}  // namespace tiersim
