#include "sim/run/executor.hpp"

#include <algorithm>
#include <cstdint>
#include <deque>

#include "sim/core/engine.hpp"
#include "sim/core/flow_network.hpp"

namespace tiersim {
namespace {

class Executor final : public EventHandler {
 public:
  Executor(const StepGraph& graph, const System& system, const std::vector<OpPlan>& plans)
      : plans_(plans), network_(engine_) {
    for (const SystemChannel& channel : system.channels())
      links_.push_back(network_.add_link(channel.name, channel.capacity));
    timings_.resize(graph.ops.size());
    waiting_for_.resize(graph.ops.size());
    dependents_.resize(graph.ops.size());
    for (std::size_t op = 0; op < graph.ops.size(); ++op) {
      waiting_for_[op] = graph.ops[op].after.size();
      for (const OpId before : graph.ops[op].after) dependents_[before.index()].push_back(op);
    }
  }

  Execution run() {
    for (std::size_t op = 0; op < timings_.size(); ++op)
      if (waiting_for_[op] == 0) become_ready(op);
    engine_.run();
    TS_ENSURES(finished_ == timings_.size(), finished_, timings_.size());
    Execution out;
    for (const OpTiming& timing : timings_)
      out.time = std::max(out.time, timing.end.time_since_epoch());
    out.timings = std::move(timings_);
    for (const LinkId link : links_) {
      const LinkStats stats = network_.stats(link);
      out.busy.push_back(stats.wire_moved);
      out.busy_time.push_back(stats.busy);
    }
    return out;
  }

  // An event's payload is the operation and what happens to it.
  void on_event(Engine&, std::uint64_t payload) override {
    const std::size_t op = payload / 2;
    if (payload % 2 == kSetupOver) {
      begin_flow(op);
    } else {
      finish(op);
    }
  }

 private:
  static constexpr std::uint64_t kSetupOver = 0;
  static constexpr std::uint64_t kDone = 1;

  void become_ready(std::size_t op) {
    timings_[op].ready = engine_.now();
    if (!plans_[op].exclusive) return begin(op);
    kernels_.push_back(op);
    if (kernels_.size() == 1) begin(op);  // the front one is running
  }

  void begin(std::size_t op) {
    timings_[op].start = engine_.now();
    engine_.schedule(engine_.now() + plans_[op].setup, *this, 2 * op + kSetupOver);
  }

  void begin_flow(std::size_t op) {
    timings_[op].flow = engine_.now();
    const OpPlan& plan = plans_[op];
    if (plan.payload == Bytes{}) {  // arithmetic only
      engine_.schedule(engine_.now() + plan.min_duration, *this, 2 * op + kDone);
      return;
    }
    // Shares are equal in the bytes of each flow's own widest channel: ports arbitrate by packet
    // and flit, so that scattered writes of little payload cannot crowd out a stream.
    Bytes widest = Bytes::from_base(1);
    hops_.clear();
    for (const auto& [channel, busy] : plan.charges) widest = std::max(widest, busy);
    for (const auto& [channel, busy] : plan.charges)
      hops_.push_back({links_[channel.index()], busy});
    network_.start({.hops = hops_, .payload = widest, .min_duration = plan.min_duration}, *this,
                   2 * op + kDone);
  }

  void finish(std::size_t op) {
    timings_[op].end = engine_.now();
    ++finished_;
    if (plans_[op].exclusive) {
      TS_INVARIANT(kernels_.front() == op, kernels_.front(), op);
      kernels_.pop_front();
      if (!kernels_.empty()) begin(kernels_.front());
    }
    for (const std::size_t next : dependents_[op])
      if (--waiting_for_[next] == 0) become_ready(next);
  }

  const std::vector<OpPlan>& plans_;
  Engine engine_;
  FlowNetwork network_;
  std::vector<LinkId> links_;             // by ChannelId
  std::vector<OpTiming> timings_;         // by OpId, like the rest
  std::vector<std::size_t> waiting_for_;  // dependencies not yet done
  std::vector<std::vector<std::size_t>> dependents_;
  std::deque<std::size_t> kernels_;  // in order of readiness; the front one has the compute unit
  std::vector<Hop> hops_;            // scratch
  std::size_t finished_ = 0;
};

}  // namespace

Execution execute(const StepGraph& graph, const System& system, const std::vector<OpPlan>& plans) {
  return Executor(graph, system, plans).run();
}

}  // namespace tiersim
