#include "sim/trace/step_trace_devices.hpp"

#include <algorithm>
#include <cmath>
#include <map>
#include <vector>

#include <fmt/format.h>

namespace tiersim {
namespace {

constexpr Bytes kLeastWindow = Bytes::from_base(16'384);  // of the channel's capacity

/// The bytes through one instance of a channel over time, with short windows joined.
class Taken final : public ChannelObserver {
 public:
  struct Point {
    SimTime time{};
    Bytes taken{};
  };
  using Key = std::pair<std::size_t, std::size_t>;  // channel, instance

  explicit Taken(const std::vector<SystemChannel>& channels) : channels_(channels) {}

  void on_taken(ChannelId channel, std::size_t instance, SimTime now, Bytes taken) override {
    std::vector<Point>& points = points_[{channel.index(), instance}];
    if (points.empty()) points.emplace_back();
    latest_[{channel.index(), instance}] = {now, taken};
    const Duration least = kLeastWindow / channels_[channel.index()].capacity;
    if (now - points.back().time >= least) points.push_back({now, taken});
  }

  /// From time 0 to the last known time.
  std::vector<Point> of(const Key& key) const {
    const auto found = points_.find(key);
    if (found == points_.end()) return {};
    std::vector<Point> points = found->second;
    const Point& last = latest_.at(key);
    if (points.back().time < last.time) points.push_back(last);
    return points;
  }

 private:
  const std::vector<SystemChannel>& channels_;
  std::map<Key, std::vector<Point>> points_;
  std::map<Key, Point> latest_;
};

class DevicesTrace {
 public:
  DevicesTrace(const Simulation& sim, TraceWriter& writer)
      : sim_(sim),
        writer_(writer),
        gpus_(sim.system->ffn() ? 1 : static_cast<std::size_t>(sim.system->gpus())),
        process_(writer.add_process(sim.record.name + ": devices")),
        taken_(sim.system->channels()) {
    const Execution again = execute(sim.graph, *sim.system, sim.plans, &taken_);
    TS_ENSURES(again.time == sim.execution.time, again.time.count(), sim.execution.time.count());
  }

  void write() {
    std::vector<std::vector<std::size_t>> users(sim_.system->channels().size());
    for (std::size_t op = 0; op < sim_.plans.size(); ++op)
      for (const ChannelCharge& charge : sim_.plans[op].charges)
        if (charge.busy > Bytes{}) users[charge.channel.index()].push_back(op);
    for (std::size_t c = 0; c < users.size(); ++c) {
      if (users[c].empty()) continue;
      const auto sharers = static_cast<std::size_t>(sim_.system->channels()[c].sharers);
      for (std::size_t i = 0; i < gpus_ / sharers; ++i) write(c, i, sharers, users[c]);
    }
  }

 private:
  struct Use {  // of an instance, by one operation on one GPU
    const OpTiming* timing = nullptr;
    std::size_t op = 0;
    std::size_t gpu = 0;
  };

  void write(std::size_t channel, std::size_t instance, std::size_t sharers,
             const std::vector<std::size_t>& users) {
    std::vector<Use> uses;
    for (std::size_t gpu = instance * sharers; gpu < (instance + 1) * sharers; ++gpu) {
      const auto timings = sim_.execution.of_gpu(static_cast<std::int64_t>(gpu));
      for (const std::size_t op : users) uses.push_back({&timings[op], op, gpu});
    }
    std::ranges::stable_sort(uses, {}, [](const Use& use) { return use.timing->flow; });
    const std::string name = instance_name(channel, instance, sharers);
    slices(channel, name, uses);
    count_operations(name, uses);
    count_utilisation(channel, instance, name);
  }

  std::string instance_name(std::size_t channel, std::size_t instance, std::size_t sharers) const {
    const std::string& name = sim_.system->channels()[channel].name;
    if (gpus_ == sharers) return name;
    if (sharers == 1) return fmt::format("{}, GPU {}", name, instance);
    return fmt::format("{}, GPUs {}-{}", name, instance * sharers, (instance + 1) * sharers - 1);
  }

  void slices(std::size_t channel, const std::string& name, const std::vector<Use>& uses) {
    TraceLanes lanes(writer_, process_, name);
    for (const Use& use : uses) {
      const auto charge = std::ranges::find(sim_.plans[use.op].charges, ChannelId(channel),
                                            &ChannelCharge::channel);
      const TraceTrack track = lanes.take(use.timing->flow, use.timing->end);
      writer_.slice(track, "device", describe_op(sim_.graph.ops[use.op]), use.timing->flow,
                    use.timing->end,
                    {{"op", static_cast<std::int64_t>(use.op)},
                     {"gpu", static_cast<std::int64_t>(use.gpu)},
                     {"channel_bytes", charge->busy.in_base()}});
    }
  }

  // Waiting while it is ready but behind a kernel, waits for other GPUs or is in its setup; then
  // moving.
  void count_operations(const std::string& name, const std::vector<Use>& uses) {
    struct Change {
      std::int64_t waiting = 0;
      std::int64_t moving = 0;
    };
    std::map<SimTime, Change> changes{{SimTime{}, {}}};
    for (const Use& use : uses) {
      ++changes[use.timing->ready].waiting;
      Change& begins = changes[use.timing->flow];
      --begins.waiting;
      ++begins.moving;
      --changes[use.timing->end].moving;
    }
    Change now;
    for (const auto& [time, change] : changes) {
      now.waiting += change.waiting;
      now.moving += change.moving;
      writer_.counter(process_, name + " operations", time,
                      {{"waiting", now.waiting}, {"moving", now.moving}});
    }
  }

  // Each value holds until the next one. GPUs that do the same have the values of the first one.
  void count_utilisation(std::size_t channel, std::size_t instance, const std::string& name) {
    std::vector<Taken::Point> points = taken_.of({channel, instance});
    if (points.empty()) points = taken_.of({channel, 0});
    if (points.empty()) return;
    const Bandwidth capacity = sim_.system->channels()[channel].capacity;
    double last = -1;
    const auto show = [&](SimTime from, double value) {
      if (value != last) writer_.counter(process_, name, from, {{"utilisation", value}});
      last = value;
    };
    for (std::size_t i = 0; i + 1 < points.size(); ++i)
      show(points[i].time, trace_utilisation(points[i + 1].taken - points[i].taken, capacity,
                                             points[i + 1].time - points[i].time));
    show(points.back().time, 0);
  }

  const Simulation& sim_;
  TraceWriter& writer_;
  std::size_t gpus_;
  int process_;
  Taken taken_;
};

}  // namespace

double trace_utilisation(Bytes taken, Bandwidth capacity, Duration window) {
  if (window == Duration{}) return 0;
  const double share = to_seconds(taken / capacity) / to_seconds(window);
  return std::min(1.0, std::round(share * 1000) / 1000);
}

void trace_devices(const Simulation& sim, TraceWriter& writer) {
  DevicesTrace(sim, writer).write();
}

}  // namespace tiersim
