#include "sim/run/trace.hpp"

#include <algorithm>
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

std::string quoted(const std::string& text) {
  return nlohmann::json(text).dump();
}

/// Track of an operation: 0 for kernels, then one for each phase of transfers.
int track(const Op& op) {
  return op.kind == OpKind::compute ? 0 : 1 + static_cast<int>(op.phase);
}

class Writer {
 public:
  Writer(const Simulation& sim, int process, std::vector<std::string>& events)
      : sim_(sim), process_(process), events_(events) {}

  void write() {
    names();
    spans();
    counters();
  }

 private:
  void names() {
    events_.push_back(
        fmt::format(R"({{"ph": "M", "pid": {}, "name": "process_name", "args": {{"name": {}}}}})",
                    process_, quoted(sim_.record.name)));
    std::vector<bool> seen(1 + kPhaseNames.size());
    for (const Op& op : sim_.graph.ops) {
      const int id = track(op);
      if (seen[static_cast<std::size_t>(id)]) continue;
      seen[static_cast<std::size_t>(id)] = true;
      const std::string label = id == 0 ? "kernels" : fmt::format("transfer: {}", name(op.phase));
      events_.push_back(fmt::format(
          R"({{"ph": "M", "pid": {}, "tid": {}, "name": "thread_name", "args": {{"name": {}}}}})",
          process_, id, quoted(label)));
    }
  }

  void spans() {
    for (std::size_t i = 0; i < sim_.graph.ops.size(); ++i) {
      const Op& op = sim_.graph.ops[i];
      const OpTiming& timing = sim_.execution.timings[i];
      events_.push_back(fmt::format(
          R"({{"ph": "X", "pid": {}, "tid": {}, "ts": {}, "dur": {}, "name": {}, "args": {{"payload_bytes": {}, "flops": {}, "waited_us": {}}}}})",
          process_, track(op), microseconds(timing.start.time_since_epoch()),
          microseconds(timing.end - timing.start), quoted(describe_op(op)),
          sim_.plans[i].payload.in_base(), op.flops.in_base(),
          microseconds(timing.start - timing.ready)));
    }
  }

  // An operation's bytes are counted when it ends.
  void counters() {
    std::vector<std::size_t> order(sim_.graph.ops.size());
    for (std::size_t i = 0; i < order.size(); ++i) order[i] = i;
    std::ranges::stable_sort(order, {},
                             [&](std::size_t i) { return sim_.execution.timings[i].end; });
    std::vector<ReadWrite> sums(sim_.system->device_names().size());
    for (std::size_t d = 0; d < sums.size(); ++d) counter(d, Duration{}, sums[d]);
    for (const std::size_t op : order) {
      for (const DeviceTraffic& part : sim_.plans[op].traffic) {
        ReadWrite& sum = sums[part.device.index()];
        (part.direction == Direction::read ? sum.read : sum.write) += part.payload.in_base();
      }
      for (const DeviceTraffic& part : sim_.plans[op].traffic)
        counter(part.device.index(), sim_.execution.timings[op].end.time_since_epoch(),
                sums[part.device.index()]);
    }
  }

  void counter(std::size_t device, Duration time, const ReadWrite& sum) {
    events_.push_back(fmt::format(
        R"({{"ph": "C", "pid": {}, "ts": {}, "name": {}, "args": {{"read": {}, "write": {}}}}})",
        process_, microseconds(time), quoted(sim_.system->device_names()[device] + " bytes"),
        sum.read, sum.write));
  }

  const Simulation& sim_;
  int process_;
  std::vector<std::string>& events_;
};

}  // namespace

std::string to_perfetto_json(std::span<const Simulation> simulations) {
  std::vector<std::string> events;
  int process = 0;
  for (const Simulation& simulation : simulations) Writer(simulation, ++process, events).write();
  std::string out = "{\"displayTimeUnit\": \"ns\", \"traceEvents\": [\n";
  for (std::size_t i = 0; i < events.size(); ++i)
    out += events[i] + (i + 1 < events.size() ? ",\n" : "\n");
  return out + "]}\n";
}

}  // namespace tiersim
