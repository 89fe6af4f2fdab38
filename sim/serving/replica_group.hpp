#pragma once
// Replicas that share an event engine: all of a server, or one that shares nothing with the others.
#include <functional>
#include <vector>

#include "sim/serving/server.hpp"
#include "sim/serving/statistics.hpp"

namespace tiersim {

/// A server as it was built, before anything happens. It is only read, also by several threads.
struct BuiltServer {
  const ServingConfig& config;
  const System& all;  ///< with the devices of every replica
  const System& one;  ///< of one stage of a replica
  const KvLayout& layout;
  const std::vector<std::size_t>& place;  ///< of a TierId among the tiers that are observed
  const ExitDepths* depths = nullptr;     ///< none: no early exit
  std::int64_t replicas = 1;
};

/// What a run leaves besides its statistics.
struct ServedTotals {
  ServingTotals totals;
  std::vector<Bytes> taken;             ///< through each channel, over all instances
  std::vector<std::int64_t> instances;  ///< of each channel
  SimTime end{};                        ///< time of the last event

  void add(const ServedTotals& other);  ///< of other replicas
};

class ReplicaGroup {
 public:
  /// `observer` passes everything on to `statistics`, or is it. `cost` is used by one thread at a
  /// time. All must outlive the group.
  ReplicaGroup(const BuiltServer& built, GroupRange replicas, IterationCost& cost,
               RequestSource& source, ServingStatistics& statistics, ServingObserver& observer);

  ~ReplicaGroup() { engine_.end_processes(); }
  ReplicaGroup(const ReplicaGroup&) = delete;
  ReplicaGroup& operator=(const ReplicaGroup&) = delete;

  Engine& engine() { return engine_; }
  ServingHardware& hardware() { return hardware_; }
  Server& server() { return server_; }
  /// Serves all that is left.
  Expected<ServedTotals> finish();

 private:
  Engine engine_;
  ServingHardware hardware_;
  Resource hosts_;
  ServingParts parts_;
  Server server_;
};

}  // namespace tiersim
