#pragma once
// The devices of all groups of GPUs of one system, in a flow network. A group is a replica or one
// pipeline stage of it. Its GPUs do the same at the same time, so one of them stands for all; a
// shared device is charged for each of them. The systems of a server that reads prompts on one and
// answers on another are in the same network, so that a hand-over is one flow over both.
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

  /// `all` has the devices of every group, `one` those of one group. All must outlive this. Where
  /// it has only a part of the groups, crossed() tells whether others share a channel that it used.
  ServingHardware(Engine& engine, FlowNetwork& network, const System& all, const System& one,
                  std::int64_t groups, OnUse on_use, GroupRange part = {});

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
    ServingHardware* hardware = nullptr;  ///< none; it has the same network
    std::int64_t group = 0;
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

  struct Use {
    const ServingHardware* of;
    ChannelId channel;
    Duration busy;
  };
  /// A flow that is about to start.
  struct Load {
    std::vector<Hop> hops;
    std::vector<Use> uses;
    Bytes widest{};
    Duration least{};
  };

  void take_all(std::int64_t group, const std::vector<ChannelCharge>& charges, Load& load);
  /// Adds a group's use of a channel; `least` grows if the channel is not shared.
  void take(std::int64_t group, ChannelId channel, Bytes busy, Load& load);
  /// Starts what begin_load() and take() have put together.
  Process flow();
  Load& begin_load(Duration least);
  bool is_undisturbed(const Demand& demand) const;

  Engine& engine_;
  FlowNetwork& network_;
  const System& one_;
  bool undisturbed_ = false;
  bool crossed_ = false;
  OnUse on_use_;
  OnFlow on_flow_;
  std::vector<Channel> channels_;
  Load load_;  // scratch
};

}  // namespace tiersim
