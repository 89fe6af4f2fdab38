#include "sim/trace/step_trace_gpu.hpp"

#include <algorithm>
#include <array>
#include <numeric>
#include <optional>
#include <vector>

#include <fmt/format.h>

namespace tiersim {
namespace {

constexpr std::size_t kGroupsOfRole = 1 + kPhaseNames.size();
constexpr std::size_t kGroups = kGpuRoles * kGroupsOfRole;

/// The track group of an operation, for each kind of GPU: that of kernels, then one for each phase
/// of other operations.
std::size_t group_of(const Op& op) {
  return static_cast<std::size_t>(op.role) * kGroupsOfRole +
         (op.kind == OpKind::compute ? 0 : 1 + static_cast<std::size_t>(op.phase));
}

std::string group_name(std::size_t group) {
  const char* whose = group < kGroupsOfRole ? "" : " (GPU with the MLPs)";
  const std::size_t own = group % kGroupsOfRole;
  return (own == 0 ? "kernels" : fmt::format("transfer: {}", kPhaseNames[own - 1])) + whose;
}

/// Operations in the order of one of their times, then by id.
std::vector<std::size_t> in_order(std::span<const OpTiming> timings, SimTime OpTiming::*time) {
  std::vector<std::size_t> order(timings.size());
  std::iota(order.begin(), order.end(), std::size_t{0});
  std::ranges::stable_sort(order, {}, [&](std::size_t op) { return timings[op].*time; });
  return order;
}

class GpuTrace {
 public:
  GpuTrace(const Simulation& sim, std::int64_t gpu, TraceWriter& writer)
      : sim_(sim), writer_(writer), timings_(sim.execution.of_gpu(gpu)) {
    const bool several = sim.system->gpus() > 1;
    process_ = writer.add_process(sim.record.name + (sim.system->ffn() ? ", one GPU of each kind"
                                                     : several ? fmt::format(", GPU {}", gpu)
                                                               : ""));
  }

  void write() {
    choose_tracks();
    for (std::size_t op = 0; op < timings_.size(); ++op) slice(op);
    for (std::size_t op = 0; op < timings_.size(); ++op) arrows(op);
    count_bytes();
    count_waiting();
  }

 private:
  // Groups are in the order of their names, independent of their begin.
  void choose_tracks() {
    std::array<std::optional<TraceLanes>, kGroups> lanes;
    tracks_.resize(timings_.size());
    const std::vector<std::size_t> order = in_order(timings_, &OpTiming::start);
    for (std::size_t group = 0; group < kGroups; ++group)
      for (const std::size_t op : order) {
        if (group_of(sim_.graph.ops[op]) != group) continue;
        if (!lanes[group]) lanes[group].emplace(writer_, process_, group_name(group));
        tracks_[op] = lanes[group]->take(timings_[op].start, timings_[op].end);
      }
  }

  void slice(std::size_t i) {
    const Op& op = sim_.graph.ops[i];
    const OpTiming& timing = timings_[i];
    const std::string_view category = op.kind == OpKind::compute ? "kernel" : "transfer";
    writer_.slice(tracks_[i], category, describe_op(op), timing.start, timing.end,
                  {{"op", static_cast<std::int64_t>(i)},
                   {"payload_bytes", sim_.plans[i].payload.in_base()},
                   {"flops", op.flops.in_base()},
                   {"waited_us", timing.start - timing.ready},
                   {"setup_us", timing.flow - timing.start}});
  }

  // Arrows from its dependencies on other kinds of tracks, where the order is not visible.
  void arrows(std::size_t i) {
    for (const OpId before : sim_.graph.ops[i].after) {
      const std::size_t b = before.index();
      if (group_of(sim_.graph.ops[b]) == group_of(sim_.graph.ops[i])) continue;
      writer_.arrow("dependency", "waits for", tracks_[b], timings_[b].start, tracks_[i],
                    timings_[i].start);
    }
  }

  // An operation's bytes are counted at its end.
  void count_bytes() {
    std::vector<ReadWrite> sums(sim_.system->device_names().size());
    for (std::size_t d = 0; d < sums.size(); ++d) count_device(d, SimTime{}, sums[d]);
    for (const std::size_t op : in_order(timings_, &OpTiming::end)) {
      for (const DeviceTraffic& part : sim_.plans[op].traffic) {
        ReadWrite& sum = sums[part.device.index()];
        (part.direction == Direction::read ? sum.read : sum.write) += part.payload.in_base();
      }
      for (const DeviceTraffic& part : sim_.plans[op].traffic)
        count_device(part.device.index(), timings_[op].end, sums[part.device.index()]);
    }
  }

  void count_device(std::size_t device, SimTime time, const ReadWrite& sum) {
    writer_.counter(process_, sim_.system->device_names()[device] + " bytes", time,
                    {{"read", sum.read}, {"write", sum.write}});
  }

  void count_waiting() {
    std::vector<std::pair<SimTime, std::int64_t>> changes{{SimTime{}, 0}};
    for (std::size_t i = 0; i < timings_.size(); ++i) {
      if (!sim_.plans[i].exclusive || timings_[i].start == timings_[i].ready) continue;
      changes.emplace_back(timings_[i].ready, 1);
      changes.emplace_back(timings_[i].start, -1);
    }
    std::ranges::stable_sort(changes, {}, &std::pair<SimTime, std::int64_t>::first);
    std::int64_t waiting = 0;
    for (std::size_t i = 0; i < changes.size(); ++i) {
      waiting += changes[i].second;
      const bool last = i + 1 == changes.size() || changes[i + 1].first > changes[i].first;
      if (last) writer_.counter(process_, "kernels", changes[i].first, {{"waiting", waiting}});
    }
  }

  const Simulation& sim_;
  TraceWriter& writer_;
  std::span<const OpTiming> timings_;
  int process_ = 0;
  std::vector<TraceTrack> tracks_;  // by OpId
};

}  // namespace

void trace_gpu(const Simulation& sim, std::int64_t gpu, TraceWriter& writer) {
  GpuTrace(sim, gpu, writer).write();
}

}  // namespace tiersim
