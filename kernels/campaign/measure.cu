#include "kernels/campaign/measure.hpp"

#include <algorithm>
#include <chrono>
#include <functional>
#include <numeric>

#include "kernels/campaign/flush.cuh"
#include "kernels/runtime/graph.cuh"
#include "kernels/runtime/timer.cuh"

namespace tiersim::kernels::bench {
namespace {

constexpr double kReplayGuess = 20e-6;  // s: launch of a graph, two events, the wait
constexpr double kSlowNode = 1e-2;      // s: the extra cost of a first launch is negligible
constexpr int kAttempts = 3;            // repeats where the slope is not above zero

double seconds_since(std::chrono::steady_clock::time_point begin) {
  return std::chrono::duration<double>(std::chrono::steady_clock::now() - begin).count();
}

// Replays `nodes` launches from one position of the rotation on.
using Replay = std::function<void(Stream&)>;

// Replays of one node count, one for each position where a rotation of `sets` can begin.
std::vector<Replay> replays_of(const CaseEntry& entry, Case& work, int nodes, int sets) {
  std::vector<Replay> replays;
  for (int start = 0; start < sets; start += nodes) {
    const auto record = [&work, start, nodes, sets](Stream& stream) {
      for (int node = 0; node < nodes; ++node) work.enqueue(stream, (start + node) % sets);
    };
    if (entry.graph) {
      auto graph = std::make_shared<Graph>(record);
      replays.emplace_back([graph](Stream& stream) { graph->replay(stream); });
    } else {
      replays.emplace_back(record);
    }
  }
  return replays;
}

double timed_ns(Stream& stream, Timer& timer, const Replay& replay) {
  timer.start(stream);
  replay(stream);
  timer.stop(stream);
  return timer.nanoseconds();
}

// Estimated time of one node: the first launch where it is slow, else the least of a few after one
// that loads the modules.
double guess_node_s(Case& work, Stream& stream) {
  Timer timer;
  const Replay once = [&work](Stream& s) { work.enqueue(s, 0); };
  double least = timed_ns(stream, timer, once);
  if (least > kSlowNode * 1e9) return least * 1e-9;
  least = timed_ns(stream, timer, once);
  for (int more = 0; more < 2 && least < kSlowNode * 1e9; ++more) {
    least = std::min(least, timed_ns(stream, timer, once));
  }
  return least * 1e-9;
}

std::vector<Point> sample(const SamplePlan& plan, const std::vector<std::vector<Replay>>& replays,
                          L2Flush* flush, Stream& stream, std::uint64_t seed) {
  std::vector<Point> points;
  for (const int nodes : plan.nodes) points.push_back({nodes, {}});
  Timer timer;
  for (int round = 0; round < plan.rounds; ++round) {
    const auto order =
        shuffled(static_cast<int>(points.size()), seed + static_cast<std::uint64_t>(round));
    for (const int which : order) {
      const auto& same = replays[static_cast<std::size_t>(which)];
      if (flush != nullptr) {
        flush->enqueue(stream);
        stream.synchronize();
      }
      points[static_cast<std::size_t>(which)].ns.push_back(
          timed_ns(stream, timer, same[static_cast<std::size_t>(round) % same.size()]));
    }
  }
  return points;
}

bool slopes_up(const std::vector<Point>& points) {
  std::vector<double> slopes;
  for (const Line& line : round_lines(points)) slopes.push_back(line.slope);
  return percentile(slopes, 0.5) > 0;
}

}  // namespace

Timing measure(const CaseEntry& entry, const DeviceInfo& device, const MeasureOptions& options) {
  const std::unique_ptr<Case> work = entry.make();
  Timing timing;
  timing.name = entry.name;
  timing.info = work->info();
  timing.work = work->work();
  timing.launches = work->launches();
  for (const LaunchUse& launch : timing.launches) {
    timing.occupancies.push_back(occupancy_of(launch));
  }
  timing.warm = options.warm;
  timing.graph = entry.graph;
  timing.process = options.process;
  timing.processes = options.processes;
  timing.seed = options.seed;
  timing.set_bytes = std::max<std::int64_t>(1, work->set_bytes());
  const Rotation rotation = options.warm
                                ? Rotation{}
                                : plan_rotation(touched_bytes(timing.work), timing.set_bytes,
                                                device.l2_bytes, device.memory_bytes);
  timing.rotation_sets = rotation.sets;
  timing.flushed = rotation.flush;
  work->prepare(rotation.sets, static_cast<std::uint64_t>(options.seed));

  Stream stream;
  std::unique_ptr<L2Flush> flush;
  if (rotation.flush) flush = std::make_unique<L2Flush>(device.l2_bytes);
  const double node_s = guess_node_s(*work, stream);
  const double flush_s =
      flush == nullptr ? 0 : kRotationOverL2 * static_cast<double>(device.l2_bytes) / 2e12;
  SampleLimits limits = options.limits;
  // No more nodes than sets, since what a graph uses twice may be in L2 the second time. A slope
  // needs two: the second node of a single set, which is large, finds the end of it there.
  if (rotation.flush) limits.nodes_most = std::clamp(rotation.sets, 2, limits.nodes_most);
  const SamplePlan plan = plan_samples(node_s, kReplayGuess + flush_s, options.budget_s, limits);
  timing.over_budget = plan.over_budget;
  std::vector<std::vector<Replay>> replays;
  for (const int nodes : plan.nodes) {
    replays.push_back(replays_of(entry, *work, nodes, rotation.sets));
  }
  if (node_s < kSlowNode) {  // loads that a first replay needs
    for (const auto& same : replays) {
      for (const Replay& replay : same) replay(stream);
    }
    stream.synchronize();
  }
  timing.before = read_clocks();
  const auto begin = std::chrono::steady_clock::now();
  for (int attempt = 0; attempt < kAttempts; ++attempt) {
    timing.points = sample(plan, replays, flush.get(), stream,
                           static_cast<std::uint64_t>(options.seed + attempt));
    if (slopes_up(timing.points)) break;
  }
  timing.host_ns = seconds_since(begin) * 1e9 / plan.rounds;
  timing.after = read_clocks();
  return timing;
}

}  // namespace tiersim::kernels::bench
