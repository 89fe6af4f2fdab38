#pragma once
// Internals of FlowNetwork. Flows of the same path without a rate cap form one group: they always
// have the same rate per weight, so the group keeps one clock of progress and a heap of the
// progress at which each flow finishes. A flow with a cap is a group of its own. The link that
// limits a group is its bottleneck, and each link has one timer, for the first finish among the
// groups it limits. A start or finish re-solves its own links, and from there only the links of
// groups whose level changes. One link with one group is a special case without any search
// (flow_network_solve.cpp), and a flow that follows another like it there is not even a start
// (flow_network_exchange.cpp).
#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "sim/core/engine.hpp"
#include "sim/core/flow_network.hpp"
#include "sim/core/flow_network_heap.hpp"
#include "sim/core/flow_network_math.hpp"

namespace tiersim {

namespace flow {

using Index = std::uint32_t;
inline constexpr Index kNone = 0xffff'ffff;     ///< no bottleneck yet
inline constexpr Index kOwnPace = 0xffff'fffe;  ///< limited by its own pace, not by a shared link

/// The use of one link by one flow.
struct FlowHop {
  UInt128 load;            ///< wire * weight / payload in units of 2^-60, rounded up
  std::int64_t wire;       ///< bytes
  std::int64_t potential;  ///< largest B/s that it takes, alone in the network, rounded up
};

struct Flow {
  StoredTicks span = 0;  ///< payload per weight, rounded up
  std::uint64_t order;
  std::int64_t payload;
  EventHandler* handler;  ///< null: a process waits
  WaitNode* waiter;       ///< null: no receiver any more
  std::uint64_t cookie;
  Index group;
  Index first_hop;  ///< in hops_of_flows_; in the order of the group's hops
  bool inexact;     ///< some load was rounded
};

/// The position of a group in the list of one of its links.
struct GroupHop {
  Index link = 0;
  Index position = 0;
};

/// A group as stored at one of its links.
struct LinkGroup {
  UInt128 load;  ///< sum over the group's flows
  Index group;
  Index hop;           ///< of the group: position in hops_of_groups_
  bool taken = false;  ///< while solving the link: its share is off the link's capacity
};

/// The result of the solver for a group, apart from the group because other links read it.
struct Standing {
  StoredTicks level = kNoLevel;  ///< share per weight, before it is rounded down to a speed
  Index owner = kNone;           ///< the link, or its own cap, at whose limit the level was set
  Index first_hop = 0;           ///< of the group, in hops_of_groups_
  Index hop_count = 0;
  bool capped = false;  ///< a group of one flow with a cap
  bool exact = true;    ///< true where the level is exact
  bool open = true;     ///< while solving: has no level yet
};

/// The links of flows without a cap, and the group of these flows while there are any.
struct Path {
  Index first_link = 0;  ///< in links_of_paths_
  Index hop_count = 0;
  Index group = kNone;
};

/// Ordered so that the members that a solve reads of every group come first.
struct alignas(64) Group {
  StoredTicks clock = 0;  ///< progress of its flows at `since`
  StoredTicks speed = 0;  ///< progress per picosecond; at its own pace: per `pace`
  StoredTicks first = 0;  ///< least progress at which a flow finishes; valid if first_known
  std::int64_t since = 0;
  Index bottleneck = kNone;
  bool first_known = false;
  bool capped = false;
  Index inexact_flows = 0;
  Index first_hop = 0;
  Index hop_count = 0;
  Index timer = 0;
  Index path = kNone;  ///< none for a capped group
  FinishHeap flows;
  Divider by_speed;  ///< for the speed at the last exchange of a finish for a start
  Pace pace;         ///< if bottleneck is kOwnPace: the duration of its one flow
  Pace cap;          ///< for a capped group
  Level cap_level = kNoLevel;
  bool cap_exact = true;

  Ticks next_finish() {
    if (!first_known) first = flows.top().finish();
    first_known = true;
    return first;
  }
};

enum class LinkState : std::uint8_t {
  idle,       ///< no flow
  single,     ///< one flow: acts only as a cap on its rate
  slack,      ///< its flows together cannot fill it: no limit
  contended,  ///< shared
};

/// Ordered like Group.
struct alignas(64) Link {
  std::vector<LinkGroup> groups;
  Index mark = 0;  ///< number of the last solve that reached the link
  LinkState state = LinkState::idle;
  bool dirty = false;
  Level level = kNoLevel;  ///< its groups that no other limits have this level; none: not full
  // While solving: the capacity and load without the groups that are taken, the share of the
  // others, and the level before.
  bool tainted = false;  ///< `remaining` is a bound, not exact
  bool stale = false;    ///< `share` is that before the last one was taken
  bool share_exact = true;
  StoredTicks remaining = 0;
  StoredTicks open_load = 0;
  StoredTicks share = 0;
  StoredTicks held = kNoLevel;
  StoredTicks next_settled = 0;  ///< the least key among groups that are neither open nor taken
  std::int64_t next = TimerHeap::kNever;
  // The share if no flow is limited elsewhere, and the load for which it was computed.
  UInt128 solved_load = 0;
  StoredTicks solved = 0;
  bool solved_exact = true;
  Index inexact_flows = 0;
  Level full = 0;         ///< capacity in fine units
  UInt128 load = 0;       ///< sum over its flows
  UInt128 potential = 0;  ///< sum over its flows
  Index flows = 0;
  Index timer = 0;
  Index own_path = kNone;  ///< path of the flows that cross only this link, without a cap
  std::int64_t capacity = 0;
  std::string name;
  // Statistics.
  std::int64_t payload_done = 0;
  std::int64_t wire_done = 0;
  std::int64_t flows_done = 0;
  std::int64_t busy = 0;
  std::int64_t busy_since = 0;
};

}  // namespace flow

class FlowNetwork::Impl final : public EventHandler {
 public:
  using Index = flow::Index;
  explicit Impl(Engine& engine) : engine_(engine) {}

  LinkId add_link(std::string name, Bandwidth capacity);
  Index start(const FlowSpec& spec, EventHandler* handler, std::uint64_t cookie, WaitNode* waiter) {
    const Index place = leaving_;
    if (place != flow::kNone && start_in_place(spec, handler, cookie, waiter)) return place;
    return start_anew(spec, handler, cookie, waiter);
  }
  void forget_waiter(Index flow) { flows_.at(flow).waiter = nullptr; }
  void on_event(Engine& engine, std::uint64_t payload) override;
  bool has_waiters();
  void stop();

  const flow::Link& link(LinkId id) const { return links_.at(id.index()); }
  std::size_t link_count() const { return links_.size(); }
  std::span<const Bandwidth> capacities() const { return capacities_; }
  LinkStats stats(LinkId id);
  FlowTotals totals();
  std::vector<FlowShare> shares();

 private:
  struct Finished {
    std::uint64_t order;
    EventHandler* handler;
    WaitNode* waiter;
    std::uint64_t cookie;
  };
  static constexpr std::int64_t kBytesMax = std::int64_t{1} << 53;
  /// Marks a group's index in places that may also hold the index of a link.
  static constexpr Index kCapBit = Index{1} << (flow::LevelHeap::kOwnerBits - 1);

  // flow_network_stats.cpp
  static flow::Ticks progress_of(const flow::Flow& flow, const flow::FinishHeap::Entry& entry,
                                 flow::Ticks clock);

  // flow_network_flows.cpp: flows and groups come and go.
  Index start_anew(const FlowSpec& spec, EventHandler* handler, std::uint64_t cookie,
                   WaitNode* waiter);
  void check(const FlowSpec& spec) const;
  void sort_hops(const FlowSpec& spec);
  Index find_path();
  Index group_of(Index path);
  Index new_group(Index path);
  Index hash_slot(std::span<const Hop> hops) const;
  bool same_path(const flow::Path& path, std::span<const Hop> hops) const;
  void grow_paths();
  Index new_flow(std::size_t hop_count);
  flow::Pace solo_pace(const FlowSpec& spec) const;
  void set_cap(flow::Group& group, const FlowSpec& spec) const;
  void join_links(Index group, const flow::Flow& flow);
  void leave_links(Index group, const flow::Flow& flow);
  static void set_load(flow::Flow& flow, flow::FlowHop& hop, const Hop& given,
                       std::uint64_t weight);
  void set_hops(flow::Flow& flow, const flow::Pace& solo, std::uint64_t weight);
  void finish(Index flow);
  void retire(Index group);
  void touch(Index link) {
    if (links_[link].dirty) return;
    links_[link].dirty = true;
    dirty_links_.push_back(link);
  }
  std::span<flow::GroupHop> hops_of(const flow::Standing& group) {
    return {hops_of_groups_.data() + group.first_hop, group.hop_count};
  }

  // flow_network.cpp: time.
  std::int64_t now() const { return engine_.now().time_since_epoch().count(); }
  static flow::Ticks own_clock_at(const flow::Group& group, std::uint64_t elapsed);
  /// The progress of the group's flows at `now`.
  static flow::Ticks clock_at(const flow::Group& group, std::int64_t now) {
    const auto elapsed = static_cast<std::uint64_t>(now - group.since);
    if (group.bottleneck == flow::kOwnPace) return own_clock_at(group, elapsed);
    return group.clock + group.speed * elapsed;
  }
  static void advance(flow::Group& group, std::int64_t now) {
    // At its own pace even zero time may be enough: nothing limits such a flow.
    if (group.since == now && group.bottleneck != flow::kOwnPace) return;
    group.clock = clock_at(group, now);
    group.since = now;
  }
  void collect_due(std::int64_t now);
  void pop_finished(flow::Group& group);
  void deliver();
  void request_settle();
  void arm();

  // flow_network_exchange.cpp: a finish and a start in its place.
  bool exchange(std::int64_t now);
  bool start_in_place(const FlowSpec& spec, EventHandler* handler, std::uint64_t cookie,
                      WaitNode* waiter);
  std::int64_t first_finish(flow::Group& group, std::int64_t now);
  /// Removes the leaving flow from the sums, if there is one.
  void leave_now() {
    if (leaving_ == flow::kNone) return;
    const Index flow = leaving_;
    leaving_ = flow::kNone;
    flows_[flow].handler = nullptr;  // has been called
    finish(flow);
  }

  // flow_network_solve.cpp: rates.
  static std::int64_t finish_time(std::int64_t now, flow::Ticks remaining, flow::Ticks speed);
  void solve(std::int64_t now);
  bool solve_alone(flow::Link& link, std::int64_t now);
  void gather();
  void reach_link(Index link) {
    if (links_[link].mark != mark_) reach_anew(link);
  }
  void reach_anew(Index link);
  void open_group(Index group);
  void fill(std::int64_t now);
  void settle_link(Index link, std::int64_t now);
  void set_share(flow::Link& link) const;
  static void take(flow::Link& link, flow::LinkGroup& of, const flow::Standing& standing);
  void take_settled(flow::Link& link) const;
  void release_link(Index link);
  void freeze_link(Index link, std::int64_t now);
  void freeze_cap(Index group, std::int64_t now);
  void set_level(Index group, Index owner, flow::Level level, bool exact);
  void run_at(flow::Group& group, Index bottleneck, flow::Ticks speed, std::int64_t now) {
    advance(group, now);
    if (group.bottleneck == flow::kOwnPace) timers_.set(group.timer, flow::TimerHeap::kNever);
    group.bottleneck = bottleneck;
    group.speed = speed;
  }
  flow::Pace own_pace(flow::Group& group);
  void run_own_pace(flow::Group& group, std::int64_t now);
  std::int64_t wire_of(Index flow, Index hop) const;

  Engine& engine_;
  std::vector<Bandwidth> capacities_;
  std::vector<flow::Link> links_;
  std::vector<flow::Group> groups_;
  std::vector<flow::Standing> standings_;  ///< by group
  std::vector<flow::GroupHop> hops_of_groups_;
  std::vector<flow::Flow> flows_;
  std::vector<flow::FlowHop> hops_of_flows_;
  std::vector<flow::Path> paths_;
  std::vector<Index> links_of_paths_;
  std::vector<Index> path_table_;                ///< open addressing, kNone if free; never iterated
  std::vector<std::vector<Index>> free_flows_;   ///< by number of hops
  std::vector<std::vector<Index>> free_groups_;  ///< by number of hops
  std::vector<Hop> sorted_;
  std::span<const Hop> given_;  ///< hops of the flow being started, by link

  flow::TimerHeap timers_;
  std::vector<Index> timer_owner_;  ///< a link, or a group with kCapBit
  std::vector<Finished> finished_;
  std::vector<Index> dirty_links_, dirty_groups_, reached_links_;
  flow::LevelHeap candidates_;
  UInt128 filled_ = 0;  ///< key of the candidate up to which all levels are set
  Index mark_ = 0;

  std::int64_t armed_ = flow::TimerHeap::kNever;  ///< time of the engine event in force
  Token timer_;
  Index leaving_ = flow::kNone;  ///< finished and in its handler's call, but still in the sums
  Index leaving_link_ = 0;       ///< the only link of the leaving flow
  bool waiter_finished_ = false;
  bool settle_requested_ = false;
  bool in_event_ = false;
  FlowTotals totals_;
  std::uint64_t next_order_ = 0;
};

}  // namespace tiersim
