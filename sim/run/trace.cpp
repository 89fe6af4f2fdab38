#include "sim/run/trace.hpp"

#include <algorithm>
#include <array>
#include <numeric>
#include <vector>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

namespace tiersim {
namespace {

// Exact: 1 us is 10^6 ps.
std::string microseconds(Duration time) {
  constexpr std::int64_t kPicosecondsPerMicrosecond = 1'000'000;
  return fmt::format("{}.{:06}", time.count() / kPicosecondsPerMicrosecond,
                     time.count() % kPicosecondsPerMicrosecond);
}

std::string json_text(const std::string& text) {
  return nlohmann::json(text).dump();
}

/// What an operation's track shows: 0 kernels, then one for each phase of transfers.
std::size_t group_of(const Op& op) {
  return op.kind == OpKind::compute ? 0 : 1 + static_cast<std::size_t>(op.phase);
}
constexpr std::size_t kGroups = 1 + kPhaseNames.size();

/// Operations by a time of theirs, then by id.
std::vector<std::size_t> in_order(std::span<const OpTiming> timings, SimTime OpTiming::*time) {
  std::vector<std::size_t> order(timings.size());
  std::iota(order.begin(), order.end(), std::size_t{0});
  std::ranges::stable_sort(order, {}, [&](std::size_t op) { return timings[op].*time; });
  return order;
}

/// Lanes in which no two spans overlap: each operation has the first of its group that is free.
struct Lanes {
  std::vector<std::size_t> lane;            ///< by OpId
  std::array<std::size_t, kGroups> used{};  ///< by group

  Lanes(const StepGraph& graph, std::span<const OpTiming> timings) : lane(timings.size()) {
    std::array<std::vector<SimTime>, kGroups> free_from;
    for (const std::size_t op : in_order(timings, &OpTiming::start)) {
      std::vector<SimTime>& ends = free_from[group_of(graph.ops[op])];
      const auto free =
          std::ranges::find_if(ends, [&](const SimTime& end) { return end <= timings[op].start; });
      lane[op] = static_cast<std::size_t>(free - ends.begin());
      if (free == ends.end()) ends.emplace_back();
      ends[lane[op]] = timings[op].end;
    }
    for (std::size_t group = 0; group < kGroups; ++group) used[group] = free_from[group].size();
  }

  /// Track number: groups in order, then their lanes.
  std::size_t track(std::size_t group, std::size_t lane_of_group) const {
    std::size_t before = 0;
    for (std::size_t g = 0; g < group; ++g) before += used[g];
    return before + lane_of_group;
  }
};

/// One GPU of one simulation.
class Writer {
 public:
  Writer(const Simulation& sim, std::int64_t gpu, int process, std::vector<std::string>& events)
      : sim_(sim),
        gpu_(gpu),
        process_(process),
        timings_(sim.execution.of_gpu(gpu, sim.system->gpus())),
        lanes_(sim.graph, timings_),
        events_(events) {}

  void write() {
    names();
    spans();
    counters();
  }

 private:
  void names() {
    const bool several = sim_.system->gpus() > 1;
    const std::string gpu = several ? fmt::format(", GPU {}", gpu_) : "";
    events_.push_back(
        fmt::format(R"({{"ph": "M", "pid": {}, "name": "process_name", "args": {{"name": {}}}}})",
                    process_, json_text(sim_.record.name + gpu)));
    for (std::size_t group = 0; group < kGroups; ++group)
      for (std::size_t lane = 0; lane < lanes_.used[group]; ++lane) {
        std::string label =
            group == 0 ? "kernels" : fmt::format("transfer: {}", kPhaseNames[group - 1]);
        if (lane > 0) label += fmt::format(" ({})", lane + 1);
        events_.push_back(fmt::format(
            R"({{"ph": "M", "pid": {}, "tid": {}, "name": "thread_name", "args": {{"name": {}}}}})",
            process_, lanes_.track(group, lane), json_text(label)));
      }
  }

  void spans() {
    for (std::size_t i = 0; i < sim_.graph.ops.size(); ++i) {
      const Op& op = sim_.graph.ops[i];
      const OpTiming& timing = timings_[i];
      events_.push_back(fmt::format(
          R"({{"ph": "X", "pid": {}, "tid": {}, "ts": {}, "dur": {}, "name": {}, "args": {{"payload_bytes": {}, "flops": {}, "waited_us": {}}}}})",
          process_, lanes_.track(group_of(op), lanes_.lane[i]),
          microseconds(timing.start.time_since_epoch()), microseconds(timing.end - timing.start),
          json_text(describe_op(op)), sim_.plans[i].payload.in_base(), op.flops.in_base(),
          microseconds(timing.start - timing.ready)));
    }
  }

  // An operation's bytes are counted when it ends.
  void counters() {
    std::vector<ReadWrite> sums(sim_.system->device_names().size());
    for (std::size_t d = 0; d < sums.size(); ++d) counter(d, Duration{}, sums[d]);
    for (const std::size_t op : in_order(timings_, &OpTiming::end)) {
      for (const DeviceTraffic& part : sim_.plans[op].traffic) {
        ReadWrite& sum = sums[part.device.index()];
        (part.direction == Direction::read ? sum.read : sum.write) += part.payload.in_base();
      }
      for (const DeviceTraffic& part : sim_.plans[op].traffic)
        counter(part.device.index(), timings_[op].end.time_since_epoch(),
                sums[part.device.index()]);
    }
  }

  void counter(std::size_t device, Duration time, const ReadWrite& sum) {
    events_.push_back(fmt::format(
        R"({{"ph": "C", "pid": {}, "ts": {}, "name": {}, "args": {{"read": {}, "write": {}}}}})",
        process_, microseconds(time), json_text(sim_.system->device_names()[device] + " bytes"),
        sum.read, sum.write));
  }

  const Simulation& sim_;
  std::int64_t gpu_;
  int process_;
  std::span<const OpTiming> timings_;
  Lanes lanes_;
  std::vector<std::string>& events_;
};

}  // namespace

std::string to_perfetto_json(std::span<const Simulation> simulations) {
  std::vector<std::string> events;
  int process = 0;
  for (const Simulation& simulation : simulations)
    for (std::int64_t gpu = 0; gpu < simulation.system->gpus(); ++gpu)
      Writer(simulation, gpu, ++process, events).write();
  std::string out = "{\"displayTimeUnit\": \"ns\", \"traceEvents\": [\n";
  for (std::size_t i = 0; i < events.size(); ++i)
    out += events[i] + (i + 1 < events.size() ? ",\n" : "\n");
  return out + "]}\n";
}

}  // namespace tiersim
