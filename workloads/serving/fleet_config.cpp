#include "workloads/serving/fleet_config.hpp"

#include <chrono>

#include "sim/config/limits.hpp"

namespace tiersim {
namespace {

constexpr Duration kDay = std::chrono::hours(24);
constexpr Duration kHour = std::chrono::hours(1);

}  // namespace

void describe(Fields& f, FailuresConfig& c) {
  f.doc("Replicas that fail and come back; their requests begin again on others.");
  f.required("mean_time_between", c.mean_time_between,
             "Mean time for which a replica serves until it fails, exponentially distributed.",
             in_range(std::chrono::milliseconds(1), 90 * kDay));
  f.required("repair", c.repair, "Time until it serves again.", in_range(Duration{}, kDay));
}

void describe(Fields& f, StragglersConfig& c) {
  f.doc("Replicas that are slower than the others.");
  f.required("replicas", c.replicas, "Their numbers, from 0.");
  f.required("slowdown", c.slowdown,
             "The GPU's time for an iteration over that on another replica.", in_range(1.0, 100.0));
}

void describe(Fields& f, ScalingConfig& c) {
  f.doc("Replicas that are started and stopped, so that their number follows the requests.");
  f.optional("min_replicas", c.min_replicas, "That always serve.", in_range(1, 16'384));
  f.required("requests_per_replica", c.requests_per_replica,
             "Running and waiting requests that a replica is wanted for.", in_range(1, 1'000'000));
  f.required("interval", c.interval, "Between two looks at the requests.",
             in_range(std::chrono::milliseconds(1), kHour));
  f.required("stabilization", c.stabilization,
             "The number falls to the largest that was wanted in this time.",
             in_range(Duration{}, kDay));
  f.required("start", c.start,
             "Time until a replica serves, beside the loading of its weights: a process, captured "
             "graphs.",
             in_range(Duration{}, kDay));
  f.optional("weights_from", c.weights_from,
             "Tier that the weights are loaded from; by default their time is part of `start`.");
}

void describe(Fields& f, ExpertRebalanceConfig& c) {
  f.doc(
      "Time that a replica stops for, while its experts are placed anew. Its load does not "
      "change.");
  f.required("iterations", c.iterations, "Of a replica from one move to the next.",
             in_range(1, 100'000'000));
  f.required("pause", c.pause, "For which its GPUs do nothing else.", in_range(Duration{}, kHour));
}

}  // namespace tiersim
