#include "hwmodels/topology/topology_facts.hpp"

#include <algorithm>
#include <boost/graph/adjacency_list.hpp>
#include <boost/graph/push_relabel_max_flow.hpp>
#include <map>
#include <tuple>

#include "hwmodels/topology/topology.hpp"

namespace tiersim {
namespace {

using Traits = boost::adjacency_list_traits<boost::vecS, boost::vecS, boost::directedS>;
using Graph = boost::adjacency_list<
    boost::vecS, boost::vecS, boost::directedS, boost::no_property,
    boost::property<
        boost::edge_capacity_t, std::int64_t,
        boost::property<boost::edge_residual_capacity_t, std::int64_t,
                        boost::property<boost::edge_reverse_t, Traits::edge_descriptor>>>>;

void add_edge(Graph& graph, std::size_t from, std::size_t to, std::int64_t capacity) {
  const auto there = boost::add_edge(from, to, graph).first;
  const auto back = boost::add_edge(to, from, graph).first;
  boost::put(boost::edge_capacity, graph, there, capacity);
  boost::put(boost::edge_capacity, graph, back, 0);
  boost::put(boost::edge_reverse, graph, there, back);
  boost::put(boost::edge_reverse, graph, back, there);
}

// Pools pass nothing on. Where NVLink joins all GPUs, they do not use PCIe besides.
bool carries(const Topology& t, VertexKind kind) {
  if (t.domain() == t.gpus() && kind == VertexKind::pcie_switch) return false;
  return kind != VertexKind::cxl_switch && kind != VertexKind::pool;
}

std::int64_t most_between_halves(const Topology& t) {
  Graph graph(t.vertices().size() + 2);
  const std::size_t source = t.vertices().size();
  const std::size_t sink = source + 1;
  const auto kind = [&](std::int32_t v) { return t.vertices()[static_cast<std::size_t>(v)].kind; };
  std::vector<std::int64_t> ports(static_cast<std::size_t>(t.gpus()));
  for (const TopologyLink& link : t.links()) {
    if (!carries(t, kind(link.from)) || !carries(t, kind(link.to))) continue;
    add_edge(graph, static_cast<std::size_t>(link.from), static_cast<std::size_t>(link.to),
             link.capacity.in_base());
    if (kind(link.from) == VertexKind::gpu)
      ports[static_cast<std::size_t>(link.from)] += link.capacity.in_base();
  }
  const auto half = static_cast<std::size_t>(t.gpus() / 2);
  for (std::size_t gpu = 0; gpu < ports.size(); ++gpu) {
    if (gpu < half)
      add_edge(graph, source, gpu, ports[gpu]);
    else
      add_edge(graph, gpu, sink, ports[gpu]);
  }
  return boost::push_relabel_max_flow(graph, source, sink);
}

// The injection bandwidth of the first half of the GPUs: by NVLink where one domain has them all,
// else by their adapters, or by what leaves them in a torus.
std::int64_t own_ports(const Topology& t) {
  const std::int64_t half = t.gpus() / 2;
  std::int64_t all = 0;
  for (const TopologyLink& link : t.links()) {
    const Vertex& from = t.vertices()[static_cast<std::size_t>(link.from)];
    const Vertex& to = t.vertices()[static_cast<std::size_t>(link.to)];
    const bool network = to.kind == VertexKind::leaf || to.kind == VertexKind::router;
    const bool adapter = from.kind == VertexKind::adapter && network;
    const bool gpu = from.kind == VertexKind::gpu;
    const bool joins = to.kind == VertexKind::nvswitch || to.kind == VertexKind::gpu;
    const bool counts = t.domain() == t.gpus() ? gpu && joins
                        : t.adapters_per_node() > 0 && t.nodes() > 1
                            ? adapter
                            : gpu && to.kind != VertexKind::nvswitch;
    const std::int64_t place =
        adapter
            ? from.index * t.gpus() / std::max<std::int64_t>(t.adapters_per_node() * t.nodes(), 1)
            : from.index;
    if (counts && place < half) all += link.capacity.in_base();
  }
  return all;
}

TopologyFacts::Path path_of(const Topology& t, std::string name, std::int64_t from,
                            std::int64_t to) {
  const LinkRoute route = t.route(from, to);
  TopologyFacts::Path path{.name = std::move(name),
                           .links = static_cast<std::int64_t>(route.size()),
                           .bandwidth = {},
                           .latency = t.latency(route),
                           .over = {t.name(static_cast<std::int32_t>(from))}};
  for (const std::int32_t i : route) {
    const TopologyLink& link = t.links()[static_cast<std::size_t>(i)];
    if (path.bandwidth == Bandwidth{} || link.capacity < path.bandwidth)
      path.bandwidth = link.capacity;
    path.over.push_back(t.name(link.to));
  }
  return path;
}

void add_paths(const Topology& t, TopologyFacts& facts) {
  if (t.domain() > 1) facts.paths.push_back(path_of(t, "same NVLink domain", 0, 1));
  if (t.gpus_per_node() > t.domain())
    facts.paths.push_back(path_of(t, "same node", 0, t.gpus_per_node() - 1));
  std::int64_t farthest = 0;
  std::size_t most = 0;
  for (std::int64_t gpu = 0; gpu < t.gpus(); ++gpu)
    if (const LinkRoute route = t.route(0, gpu); route.size() > most) {
      most = route.size();
      farthest = gpu;
    }
  if (t.nodes() > 1 && t.domain() < t.gpus())
    facts.paths.push_back(path_of(t, "farthest", 0, farthest));
}

}  // namespace

TopologyFacts facts_of(const Topology& t) {
  TopologyFacts facts;
  facts.gpus = t.gpus();
  facts.nodes = t.nodes();
  facts.domain = t.domain();
  std::map<VertexKind, std::int64_t> parts;
  for (const Vertex& v : t.vertices()) ++parts[v.kind];
  for (const auto& [kind, count] : parts) facts.parts.push_back({std::string(name(kind)), count});
  std::map<std::tuple<VertexKind, VertexKind, Bandwidth, Duration>, std::int64_t> cables;
  for (std::size_t i = 0; i < t.links().size(); i += 2) {  // the other way follows
    const TopologyLink& link = t.links()[i];
    ++cables[{t.vertices()[static_cast<std::size_t>(link.from)].kind,
              t.vertices()[static_cast<std::size_t>(link.to)].kind, link.capacity, link.latency}];
  }
  for (const auto& [cable, count] : cables)
    facts.cables.push_back({std::string(name(std::get<0>(cable))),
                            std::string(name(std::get<1>(cable))), count, std::get<2>(cable),
                            std::get<3>(cable)});
  add_paths(t, facts);
  if (t.gpus() < 2) return facts;
  facts.bisection = Bandwidth::from_base(most_between_halves(t));
  const std::int64_t ports = own_ports(t);
  if (ports > 0)
    facts.bisection_share =
        static_cast<double>(facts.bisection.in_base()) / static_cast<double>(ports);
  return facts;
}

}  // namespace tiersim
