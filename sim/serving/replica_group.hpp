#pragma once
// Replicas that share an event engine: all of a server, or one that shares nothing with the others.
#include <memory>
#include <optional>
#include <span>
#include <vector>

#include "sim/serving/server.hpp"
#include "sim/serving/statistics.hpp"

namespace tiersim {

/// The replicas of a server on one kind of hardware, before anything happens.
struct BuiltPool {
  const ServingConfig& config;  ///< as the pool has it
  const System& all;            ///< with the devices of every replica
  const System& one;            ///< of one stage of a replica
  const KvLayout& layout;
  const std::vector<std::size_t>& place;  ///< of a TierId among the tiers that are observed
  std::int64_t replicas = 1;
  std::size_t first_channel = 0;  ///< of those that are observed
};

/// A server as it was built. It is only read, also by several threads.
struct BuiltServer {
  std::vector<BuiltPool> pools;        ///< one, or that which reads prompts and that which answers
  const ExitDepths* depths = nullptr;  ///< none: no early exit

  const BuiltPool& first() const { return pools.front(); }
};

/// What a run leaves besides its statistics.
struct ServedTotals {
  struct Channels {
    std::vector<Bytes> taken;             ///< through each channel, over all instances
    std::vector<std::int64_t> instances;  ///< of each channel
  };
  ServingTotals totals;
  std::vector<Channels> pools;
  SimTime end{};  ///< time of the last event

  void add(const ServedTotals& other);  ///< of other replicas
};

class ReplicaGroup {
 public:
  /// `costs` has one for each pool, used by one thread at a time. `replicas`: those of a single
  /// pool that are simulated; none: all. `observer` passes everything on to `statistics`, or is it.
  /// All must outlive the group.
  ReplicaGroup(const BuiltServer& built, std::span<IterationCost* const> costs,
               std::optional<GroupRange> replicas, RequestSource& source,
               ServingStatistics& statistics, ServingObserver& observer);

  ~ReplicaGroup() { engine_.end_processes(); }
  ReplicaGroup(const ReplicaGroup&) = delete;
  ReplicaGroup& operator=(const ReplicaGroup&) = delete;

  Engine& engine() { return engine_; }
  ServingHardware& hardware(std::size_t pool = 0) { return *hardware_[pool]; }
  Server& server() { return *server_; }
  /// Serves all that is left.
  Expected<ServedTotals> finish();

 private:
  Engine engine_;
  FlowNetwork network_;
  std::vector<std::unique_ptr<ServingHardware>> hardware_;  // by pool
  std::vector<std::unique_ptr<Resource>> hosts_;            // the same
  std::vector<ServingParts> parts_;                         // the same
  std::optional<Server> server_;
};

}  // namespace tiersim
