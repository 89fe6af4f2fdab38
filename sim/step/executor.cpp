#include "sim/step/executor.hpp"

#include <algorithm>
#include <cstdint>
#include <deque>

#include "sim/core/engine.hpp"
#include "sim/core/flow_network.hpp"
#include "sim/step/packet_hardware.hpp"

namespace tiersim {
namespace {

class Executor final : public EventHandler {
 public:
  Executor(const StepGraph& graph, const System& system, const OpPlans& plans,
           ChannelObserver* observer)
      : graph_(graph),
        plans_(plans),
        observer_(observer),
        network_(engine_),
        gpus_(distinct_gpus(system, plans)),
        packets_(engine_, system, graph, plans, gpus_) {
    const std::size_t gpus = gpus_;
    for (const SystemChannel& channel : system.channels()) {
      const auto sharers = static_cast<std::size_t>(channel.sharers);
      Instances& instances = channels_.emplace_back();
      instances.sharers = sharers;
      instances.capacity = channel.capacity;
      instances.sms = system.counts_sms(ChannelId(channels_.size() - 1));
      if (channel.level != Level::flow) continue;
      for (std::size_t i = 0; i < gpus / sharers; ++i)
        instances.links.push_back(network_.add_link(channel.name, channel.capacity));
    }
    timings_.resize(gpus * plans.size());
    parts_.resize(timings_.size());
    waiting_for_.resize(timings_.size());
    kernels_.resize(gpus * kGpuRoles);
    if (gpus > 1) arrived_.resize(timings_.size());
    dependents_.resize(plans.size());
    for (std::size_t op = 0; op < plans.size(); ++op) {
      for (std::size_t gpu = 0; gpu < gpus; ++gpu)
        waiting_for_[gpu * plans.size() + op] = graph.ops[op].after.size();
      for (const OpId before : graph.ops[op].after) dependents_[before.index()].push_back(op);
    }
  }

  Execution run() {
    for (std::size_t task = 0; task < timings_.size(); ++task)
      if (waiting_for_[task] == 0) become_ready(task);
    engine_.run();
    TS_ENSURES(finished_ == timings_.size(), finished_, timings_.size());
    Execution out;
    for (const OpTiming& timing : timings_)
      out.time = std::max(out.time, timing.end.time_since_epoch());
    out.timings = std::move(timings_);
    out.simulated = static_cast<std::int64_t>(gpus_);
    for (const Instances& instances : channels_) {
      if (instances.links.empty()) {
        out.busy.push_back(instances.taken);
        continue;
      }
      const LinkStats stats = network_.stats(instances.links.front());
      out.busy.push_back(stats.wire_moved);
    }
    return out;
  }

  // The payload of an event is the task and the kind of event.
  void on_event(Engine&, std::uint64_t payload) override {
    const std::size_t task = payload / kKinds;
    switch (payload % kKinds) {
      case kSetupOver:
        return begin_moving(task);
      case kGroupDone:
        return end_of_group(task);
      default:
        return end_of_part(task);
    }
  }

 private:
  static constexpr std::uint64_t kSetupOver = 0;
  static constexpr std::uint64_t kPartDone = 1;   // its flow, or a packet device's part of it
  static constexpr std::uint64_t kGroupDone = 2;  // the packets of a collective, for all its ranks
  static constexpr std::uint64_t kKinds = 3;

  struct Instances {  // instances of one channel
    std::size_t sharers = 1;
    Bandwidth capacity;
    std::vector<LinkId> links;  // at flow level only
    Bytes taken;                // by the first instance; not at flow level
    bool sms = false;           // gpu.sms
  };

  // GPUs that share no device they use do the same at the same time, down to the picosecond: one of
  // them is simulated for all.
  static std::size_t distinct_gpus(const System& system, const OpPlans& plans) {
    const bool share = std::ranges::any_of(plans, [&](const OpPlan& plan) {
      return std::ranges::any_of(plan.charges, [&](const ChannelCharge& charge) {
        return system.channels()[charge.channel.index()].sharers > 1;
      });
    });
    return share ? static_cast<std::size_t>(system.gpus()) : 1;
  }

  // A task is one operation on one GPU.
  std::size_t op_of(std::size_t task) const { return task % plans_.size(); }
  std::size_t gpu_of(std::size_t task) const { return task / plans_.size(); }
  const OpPlan& plan_of(std::size_t task) const { return plans_[op_of(task)]; }
  std::deque<std::size_t>& kernels_of(std::size_t task) {
    return kernels_[gpu_of(task) * kGpuRoles + static_cast<std::size_t>(plan_of(task).role)];
  }

  // Number of simulated GPUs among those that meet for the task.
  std::size_t ranks_of(std::size_t task) const {
    return std::min(static_cast<std::size_t>(plan_of(task).ranks), gpus_);
  }

  void become_ready(std::size_t task) {
    timings_[task].ready = engine_.now();
    if (plan_of(task).ranks > 1 && !arrived_.empty()) return meet(task);
    if (!plan_of(task).exclusive) return begin(task);
    auto& kernels = kernels_of(task);
    kernels.push_back(task);
    if (kernels.size() == 1) begin(task);  // the front one is running
  }

  // Consecutive GPUs form a group, which begins when its last GPU has arrived. A group may be wider
  // than the collective, whose members are then spread over it. They still meet as a whole group,
  // because the collective before or after it joins the whole group.
  void meet(std::size_t task) {
    const std::size_t ranks = ranks_of(task);
    const std::size_t first = gpu_of(task) / ranks * ranks;
    std::size_t& came = arrived_[first * plans_.size() + op_of(task)];
    if (++came < ranks) return;
    for (std::size_t gpu = first; gpu < first + ranks; ++gpu)
      begin(gpu * plans_.size() + op_of(task));
  }

  void begin(std::size_t task) {
    timings_[task].start = engine_.now();
    engine_.schedule(engine_.now() + plan_of(task).setup, *this, kKinds * task + kSetupOver);
  }

  // The bytes at flow and analytic level are one part; each device at packet level is another.
  void begin_moving(std::size_t task) {
    timings_[task].flow = engine_.now();
    const OpPlan& plan = plan_of(task);
    parts_[task] = 1;
    if (!plan.packets.empty())
      parts_[task] += packets_.start(plan, gpu_of(task), *this, kKinds * task + kPartDone);
    if (plan.packet_collective) {
      ++parts_[task];
      if (gpu_of(task) % ranks_of(task) == 0)  // for all GPUs of the group
        packets_.start_collective(graph_.ops[op_of(task)], gpu_of(task), *this,
                                  kKinds * task + kGroupDone);
    }
    begin_flow(task);
  }

  void begin_flow(std::size_t task) {
    const OpPlan& plan = plan_of(task);
    const std::uint64_t done = kKinds * task + kPartDone;
    if (plan.charges.empty()) {  // arithmetic only
      engine_.schedule(engine_.now() + plan.min_duration, *this, done);
      return;
    }
    // Flows share equally in the bytes of their own widest channel: ports arbitrate by packet and
    // flit, so that scattered writes of little payload cannot crowd out a stream. The SM share of a
    // gather is not counted, since it is no bytes on a port.
    Bytes widest = Bytes::from_base(1);
    Duration least = plan.min_duration;
    hops_.clear();
    for (const auto& [channel, busy] : plan.charges) {
      Instances& instances = channels_[channel.index()];
      const std::size_t instance = gpu_of(task) / instances.sharers;
      if (instances.links.empty()) {  // packet level: the payload takes its time, even posted
        least = std::max(least, busy / instances.capacity);
        if (instance == 0) instances.taken += busy;
        continue;
      }
      if (plan.exclusive || !instances.sms) widest = std::max(widest, busy);
      hops_.push_back({instances.links[instance], busy});
    }
    if (hops_.empty()) {
      engine_.schedule(engine_.now() + least, *this, done);
      return;
    }
    network_.start({.hops = hops_, .payload = widest, .min_duration = least}, *this, done);
    observe(task);
  }

  void observe(std::size_t task) {
    if (observer_ == nullptr) return;
    for (const ChannelCharge& charge : plan_of(task).charges) {
      const Instances& instances = channels_[charge.channel.index()];
      if (instances.links.empty()) continue;
      const std::size_t instance = gpu_of(task) / instances.sharers;
      observer_->on_taken(charge.channel, instance, engine_.now(),
                          network_.stats(instances.links[instance]).wire_moved);
    }
  }

  void end_of_part(std::size_t task) {
    if (--parts_[task] == 0) finish(task);
  }
  void end_of_group(std::size_t first) {
    for (std::size_t rank = 0; rank < ranks_of(first); ++rank)
      end_of_part(first + rank * plans_.size());
  }

  void finish(std::size_t task) {
    timings_[task].end = engine_.now();
    observe(task);
    ++finished_;
    if (plan_of(task).exclusive) {
      auto& kernels = kernels_of(task);
      TS_INVARIANT(kernels.front() == task, kernels.front(), task);
      kernels.pop_front();
      if (!kernels.empty()) begin(kernels.front());
    }
    const std::size_t first = gpu_of(task) * plans_.size();
    for (const std::size_t next : dependents_[op_of(task)])
      if (--waiting_for_[first + next] == 0) become_ready(first + next);
  }

  const StepGraph& graph_;
  const OpPlans& plans_;
  ChannelObserver* observer_;  // may be none
  Engine engine_;
  FlowNetwork network_;
  std::size_t gpus_;  // simulated GPUs
  PacketHardware packets_;
  std::vector<Instances> channels_;       // by ChannelId
  std::vector<OpTiming> timings_;         // by task
  std::vector<std::size_t> arrived_;      // by task of a group's first GPU: GPUs that have arrived
  std::vector<std::size_t> parts_;        // by task: unfinished parts
  std::vector<std::size_t> waiting_for_;  // by task: dependencies not yet done
  std::vector<std::vector<std::size_t>> dependents_;  // by OpId
  // By GPU and role: kernels in order of readiness; the first one occupies the compute unit.
  std::vector<std::deque<std::size_t>> kernels_;
  std::vector<Hop> hops_;  // scratch
  std::size_t finished_ = 0;
};

}  // namespace

Execution execute(const StepGraph& graph, const System& system, const OpPlans& plans,
                  ChannelObserver* observer) {
  return Executor(graph, system, plans, observer).run();
}

}  // namespace tiersim
