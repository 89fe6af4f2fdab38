#pragma once
// One copy of the model at work: plans an iteration, prepares it on the host, moves blocks, runs it
// on its GPUs, hands out tokens; and again.
//
//   host   iteration + sequences * (sequence), before the GPU begins, or beside it with `overlap`,
//          once a worker is free
//   GPU    max(operations alone on the system, kernels * launch) + decisions * sync, longer where
//          others use the same channels
//   moves  what makes room goes first; what a sequence waits for goes beside. A cache is handed
//          over whole, after the prompt's first token, which is the prefilling replica's
//          (DistServe)
//   exits  in iterations without pieces of prompts; beside those every token passes all layers
#include <cstdint>
#include <functional>
#include <memory>
#include <vector>

#include "sim/core/resource.hpp"
#include "sim/core/semaphore.hpp"
#include "sim/core/trigger.hpp"
#include "sim/serving/hardware.hpp"
#include "sim/serving/iteration_cost.hpp"
#include "sim/serving/kv_layout.hpp"
#include "sim/serving/observer.hpp"
#include "workloads/early_exit/exit_depths.hpp"
#include "workloads/serving/scheduler.hpp"

namespace tiersim {

/// What all replicas of a run share.
struct ServingParts {
  Engine& engine;
  const ServingConfig& config;
  const System& system;  ///< of one replica
  const KvLayout& layout;
  IterationCost& cost;
  ServingHardware& hardware;
  Resource& hosts;
  ServingObserver& observer;
  std::function<void(TierId, std::int64_t bytes)> on_held;  ///< a tier holds so much from now on
  const ExitDepths* depths = nullptr;                       ///< none: nothing leaves early
};

/// Sums over a run, of all replicas.
struct ServingTotals {
  std::vector<std::int64_t> moved_bytes = std::vector<std::int64_t>(kMoveKindNames.size());
  std::vector<std::int64_t> moves = std::vector<std::int64_t>(kMoveKindNames.size());
  std::int64_t most_blocks = 0;  ///< that one request held
  Demand demand;                 ///< of all iterations
  Demand copies;                 ///< of all moves
  /// Bytes of keys and values in each tier now, idle prefixes included, by TierId.
  std::vector<std::int64_t> held;
};

class Replica {
 public:
  /// Told of sequences that have ended, and of those that were prefilled and decode elsewhere.
  struct Sink {
    std::function<void(Sequence&)> ended;
    std::function<void(Sequence&)> prefilled;
    std::function<void(std::int64_t replica, Sequence&)> received;  ///< from that replica
  };

  Replica(ServingParts& parts, std::int64_t index, bool prefills_only, Sink sink,
          ServingTotals& totals);

  /// Runs for ever.
  Process serve();
  void submit(Sequence& sequence);
  /// The cache of a sequence that it prefilled has been handed over.
  void release(Sequence& sequence);

  const Scheduler& scheduler() const { return scheduler_; }
  /// Running and waiting, and the tokens of their inputs and outputs.
  std::int64_t requests() const { return requests_; }
  std::int64_t tokens() const { return tokens_; }

 private:
  Process iterate(Iteration iteration);
  Process prepare(Duration host);
  Process prepare_beside(Duration host, Trigger& prepared);
  Process move(SequenceMove what);
  Process move_beside(SequenceMove what);
  IterationBatch batch_of(const Iteration& iteration) const;
  Duration host_time(const Iteration& iteration) const;
  /// Layers that run, and what the iteration takes; sets `time`.
  const Demand& demand_of(const Iteration& iteration, Duration& time, std::int64_t& layers);
  void hand_out(const Iteration& iteration, SimTime begin);
  void wake();
  void count_held();
  Op move_op(const BlockMove& what, Bytes bytes) const;  ///< of one GPU
  Bytes move_bytes(const BlockMove& what) const;
  TierId tier_of(MoveKind kind, std::int64_t level) const;

  ServingParts& parts_;
  std::int64_t index_;
  bool prefills_only_;
  Sink sink_;
  ServingTotals& totals_;
  Scheduler scheduler_;
  Semaphore bell_;
  bool idle_ = false;
  std::int64_t iterations_ = 0;
  std::int64_t requests_ = 0;
  std::int64_t tokens_ = 0;
  std::vector<std::int64_t> depths_;  // scratch
  std::vector<std::int64_t> held_;    // of `totals`, its part
};

/// The room of one replica's sequences.
BlockLimits block_limits(const ServingConfig& config, const System& system, const KvLayout& layout);

}  // namespace tiersim
