#include "hwmodels/packet/collective/collective_run.hpp"
#include "sim/core/engine.hpp"

#include <algorithm>

namespace tiersim {
namespace {

Duration above(Duration a, Duration b) {
  return std::max(Duration{}, a - b);
}

CollectiveSoftware software_of(const NcclConstants& c, Duration one_way, Bandwidth port,
                               std::int64_t streams) {
  CollectiveSoftware s{.gap = above(c.hop.value, one_way), .payload = c.payload.value};
  std::optional<Bandwidth> most;
  if (c.rate) most = scale_down(c.rate->value, 1 / c.payload.value);
  if (c.busy) {
    const Bandwidth busy = scale_down(port, c.busy->value);
    most = most ? std::min(*most, busy) : busy;
  }
  if (most) s.pace = Bandwidth::from_base(most->in_base() / streams);
  return s;
}

}  // namespace

CollectiveTiming timing_of(const NcclConstants& constants, const CollectiveSchedule& schedule,
                           const FabricShape& fabric, Bandwidth port) {
  TS_EXPECTS(schedule.network_hops == 0, schedule.network_hops);
  return timing_of(constants, constants, schedule, fabric, fabric, port);
}

CollectiveTiming timing_of(const NcclConstants& node, const NcclConstants& network,
                           const CollectiveSchedule& schedule, const FabricShape& fabric,
                           const FabricShape& between, Bandwidth port) {
  CollectiveTiming t;
  t.node = software_of(node, fabric.one_way(), port, schedule.streams);
  t.network = software_of(network, between.one_way(), between.link_rate * between.links, 1);
  // Start, gaps and packet ways add up to the flow level's start-up and hops, or at least to the
  // ways.
  const Duration hops = repeated(node.hop.value, schedule.hops);
  const Duration gaps = repeated(t.node.gap, schedule.hops);
  const Duration ways = repeated(fabric.one_way(), schedule.wires);
  t.start = above(std::max(node.start.value, network.start.value) + hops, gaps + ways);
  return t;
}

CollectiveTiming timing_of(const DirectConfig& config, const CollectiveSchedule& schedule,
                           const FabricShape& fabric) {
  CollectiveTiming t;
  const Duration start = schedule.wires == 2 ? config.two_shot.value : config.one_shot.value;
  const std::int64_t peers = schedule.streams * schedule.wires;
  t.start =
      above(start + repeated(config.peer.value, peers), repeated(fabric.one_way(), schedule.wires));
  t.node.pace = Bandwidth::from_base(config.rate.value.in_base() / schedule.streams);
  return t;
}

CollectiveRun::CollectiveRun(Engine& engine, CollectiveFabrics fabrics,
                             const CollectiveSchedule& schedule, const CollectiveTiming& timing,
                             FabricListener* listener, std::uint64_t tag)
    : engine_(engine),
      fabrics_(std::move(fabrics)),
      schedule_(schedule),
      timing_(timing),
      listener_(listener),
      tag_(tag),
      states_(schedule.transfers.size()),
      streams_(schedule.stream_count),
      left_(schedule.transfers.size()) {
  TS_EXPECTS(fabrics_.nodes.size() * schedule.ranks_per_node == schedule.ranks,
             fabrics_.nodes.size(), schedule.ranks);
  for (std::uint32_t i = 0; i < schedule.order.size(); ++i) {
    states_[schedule.order[i].first].order.push_back(i);
    ++states_[schedule.order[i].then].missing;
  }
}

void CollectiveRun::start() {
  began_ = last_ = engine_.now();
  for (std::size_t i = 0; i < states_.size(); ++i) {
    if (states_[i].missing > 0) continue;
    make_ready(i, engine_.now() + timing_.start + software_of(schedule_.transfers[i]).gap);
  }
}

Duration CollectiveRun::time() const {
  TS_EXPECTS(ended(), left_);
  return last_ - began_;
}

// Makes the transfer ready at `when`, or as soon as the pace of its stream allows.
void CollectiveRun::make_ready(std::size_t transfer, SimTime when) {
  const CollectiveTransfer& t = schedule_.transfers[transfer];
  const CollectiveSoftware& software = software_of(t);
  if (software.pace > Bandwidth{}) {
    SimTime& free = streams_[t.stream].free;
    when = std::max(when, free);
    free = when + scale_up(t.bytes, 1 / software.payload) / software.pace;
  }
  engine_.schedule(when, *this, transfer + 1);
}

void CollectiveRun::on_event(Engine&, std::uint64_t transfer_and_one) {
  post(transfer_and_one - 1);
}

void CollectiveRun::post(std::size_t transfer) {
  const CollectiveTransfer& t = schedule_.transfers[transfer];
  const CollectiveSoftware& software = software_of(t);
  const std::size_t per_node = schedule_.ranks_per_node;
  PacketFabric& fabric = t.between_nodes ? *fabrics_.network : *fabrics_.nodes[t.src / per_node];
  constexpr std::array kOps{FabricOp::write, FabricOp::write, FabricOp::reduce,
                            FabricOp::multicast};
  std::uint64_t& flow = streams_[t.stream].flow;
  if (flow == 0) flow = fabric.new_flow();
  const auto port_of = [&](std::size_t rank) {
    return t.between_nodes ? rank : fabrics_.first_port + rank % per_node;
  };
  fabric.post({.op = kOps[static_cast<std::size_t>(t.kind)],
               .src = port_of(t.src),
               .dst = port_of(t.dst),
               .group = {fabrics_.first_port, per_node},
               .bytes = scale_up(t.bytes, 1 / software.payload),
               .address = scale_up(t.to, 1 / software.payload).in_base(),
               .pace = software.pace,
               .flow = flow,
               .listener = this,
               .tag = transfer});
}

void CollectiveRun::on_done(Engine& engine, std::uint64_t transfer) {
  last_ = engine.now();
  --left_;
  const CollectiveTransfer& done = schedule_.transfers[transfer];
  for (const std::uint32_t i : states_[transfer].order) {
    const CollectiveSchedule::Order& order = schedule_.order[i];
    State& then = states_[order.then];
    SimTime when = engine.now() + software_of(schedule_.transfers[order.then]).gap;
    if (order.release)
      when = engine.now() + software_of(done).gap + fabrics_.nodes.front()->shape().one_way();
    then.ready = std::max(then.ready, when);
    if (--then.missing == 0) make_ready(order.then, then.ready);
  }
  if (left_ == 0 && listener_ != nullptr) listener_->on_done(engine, tag_);
}

}  // namespace tiersim
