#include "tests/support/invariants.hpp"

#include <algorithm>
#include <numeric>

#include <fmt/format.h>

#include "sim/step/time_split.hpp"

namespace tiersim::testing {
namespace {

class Checker {
 public:
  explicit Checker(const Simulation& sim) : sim_(sim) {}

  std::vector<std::string> all() {
    engine_against_bound();
    operations_against_their_plans();
    bytes_against_the_graph();
    channels_against_the_accounting();
    split_against_the_step();
    tiers_against_the_footprint();
    return std::move(broken_);
  }

 private:
  template <class... Values>
  void require(bool holds, fmt::format_string<Values...> text, Values&&... values) {
    if (!holds) broken_.push_back(fmt::format(text, std::forward<Values>(values)...));
  }

  void engine_against_bound() {
    require(sim_.execution.time >= sim_.bound.time, "the engine takes {} ps, the bound {} ps",
            sim_.execution.time.count(), sim_.bound.time.count());
  }

  // No operation beats its uncontended time. One that overlaps no other takes exactly that, to 1
  // ps, apart from the overhead of packets. With several GPUs, operations of the GPUs overlap.
  void operations_against_their_plans() {
    const auto gpus = sim_.system->gpus();
    for (std::int64_t gpu = 0; gpu < gpus; ++gpu) {
      const auto timings = sim_.execution.of_gpu(gpu);
      const std::vector<bool> alone = not_overlapped(timings);
      for (std::size_t op = 0; op < timings.size(); ++op) {
        const Duration least = sim_.plans[op].uncontended(sim_.system->channels());
        const Duration took = timings[op].end - timings[op].start;
        require(took >= least, "{} takes {} ps, alone {}", describe_op(sim_.graph.ops[op]),
                took.count(), least.count());
        const bool packets = !sim_.plans[op].packets.empty() || sim_.plans[op].packet_collective;
        if (gpus == 1 && alone[op] && !packets)
          require(took <= least + Duration(1), "{} is alone and takes {} ps, not {}",
                  describe_op(sim_.graph.ops[op]), took.count(), least.count());
      }
    }
  }

  static std::vector<bool> not_overlapped(std::span<const OpTiming> timings) {
    std::vector<std::size_t> order(timings.size());
    std::iota(order.begin(), order.end(), std::size_t{0});
    std::ranges::stable_sort(order, {}, [&](std::size_t op) { return timings[op].flow; });
    std::vector<bool> alone(timings.size(), true);
    SimTime latest{};
    std::size_t which = 0;
    for (std::size_t i = 0; i < order.size(); ++i) {
      const OpTiming& timing = timings[order[i]];
      if (i > 0 && timing.flow < latest) alone[order[i]] = alone[which] = false;
      if (i == 0 || timing.end > latest) {
        latest = timing.end;
        which = order[i];
      }
    }
    return alone;
  }

  void bytes_against_the_graph() {
    for (std::size_t t = 0; t < sim_.graph.tier_names.size(); ++t) {
      Bytes read;
      Bytes written;
      for (const Op& op : sim_.graph.ops)
        for (const Access& access : op.accesses)
          if (access.tier == TierId(t))
            (access.direction == Direction::read ? read : written) += access.payload;
      const DeviceSum& device = sim_.accounting.traffic[sim_.system->device(TierId(t)).index()];
      require(total(device.read.payload) == read && total(device.write.payload) == written,
              "tier {} sees other bytes than the graph asks for", sim_.graph.tier_names[t]);
    }
    for (std::size_t d = 0; d < sim_.accounting.traffic.size(); ++d) {
      const auto& [read, write] = sim_.accounting.traffic[d];
      require(
          total(read.moved) >= total(read.payload) && total(write.moved) >= total(write.payload),
          "{} moves less than its payload", sim_.system->device_names()[d]);
    }
  }

  void channels_against_the_accounting() {
    for (std::size_t c = 0; c < sim_.execution.busy.size(); ++c) {
      const SystemChannel& channel = sim_.system->channels()[c];
      const Bytes expected = sim_.accounting.busy[c] * channel.sharers;
      require(sim_.execution.busy[c] == expected, "{} counts {} B, the accounting {} B",
              channel.name, sim_.execution.busy[c].in_base(), expected.in_base());
      if (channel.level == Level::flow)
        require(expected / channel.capacity <= sim_.execution.time,
                "{} is busier than its capacity", channel.name);
    }
  }

  void split_against_the_step() {
    const auto timings = sim_.execution.of_gpu(0);
    const TimeSplit split = split_time(sim_.graph, *sim_.system, sim_.plans, timings);
    SimTime end{};
    for (const OpTiming& timing : timings) end = std::max(end, timing.end);
    const Duration sum = std::accumulate(split.begin(), split.end(), Duration{});
    require(sum == end.time_since_epoch(), "the parts of the time sum to {} ps of {}", sum.count(),
            end.time_since_epoch().count());
  }

  void tiers_against_the_footprint() {
    for (std::size_t t = 0; t < sim_.accounting.footprint.size(); ++t)
      require(total(sim_.accounting.footprint[t]) <= sim_.system->capacity(TierId(t)),
              "tier {} holds more than fits", sim_.graph.tier_names[t]);
  }

  const Simulation& sim_;
  std::vector<std::string> broken_;
};

}  // namespace

std::vector<std::string> broken_invariants(const Simulation& sim) {
  return Checker(sim).all();
}

}  // namespace tiersim::testing
