#include "hwmodels/topology/topology.hpp"

#include <algorithm>
#include <array>
#include <functional>
#include <queue>

#include "hwmodels/topology/topology_builder.hpp"

namespace tiersim {
namespace {

bool is_network_switch(VertexKind kind) {
  return kind == VertexKind::leaf || kind == VertexKind::spine || kind == VertexKind::core ||
         kind == VertexKind::router;
}

bool is_in_node(VertexKind kind) {
  return kind == VertexKind::pcie_switch || kind == VertexKind::cpu ||
         kind == VertexKind::cxl_switch;
}

// The finaliser of SplitMix64 (Steele, Lea and Flood 2014).
std::uint64_t mixed(std::uint64_t x) {
  x += 0x9e3779b97f4a7c15U;
  x = (x ^ x >> 30U) * 0xbf58476d1ce4e5b9U;
  x = (x ^ x >> 27U) * 0x94d049bb133111ebU;
  return x ^ x >> 31U;
}

}  // namespace

Topology::Topology(const TopologyConfig& config) {
  TopologyBuilder(config, *this).build();
  index_links();
  measure_distances();
  fingerprint_ = mixed_all();
}

std::string Topology::name(std::int32_t vertex) const {
  const Vertex& v = vertices_[static_cast<std::size_t>(vertex)];
  std::string text(tiersim::name(v.kind));
  std::ranges::replace(text, '_', ' ');
  return text + ' ' + std::to_string(v.index);
}

std::string Topology::link_name(std::int32_t link) const {
  const TopologyLink& l = links_[static_cast<std::size_t>(link)];
  return name(l.from) + " to " + name(l.to);
}

void Topology::index_links() {
  first_out_.assign(vertices_.size() + 1, 0);
  for (const TopologyLink& link : links_) ++first_out_[static_cast<std::size_t>(link.from) + 1];
  for (std::size_t v = 0; v < vertices_.size(); ++v) first_out_[v + 1] += first_out_[v];
  outs_.resize(links_.size());
  std::vector<std::int32_t> next = first_out_;
  for (std::size_t i = 0; i < links_.size(); ++i) {
    std::int32_t& at = next[static_cast<std::size_t>(links_[i].from)];
    outs_[static_cast<std::size_t>(at++)] = {links_[i].to, static_cast<std::int32_t>(i),
                                             links_[i].length};
  }
}

std::span<const Topology::Out> Topology::out_of(std::int32_t vertex) const {
  const auto v = static_cast<std::size_t>(vertex);
  const auto first = static_cast<std::size_t>(first_out_[v]);
  return {outs_.data() + first, static_cast<std::size_t>(first_out_[v + 1]) - first};
}

void Topology::number_switches() {
  row_.assign(vertices_.size(), -1);
  column_.assign(vertices_.size(), -1);
  std::int32_t rows = 0;
  for (std::size_t v = 0; v < vertices_.size(); ++v)
    if (is_network_switch(vertices_[v].kind)) row_[v] = rows++;
  std::int32_t columns = 0;
  for (const TopologyLink& link : links_) {
    const VertexKind from = vertices_[static_cast<std::size_t>(link.from)].kind;
    const bool outside = from == VertexKind::adapter || (torus_ && from == VertexKind::gpu);
    auto& column = column_[static_cast<std::size_t>(link.to)];
    if (outside && row_[static_cast<std::size_t>(link.to)] >= 0 && column < 0) column = columns++;
  }
  columns_ = static_cast<std::size_t>(columns);
  distance_.assign(static_cast<std::size_t>(rows) * columns_, kFar);
}

std::uint16_t Topology::length_left(std::int32_t vertex, std::size_t column) const {
  const std::int32_t row = row_[static_cast<std::size_t>(vertex)];
  return row < 0 ? kFar : distance_[static_cast<std::size_t>(row) * columns_ + column];
}

// Dijkstra's algorithm from each switch that adapters or GPUs are at. Every link has one the other
// way, so the lengths to a switch are those from it.
void Topology::measure_distances() {
  number_switches();
  using Entry = std::pair<std::int32_t, std::int32_t>;  // length, vertex
  std::priority_queue<Entry, std::vector<Entry>, std::greater<>> open;
  for (std::size_t target = 0; target < vertices_.size(); ++target) {
    if (column_[target] < 0) continue;
    const auto column = static_cast<std::size_t>(column_[target]);
    const auto at = [&](std::int32_t v) -> std::uint16_t& {
      const auto row = static_cast<std::size_t>(row_[static_cast<std::size_t>(v)]);
      return distance_[row * columns_ + column];
    };
    open.emplace(0, static_cast<std::int32_t>(target));
    at(open.top().second) = 0;
    while (!open.empty()) {
      const auto [length, v] = open.top();
      open.pop();
      if (length > at(v)) continue;
      for (const Out& out : out_of(v)) {
        const std::int32_t further = length + out.length;
        if (row_[static_cast<std::size_t>(out.to)] < 0 || further >= at(out.to)) continue;
        at(out.to) = static_cast<std::uint16_t>(further);
        open.emplace(further, out.to);
      }
    }
  }
}

std::int32_t Topology::link_between(std::int32_t from, std::int32_t to) const {
  for (const Out& out : out_of(from))
    if (out.to == to) return out.link;
  return -1;
}

void Topology::append(std::int32_t from, std::int32_t to, LinkRoute& route) const {
  const std::int32_t link = link_between(from, to);
  TS_EXPECTS(link >= 0, name(from), name(to));
  route.push_back(link);
}

// The shortest path over PCIe switches, CPUs and CXL switches; none where the tree does not join
// them. The tree is small, so it is searched from anew.
void Topology::append_in_node(std::int32_t from, std::int32_t to, LinkRoute& route) const {
  struct Step {
    std::int32_t vertex;
    std::int32_t before;  // index into `steps`
    std::int32_t link;
  };
  std::vector<Step> steps{{from, -1, -1}};
  for (std::size_t i = 0; i < steps.size(); ++i) {
    for (const Out& out : out_of(steps[i].vertex)) {
      if (out.to == to) {
        const auto end = route.size();
        route.push_back(out.link);
        for (auto s = static_cast<std::int32_t>(i); steps[static_cast<std::size_t>(s)].link >= 0;
             s = steps[static_cast<std::size_t>(s)].before)
          route.push_back(steps[static_cast<std::size_t>(s)].link);
        std::reverse(route.begin() + static_cast<std::ptrdiff_t>(end), route.end());
        return;
      }
      if (!is_in_node(vertices_[static_cast<std::size_t>(out.to)].kind)) continue;
      const bool seen =
          std::ranges::any_of(steps, [&](const Step& s) { return s.vertex == out.to; });
      if (!seen) steps.push_back({out.to, static_cast<std::int32_t>(i), out.link});
    }
  }
}

std::int32_t Topology::first_switch(std::int32_t vertex) const {
  for (const Out& out : out_of(vertex))
    if (is_network_switch(vertices_[static_cast<std::size_t>(out.to)].kind)) return out.to;
  return -1;
}

std::int32_t Topology::adapter_of(std::int64_t gpu) const {
  const std::int64_t adapter = gpu / gpus_per_node() * adapters_per_node_ + rail(gpu);
  return first_of_kind_[static_cast<std::size_t>(VertexKind::adapter)] +
         static_cast<std::int32_t>(adapter);
}

// From one adapter (or GPU of a torus) to another, by a hash at every switch.
void Topology::append_network(std::int32_t from, std::int32_t to, std::uint64_t flow,
                              LinkRoute& route) const {
  std::int32_t at = first_switch(from);
  const std::int32_t last = first_switch(to);
  append(from, at, route);
  const auto column = static_cast<std::size_t>(column_[static_cast<std::size_t>(last)]);
  TS_EXPECTS(length_left(at, column) != kFar, name(from), name(to));
  while (at != last) {
    const auto nearer = [&, here = length_left(at, column)](const Out& out) {
      return length_left(out.to, column) + out.length == here;
    };
    const auto choices = static_cast<std::uint64_t>(std::ranges::count_if(out_of(at), nearer));
    std::uint64_t chosen =
        choices == 1 ? 0 : mixed(flow ^ mixed(static_cast<std::uint64_t>(at))) % choices;
    for (const Out& out : out_of(at)) {
      if (!nearer(out) || chosen-- != 0) continue;
      route.push_back(out.link);
      at = out.to;
      break;
    }
  }
  append(at, to, route);
}

bool Topology::are_alike(std::int64_t ranks) const {
  const std::int64_t per_node = gpus_per_node();
  const auto whole = [](std::int64_t count, std::int64_t part) {
    return count <= part || count % part == 0;
  };
  const auto fits = [](std::int64_t a, std::int64_t b) { return a % b == 0 || b % a == 0; };
  if (mesh_ || ranks % per_node != 0) return false;
  if (domain_ < per_node || !whole(ranks, domain_)) return false;
  if (ranks <= domain_) return true;
  // A GPU reaches its adapter below its own PCIe switch.
  if (adapters_per_node_ == 0 || adapters_per_node_ % switches_per_node_ != 0) return false;
  const std::int64_t nodes = ranks / per_node;
  if (nodes_per_leaf_ == 0 || !whole(nodes, nodes_per_leaf_)) return false;
  const std::int64_t planes = leaves_of(per_node);
  if (!fits(nodes_per_leaf_ * per_node, domain_) || !fits(leaves_per_pod_, planes)) return false;
  const bool leaves_alone = nodes <= nodes_per_leaf_ && (through_rail_ || leaves_of(ranks) == 1);
  return (one_path_ || leaves_alone) && whole(leaves_of(ranks), leaves_per_pod_);
}

std::int64_t Topology::leaves_of(std::int64_t ranks) const {
  const std::int64_t nodes = ranks / gpus_per_node();
  const std::int64_t planes = count_of(VertexKind::leaf) * nodes_per_leaf_ / nodes_;
  return (nodes + nodes_per_leaf_ - 1) / nodes_per_leaf_ * planes;
}

std::int64_t Topology::count_of(VertexKind kind) const {
  return std::ranges::count(vertices_, kind, &Vertex::kind);
}

std::int64_t Topology::links_like(std::int32_t link, std::int64_t ranks) const {
  const TopologyLink& l = links_[static_cast<std::size_t>(link)];
  const VertexKind from = vertices_[static_cast<std::size_t>(l.from)].kind;
  const VertexKind to = vertices_[static_cast<std::size_t>(l.to)].kind;
  const auto is = [&](VertexKind kind) { return from == kind || to == kind; };
  if (is(VertexKind::gpu)) return ranks;
  if (is(VertexKind::adapter)) return ranks * adapters_per_node_ / gpus_per_node();
  if (is(VertexKind::leaf)) return leaves_of(ranks);
  TS_EXPECTS(is(VertexKind::core), link_name(link));
  return (leaves_of(ranks) + leaves_per_pod_ - 1) / leaves_per_pod_;
}

std::array<std::uint64_t, 2> Topology::mixed_all() const {
  std::array<std::uint64_t, 2> sum{mixed(seed_), mixed(~seed_)};
  const auto add = [&](std::int64_t number) {
    const auto x = static_cast<std::uint64_t>(number);
    sum = {mixed(sum[0] ^ x), mixed(sum[1] + x)};
  };
  for (const std::int64_t number : {gpus_, nodes_, adapters_per_node_, domain_, pools_, paths_})
    add(number);
  add((through_rail_ ? 1 : 0) + (torus_ ? 2 : 0) + (mesh_ ? 4 : 0));
  for (const Vertex& v : vertices_) add(static_cast<std::int64_t>(v.kind));
  for (const TopologyLink& l : links_)
    for (const std::int64_t number :
         {std::int64_t{l.from}, std::int64_t{l.to}, l.capacity.in_base(), l.latency.count()})
      add(number);
  return sum;
}

LinkRoute Topology::route(std::int64_t from, std::int64_t to, std::int64_t path) const {
  TS_EXPECTS(from >= 0 && from < gpus_ && to >= 0 && to < gpus_ && path < paths_, from, to, path);
  LinkRoute route;
  if (from == to) return route;
  const auto at = static_cast<std::int32_t>(from);
  const auto end = static_cast<std::int32_t>(to);
  if (domain_ > 1 && from / domain_ == to / domain_) {
    if (mesh_) {
      append(at, end, route);
      return route;
    }
    const std::int32_t middle = first_of_kind_[static_cast<std::size_t>(VertexKind::nvswitch)] +
                                static_cast<std::int32_t>(from / domain_);
    append(at, middle, route);
    append(middle, end, route);
    return route;
  }
  const std::uint64_t flow = mixed(
      mixed(mixed(seed_ ^ static_cast<std::uint64_t>(from)) + static_cast<std::uint64_t>(to)) +
      static_cast<std::uint64_t>(path));
  if (torus_) {
    append_network(at, end, flow, route);
    return route;
  }
  if (from / gpus_per_node() == to / gpus_per_node()) {
    append_in_node(at, end, route);
    return route;
  }
  std::int64_t sender = from;
  if (through_rail_ && rail(from) != rail(to)) {
    sender = from / gpus_per_node() * gpus_per_node() + to % gpus_per_node();
    if (domain_ > 1 && sender / domain_ == from / domain_)
      route = this->route(from, sender);
    else
      sender = from;
  }
  append_in_node(static_cast<std::int32_t>(sender), adapter_of(sender), route);
  append_network(adapter_of(sender), adapter_of(to), flow, route);
  append_in_node(adapter_of(to), end, route);
  return route;
}

LinkRoute Topology::route_to_pool(std::int64_t from, std::int64_t pool) const {
  TS_EXPECTS(from >= 0 && from < gpus_ && pool >= 0 && pool < pools_, from, pool);
  LinkRoute route;
  append_in_node(
      static_cast<std::int32_t>(from),
      first_of_kind_[static_cast<std::size_t>(VertexKind::pool)] + static_cast<std::int32_t>(pool),
      route);
  return route;
}

Duration Topology::latency(const LinkRoute& route) const {
  Duration sum{};
  for (const std::int32_t link : route) sum += links_[static_cast<std::size_t>(link)].latency;
  return sum;
}

}  // namespace tiersim
