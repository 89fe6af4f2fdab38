#pragma once
// The devices of all groups of GPUs in one flow network. A group is a replica or one pipeline stage
// of it. Its GPUs do the same at the same time, so one of them stands for all; a shared device is
// charged for each of them.
#include <cstdint>
#include <functional>
#include <string>
#include <vector>

#include "sim/core/engine.hpp"
#include "sim/core/flow_network.hpp"
#include "sim/serving/demand.hpp"

namespace tiersim {

/// Consecutive groups, or replicas, out of all that a system has.
struct GroupRange {
  std::int64_t first = 0;
  std::int64_t count = 0;  ///< 0: all
};

class ServingHardware {
 public:
  /// A channel was busy for `busy` of the time between `from` and `to`, as a mean over its
  /// instances.
  using OnUse = std::function<void(ChannelId, SimTime from, SimTime to, Duration busy)>;
  /// One operation more (1) or fewer (-1) moves bytes through a channel.
  using OnFlow = std::function<void(ChannelId, std::int64_t change)>;

  /// `all` has the devices of every group, `one` those of one group. Both must outlive this. Where
  /// it has only a part of the groups, crossed() tells whether others share a channel that it used.
  ServingHardware(Engine& engine, const System& all, const System& one, std::int64_t groups,
                  OnUse on_use, GroupRange part = {});

  /// For listeners that count operations in flight; none by default.
  void set_on_flow(OnFlow on_flow) { on_flow_ = std::move(on_flow); }

  /// Work of a group's GPUs, which takes `least` alone on the system and longer if others use the
  /// same channels. Each channel is used evenly over that time.
  Process work(std::int64_t group, const Demand& demand, Duration least);
  /// Says that a group does nothing beside its work(), which then takes the time that it takes
  /// alone where no other group shares its channels.
  void set_undisturbed() { undisturbed_ = true; }
  /// A copy, as planned on one of the group's GPUs, with its load on the receiving group, if
  /// any.
  struct Receiver {
    std::int64_t group = -1;  ///< none
    OpPlan plan = {};
  };
  Process copy(std::int64_t group, OpPlan plan, Receiver receiver);
  Process copy(std::int64_t group, OpPlan plan) { return copy(group, std::move(plan), Receiver{}); }

  /// Bytes through each channel, over all its instances; by ChannelId.
  std::vector<Bytes> taken() const;
  Bytes taken(ChannelId channel) const;
  /// Number of instances of a channel.
  std::int64_t instances(ChannelId channel) const { return channels_[channel.index()].instances; }
  /// True once a channel was used that groups beyond this part share, so that times may be too
  /// short.
  bool crossed() const { return crossed_; }
  FlowTotals totals() const { return network_.totals(); }

 private:
  struct Channel {
    std::int64_t instances = 1;
    std::int64_t together = 1;  // groups that share one instance
    std::int64_t first = 0;     // instance of the first link
    bool crosses = false;       // groups beyond this part share a link
    std::vector<LinkId> links;  // by instance; unused at analytic level
    bool analytic = false;
    Bytes taken = {};  // beside the links
  };

  void take_all(std::int64_t group, const std::vector<ChannelCharge>& charges, Duration& least);
  /// Adds a group's use of a channel; `least` grows if the channel is not shared.
  void take(std::int64_t group, ChannelId channel, Bytes busy, Duration& least);
  Process flow(Duration least);
  bool is_undisturbed(const Demand& demand) const;

  Engine& engine_;
  const System& one_;
  bool undisturbed_ = false;
  bool crossed_ = false;
  OnUse on_use_;
  OnFlow on_flow_;
  FlowNetwork network_;
  std::vector<Channel> channels_;
  std::vector<Hop> hops_;  // of the flow about to start
  Bytes widest_{};         // of the flow about to start
  struct Use {
    ChannelId channel;
    Duration busy;
  };
  std::vector<Use> uses_;  // of the flow about to start
};

}  // namespace tiersim
