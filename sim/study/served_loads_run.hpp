#pragma once
// Simulates the servers, or the decode steps, of a published table of tokens/s by load, in every
// declared cell, and counts the sequences that fit in every declared room. Where the number of
// running sequences is not printed, as many run as there are users, or as fit. A run of a server
// has short answers at the middle of the published ones: with whole answers and a closed loop of
// twice as many users as seats, the shipped files give the same tokens/s to 0.2 % (6 seats of the
// base, 54 offloaded ones).
#include <vector>

#include "reports/papers/reproduce/targets.hpp"
#include "reports/papers/served_loads/served_loads.hpp"
#include "sim/config/document.hpp"
#include "sim/serving/serving_config.hpp"

namespace tiersim {

/// The largest number of sequences of the workload's full length that a replica holds, with the
/// buffers that its method keeps for each; 0 where the weights do not fit.
std::int64_t seats_of(ServingConfig config);

/// `set` of the files lies under the settings of every cell. Throws Failure with the mistakes of a
/// file, or where a server cannot run a load.
ServedLoadResults run_served_loads(const ServedLoadTargets& targets, const LoadOptions& files);

/// One section for each table of `served_loads`.
std::vector<ReportSection> reproduce_served_loads(const Targets& targets, const LoadOptions& files);

}  // namespace tiersim
