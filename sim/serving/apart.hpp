#pragma once
// Replicas one beside the other, on several threads, where nothing that one does is felt by
// another: each has an event engine, and the requests that the router gives it are known
// beforehand.
//
//   router     round_robin; the others ask how full the replicas are at that instant
//   requests   known from the start: no closed loop, no limit of requests in flight
//   tiers      none that all replicas share
//   devices    no channel at flow or packet level that two replicas use, no hand-over between them
//   host       no limit of replicas that it serves at a time
//
// Requests are drawn and given out in lots. A lot is simulated up to the arrival of the next one,
// and the changes of levels over all replicas are merged in order of time. Sums are of whole
// numbers, and order within an instant has no effect on them (statistics.hpp), so that neither the
// number of threads nor the size of the lots has any.
#include <optional>

#include "sim/serving/replica_group.hpp"

namespace tiersim {

/// True where the configuration lets replicas be simulated apart, as far as devices do.
bool may_be_apart(const ServingConfig& config);

/// Serves every request of the source on `threads` >= 1 threads. Nothing where two replicas turn
/// out to use the same channel; `statistics` and `source` are then of no use any more. The error is
/// that of Server::finish(). Exceptions of a thread pass through.
Expected<std::optional<ServedTotals>> serve_apart(const BuiltServer& built, RequestSource& source,
                                                  ServingStatistics& statistics, int threads);

}  // namespace tiersim
