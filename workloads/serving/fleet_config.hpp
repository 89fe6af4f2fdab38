#pragma once
// Replicas that do not all serve all the time: some fail and come back, some are slower than the
// others, some are started and stopped as the load asks for, and some stop to move experts.
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "sim/base/number_class.hpp"
#include "sim/base/units.hpp"
#include "sim/config/fields.hpp"

namespace tiersim {

/// Replicas fail independently of each other, after exponentially distributed times in service.
/// A failed replica loses its cache; its requests begin again on others, with the tokens that they
/// have given so far as a part of their prompts.
struct FailuresConfig {
  Sourced<Duration> mean_time_between;  ///< of a replica's service: from its start to its failure
  Sourced<Duration> repair;             ///< from then until it serves again
};
void describe(Fields& f, FailuresConfig& c);

/// Replicas whose GPUs take longer for every iteration; the CPU's part takes the same time.
struct StragglersConfig {
  std::vector<std::int64_t> replicas;  ///< by number
  Sourced<double> slowdown;            ///< the GPU's time for an iteration over that of the others
};
void describe(Fields& f, StragglersConfig& c);

/// The number of replicas follows the requests at the server, as the Horizontal Pod Autoscaler of
/// Kubernetes does for a target of an average: requests / `requests_per_replica`, rounded up. Its
/// tolerance of a tenth is left out. A replica that is no longer wanted takes no new requests, and
/// stops after its last one.
struct ScalingConfig {
  std::int64_t min_replicas = 1;          ///< that always serve; at most all of the system
  std::int64_t requests_per_replica = 1;  ///< running and waiting
  Duration interval{};                    ///< between two looks at the requests
  /// The number falls to the largest that was wanted in this time (stabilizationWindowSeconds).
  Duration stabilization{};
  Sourced<Duration> start;  ///< until a replica serves, beside the loading of its weights
  /// Tier that the weights are loaded from, over its path and beside all other traffic; none: the
  /// time is part of `start`.
  std::optional<std::string> weights_from = {};
};
void describe(Fields& f, ScalingConfig& c);

/// Experts are placed anew by how popular they were: a replica stops after so many iterations until
/// they have moved. Only the time is modelled. How even the load is, is `step.expert_load` with its
/// drift, and no longer period makes it worse; the bytes that move take no energy.
struct ExpertRebalanceConfig {
  std::int64_t iterations = 1000;  ///< of a replica, from one move to the next
  Sourced<Duration> pause;         ///< in which its GPUs do nothing else; 0: beside the iterations
};
void describe(Fields& f, ExpertRebalanceConfig& c);

}  // namespace tiersim
