#pragma once
// Concurrent transfers that share links: a fluid model of buses, ports and memories.
//
//   FlowNetwork network(engine);
//   const LinkId up = network.add_link("gpu0.up", 63_GBps);
//   const LinkId pool = network.add_link("pool.read", 26_GBps);
//   const std::array hops{Hop{up, wire_up}, Hop{pool, wire_pool}};
//   FlowSpec read{.hops = hops, .payload = 4_KiB};
//   co_await network.transfer(read);            // in a Process; or, by handler:
//   network.start(read, handler, cookie);       // handler.on_event(engine, cookie) at its end
//
// Model. A flow moves `payload` bytes and meanwhile takes `wire` bytes from each of its hops, in
// proportion (headers, flits and granules make wire differ from payload, hop by hop). Rates are
// weighted max-min fair: the payload rates x satisfy sum over flows (wire/payload) x <= capacity on
// every link, x <= payload/min_duration, and no x/weight can grow but at the cost of a smaller one
// (Bertsekas and Gallager, Data Networks, 6.5.2). They change only when a flow starts or finishes,
// and those instants are whole picoseconds.
//
// Exactness. All arithmetic is in integers. A flow finishes at the first whole picosecond at which
// the integral of its rate has reached its payload. If every share is a multiple of the rate
// quantum (1/5354228880 B/s, as with up to 24 equal sharers of any link), that instant is exact.
// Otherwise a share is rounded down, never up: no flow finishes before its rational time, and it is
// late by less than d * (quantum / share + 2^-60 * payload / wire), summed over its periods of
// constant rate d. That is below 1 ps for a period of 89 minutes at 1 MB/s, or of 5 seconds at 1
// kB/s. If shares depend on each other (flows with two or more contended links), rounding one share
// down could raise another. Therefore 1/32 quantum and 2^-52 of the share are taken off every share
// that depends on an inexact one. That guard is far above the sum of such errors in the random
// networks of tests/property/flow_network_exact_test.cpp; it is not a proof for every network. A
// flow that no other flow slows takes exactly uncontended_duration(), always.
//
// Order. Completions of one instant are delivered in the order in which the flows were started,
// over all links. Starts of one instant take effect together, after all other events of that
// instant (Lane::late). If a process that awaits a flow is cancelled, the flow goes on to its end
// without notifying anyone.
//
// Ignores: latency (add it to the wait), packets and their queueing, credits, FIFO order, and the
// reaction time of congestion control: a new share takes effect at once.
#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "sim/base/id.hpp"
#include "sim/base/units.hpp"
#include "sim/core/wait_list.hpp"

namespace tiersim {

using LinkId = Id<struct LinkTag>;

/// The share of one link in a flow. `wire` is 0 to 2^53 B, and below 2^44 times the payload over
/// the weight.
struct Hop {
  LinkId link;
  Bytes wire;
};

/// One transfer. It is read only during the call that starts it, so `hops` may be a temporary.
struct FlowSpec {
  std::span<const Hop> hops = {};  ///< at most 255, each link at most once, in any order
  Bytes payload;                   ///< 1 B to 2^53 B
  std::int64_t weight = 1;         ///< share relative to other flows; 1 to 2^20
  Duration min_duration{0};        ///< duration with every link free; 0: no such limit
};

/// The duration of a flow alone in the network: the larger of min_duration and, over the hops, wire
/// / capacity rounded up. `capacity[i]` belongs to the link with index i. Zero if nothing limits
/// the flow. Analytic bounds use this same function.
Duration uncontended_duration(const FlowSpec& spec, std::span<const Bandwidth> capacity);

/// Totals since construction up to now. Bytes of flows in flight count in part, rounded down.
struct LinkStats {
  Bytes payload_moved;          ///< payload that crossed this link
  Bytes wire_moved;             ///< wire bytes that it took from this link's capacity
  Duration busy{0};             ///< time with at least one flow on it
  std::int64_t flows_done = 0;  ///< flows that crossed it and finished
  std::int64_t flows_now = 0;   ///< flows in flight
  double utilisation = 0;       ///< wire_moved / (capacity * now); 0 at time 0
};

/// started == finished + moved_in_flight + remaining_in_flight, always.
struct FlowTotals {
  Bytes payload_started;
  Bytes payload_finished;
  Bytes moved_in_flight;      ///< rounded down, flow by flow
  Bytes remaining_in_flight;  ///< rounded up, flow by flow
  std::int64_t flows_started = 0;
  std::int64_t flows_finished = 0;
};

/// The share of one flow in flight at this instant.
struct FlowShare {
  std::uint64_t flow = 0;  ///< its number in the order of starts, from 0
  LinkId bottleneck;       ///< the shared link that limits it; invalid: nothing slows it
  Int128 rate_quanta = 0;  ///< payload rate per weight in 1/kFlowRateQuantum B/s, rounded down
};

/// Rates are multiples of 1/kFlowRateQuantum B/s: lcm(1..24).
inline constexpr std::int64_t kFlowRateQuantum = 5'354'228'880;

class FlowNetwork : public Waitable {
 public:
  /// The engine must outlive the network.
  explicit FlowNetwork(Engine& engine);
  /// Flows in flight are dropped. If a process awaits one, the engine's processes are ended. The
  /// network must not be destroyed right after a start(), unless the engine has run since or never
  /// runs again.
  ~FlowNetwork();

  /// `capacity` in wire bytes per second, 1 B/s to 2^50 B/s. Links may be added at any time.
  LinkId add_link(std::string name, Bandwidth capacity);

  /// Starts a flow now. `done.on_event(engine, payload)` is called at the instant it finishes, from
  /// the network's own event, and may start further flows. `done` must live until then.
  void start(const FlowSpec& spec, EventHandler& done, std::uint64_t payload = 0);

  class Transfer;
  /// `co_await network.transfer(spec)` resumes when the flow has finished.
  Transfer transfer(const FlowSpec& spec);

  /// The free function above with this network's capacities.
  Duration uncontended_duration(const FlowSpec& spec) const;

  std::size_t link_count() const;
  std::string_view link_name(LinkId link) const;
  Bandwidth capacity(LinkId link) const;
  /// Walks over the flows on the link: for reports, not for every event.
  LinkStats stats(LinkId link) const;
  /// Walks over the flows in flight.
  FlowTotals totals() const;
  /// The shares in the order of starts. Flows started at this very instant may still be missing.
  std::vector<FlowShare> shares() const;

 private:
  std::uint32_t start_waiter(const FlowSpec& spec, WaitNode& waiter);
  void forget_waiter(std::uint32_t flow);

  class Impl;
  std::unique_ptr<Impl> impl_;
};

/// The awaitable of transfer(), which lives in the awaiting frame.
class [[nodiscard]] FlowNetwork::Transfer : WaitNode {
 public:
  Transfer(FlowNetwork& network, const FlowSpec& spec)
      : WaitNode(&Transfer::abandoned), network_(network), spec_(spec) {}
  bool await_ready() const { return false; }
  void await_suspend(Process::Handle waiter) {
    waiter.promise().set_waiting(*this);
    flow_ = network_.start_waiter(spec_, *this);
  }
  void await_resume() const {}

 private:
  static bool abandoned(WaitNode& node) {
    if (node.next == &node) return true;  // the flow has finished
    auto& transfer = static_cast<Transfer&>(node);
    transfer.network_.forget_waiter(transfer.flow_);
    return false;
  }

  FlowNetwork& network_;
  FlowSpec spec_;
  std::uint32_t flow_ = 0;
};

inline FlowNetwork::Transfer FlowNetwork::transfer(const FlowSpec& spec) {
  return Transfer(*this, spec);
}

}  // namespace tiersim
