#pragma once
// One replica of the model. In a loop it plans an iteration, prepares it on the host, moves blocks,
// runs it on its GPUs, and hands out tokens.
//
//   host   iteration + sequences * (sequence), before the GPU begins, or in parallel with it under
//          `overlap`; starts when a worker is free. Under `overlap` the next iteration is planned
//          when this one begins, so a request that comes later joins the one after the next
//   GPU    max(operations alone on the system, kernels * launch) + (decisions + 1) * sync
//          + sequences * sync_sequence, longer if others use the same channels
//   moves  copies that make room go first, and so do copies of states within the GPU's memory;
//          copies that a sequence waits for run in parallel, and so do those that write prompts
//          through to lower tiers, one at a time for each tier. A cache is handed over whole, after
//          the prompt's first token, which the prefilling replica makes (DistServe), or in parts
//          while the prompt is read (replica_handover.cpp)
//   exits  only in iterations without pieces of prompts; otherwise every token passes all layers
//
// A pipeline has as many iterations in flight as stages. When an iteration ends, the next
// one is planned from the sequences that are not in flight. Iterations pass the stages in the order
// in which they were planned. The GPU's waits for the CPU (`sync`) are at the last stage. A copy
// moves the blocks of all stages at the same time. Copies that make room end before the next
// iteration is planned.
#include <cstdint>
#include <functional>
#include <memory>
#include <vector>

#include "sim/core/engine.hpp"
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

/// The parts that all replicas of a pool share: those on one kind of hardware.
struct ServingParts {
  Engine& engine;
  const ServingConfig& config;  ///< as the pool has it
  const System& system;         ///< of one replica
  const KvLayout& layout;
  IterationCost& cost;
  ServingHardware& hardware;
  Resource& hosts;
  ServingObserver& observer;
  std::function<void(TierId, std::int64_t bytes)> on_held;  ///< present bytes of a tier
  const ExitDepths* depths = nullptr;                       ///< none: no early exit
  GroupRange replicas = {};  ///< those that are simulated, by their numbers in the server
  std::int64_t first = 0;    ///< number of the pool's first replica
  std::size_t pool = 0;      ///< number of the pool
  const ServingParts* sender = nullptr;  ///< the pool that hands over to this one; none: itself
  /// The store of each tier below the pool, nearest first, that all replicas share; null where each
  /// replica has a store of its own.
  std::vector<std::shared_ptr<BlockCache>> shared_tiers = {};

  /// True for a level below the pool (1, 2, ...) that all replicas share.
  bool shares(std::size_t level) const {
    return level <= shared_tiers.size() && shared_tiers[level - 1] != nullptr;
  }
};

/// Sums over a run and the replicas of a pool.
struct PoolTotals {
  Demand demand;  ///< of all iterations
  Demand copies;  ///< of all moves; a hand-over counts where it comes from
  /// Bytes of keys and values in each tier now, with idle prefixes; by TierId.
  std::vector<std::int64_t> held;
  std::vector<std::int64_t> held_shared;  ///< of these, those in tiers that all replicas share
};

/// Sums over a run and all replicas.
struct ServingTotals {
  std::vector<std::int64_t> moved_bytes = std::vector<std::int64_t>(kMoveKindNames.size());
  std::vector<std::int64_t> moves = std::vector<std::int64_t>(kMoveKindNames.size());
  std::int64_t most_blocks = 0;  ///< largest number of blocks held by one request
  std::vector<PoolTotals> pools;
};

class Replica {
 public:
  /// When the layers of a part of a prompt's cache may be sent. The defaults mean now.
  struct PartTiming {
    Duration first_layer{};                       ///< until its first layer is there
    std::shared_ptr<Trigger> computed = nullptr;  ///< fires when all of its layers are
  };
  /// Receives the sequences that have ended, those that were prefilled and decode elsewhere, and
  /// those that a failure has taken from it. `expected` asks another replica to reserve blocks for
  /// a prompt that is read here, and `send` gives it the part of the cache up to a position.
  struct Sink {
    std::function<void(Sequence&)> ended;
    std::function<void(Sequence&)> expected;
    std::function<void(Sequence&, std::int64_t positions, PartTiming)> send;
    std::function<void(Sequence&)> prefilled;
    std::function<void(std::int64_t replica, Sequence&)> received;  ///< from that replica
    std::function<void(Sequence&)> lost;
  };

  Replica(ServingParts& parts, std::int64_t index, bool prefills_only, Sink sink,
          ServingTotals& totals);

  /// Runs until it is cancelled.
  Process serve();
  /// Takes a new request, which its frontend reads before it can be scheduled.
  void receive(Sequence& sequence);
  /// Takes a sequence that another replica has prefilled.
  void submit(Sequence& sequence);
  /// Reserves blocks for a sequence that another replica reads now, if there are any.
  bool expect(Sequence& sequence);
  /// Copies the part of its cache up to this number of positions here, where it is expected.
  void receive_part(Sequence& sequence, std::int64_t positions, PartTiming timing);
  /// Frees a sequence that it prefilled, after the hand-over of its cache.
  void release(Sequence& sequence);

  /// It fails now. What it has is lost, and it gives its sequences away where its iteration would
  /// have ended: so late it is noticed.
  void fail();
  /// It may get requests again.
  void restore();
  /// Copies its weights from a tier into the near one.
  Process load_weights(const std::string& tier);

  const Scheduler& scheduler() const { return scheduler_; }
  /// Number of leading positions of the prompt that its prefix cache has now.
  std::int64_t cached_prefix(const Request& request) {
    return scheduler_now().cached_prefix(request);
  }
  /// Loads what lower tiers have of a prompt that is to come into the pool, if there is room.
  void prefetch(const Request& request);
  /// At the end of a run, when no request comes any more.
  void end_pauses() { scheduler_.end_pauses(); }
  /// Number of running and waiting requests, and of the tokens of their inputs and outputs.
  std::int64_t requests() const { return requests_; }
  std::int64_t tokens() const { return tokens_; }

 private:
  struct StageWork {
    Demand demand;
    Duration time{};  ///< least time on the stage, waits for the CPU included
  };
  /// Each of `parts` copies goes from one stage to another, as the plans of one GPU say.
  struct HandOver {
    std::int64_t parts = 1;
    OpPlan sent;
    OpPlan received;
  };
  Process read(Sequence& sequence, Duration time);
  void count(const Sequence& sequence);
  /// A sequence with nothing computed, of whose prompt lower tiers may have blocks.
  void enqueue_new(Sequence& sequence);
  void enqueue(Sequence& sequence);
  /// Hands the requests that have come to the scheduler. False where there are none.
  bool take_in();
  /// The same where the server looks for requests now (SchedulerConfig::receive_interval).
  void look_for_requests();
  /// The scheduler, at the time of now.
  Scheduler& scheduler_now();
  Iteration plan();
  Process iterate(Iteration iteration);
  /// The same, in the pipeline.
  Process fly(Iteration iteration);
  /// True where experts move before the next iteration.
  bool rebalances_next() const;
  /// The iteration has run: its tokens count.
  void end(const Iteration& iteration, IterationSample& sample);
  /// Runs an iteration on every stage in turn; `prepared` is waited for in the last one, if any.
  Process pass(const std::vector<StageWork>& of, Trigger* prepared, IterationSample& sample);
  /// The same copy on every stage of this replica.
  Process copy(const OpPlan& plan);
  /// Caches that leave before their prompts end.
  void reserve_elsewhere(Sequence& sequence);
  /// Returns a trigger that fires when the iteration has been computed, or null where no cache is
  /// sent before its prompt ends.
  std::shared_ptr<Trigger> begin_sends(const Iteration& iteration, Duration time);
  void end_sends(const Iteration& iteration, Trigger& computed);
  void send_pieces(const Iteration& iteration, const PartTiming& timing);
  /// Positions of a prompt whose cache goes to the replica that answers.
  std::int64_t handed_positions(const Sequence& sequence) const;
  Process take_part(Sequence& sequence, std::int64_t blocks, PartTiming timing);
  void all_has_come(Sequence& sequence);
  void has_come(Sequence& sequence);
  static std::int64_t reader_of(const Sequence& s) { return s.source >= 0 ? s.source : s.reader; }
  /// A cache on its way from the stages of the replica that prefilled to those of this one.
  Process hand_over(std::int64_t from, const HandOver& what);
  Process copy_part(ServingHardware& hardware, std::int64_t group, OpPlan plan,
                    ServingHardware::Receiver receiver, Semaphore& ended);
  Process prepare(Duration host);
  Process prepare_beside(Duration host, Trigger& prepared);
  Process move(SequenceMove what);
  Process move_beside(SequenceMove what);
  Process prefetch_beside(Scheduler::Prefetch what);
  Process raise_beside(PrefixCopies::Store what);
  Process move_one(BlockMove what, Semaphore& ended);
  /// Loads of sequences that work in the iteration: the first layer, which is waited for; then the
  /// others, beside the iteration.
  Process load_first_layer(std::vector<SequenceMove>& within);
  Process load_within(SequenceMove what, Semaphore& ended, SimTime& last);
  /// Begins to write prompts' blocks through to the tiers below the pool, where any wait.
  void start_storing();
  Process store(PrefixCopies::Store what);
  Duration host_time(const Iteration& iteration) const;
  /// Sets the work of the iteration on each stage and the number of `layers` that run.
  void work_of(const Iteration& iteration, std::vector<StageWork>& out, std::int64_t& layers);
  void hand_out(const Iteration& iteration, SimTime begin);
  void wake();
  void give_up();
  void give_away(Sequence& sequence);
  void count_held();
  void count_shared();
  Op move_op(const BlockMove& what, Bytes bytes) const;  ///< on one GPU
  HandOver plan_hand_over(const BlockMove& what) const;
  const ServingParts& sender() const { return parts_.sender != nullptr ? *parts_.sender : parts_; }
  std::int64_t sending_group(std::int64_t replica, const HandOver& what, std::int64_t part) const;
  ServingHardware::Receiver receiver_of(const HandOver& what, std::int64_t part) const;
  PoolTotals& totals() { return totals_.pools[parts_.pool]; }
  /// Number of the group of GPUs that a stage has in the pool.
  std::int64_t group(std::int64_t stage) const {
    return (index_ - parts_.first) * std::ssize(stages_) + stage;
  }
  Bytes move_bytes(const BlockMove& what) const;
  Bytes moved_bytes(const BlockMove& what) const;
  OpPlan plan_of(const BlockMove& what) const;
  /// Alone, of a copy between two levels of the prefix cache.
  Duration time_of(const BlockMove& what) const;
  void limit_stores();
  void pass_over_long_queues();
  Duration recoding_time(const BlockMove& what) const;
  Bytes stored_bytes(std::int64_t level, Bytes bytes) const;
  bool is_load_faster(const PrefixLoad& load);
  TierId tier_of(MoveKind kind, std::int64_t level) const;

  ServingParts& parts_;
  std::int64_t index_;
  bool prefills_only_;
  Sink sink_;
  ServingTotals& totals_;
  Scheduler scheduler_;
  std::vector<Sequence*> come_;  // since requests were taken in
  std::int64_t decoded_ = 0;     // iterations that only decoded since then; kAtOnce after prompts
  Resource frontend_;            // reads one request at a time
  Semaphore bell_;
  Resource entrance_;  // keeps iterations in the order of their plans until the first stage
  std::vector<std::unique_ptr<Resource>> stages_;
  Semaphore slots_;  // one for each iteration that may be in flight
  bool idle_ = false;
  bool down_ = false;                  // gets no requests
  bool lost_ = false;                  // has failed, and has not given its sequences away yet
  double slowdown_ = 1;                // of its iterations
  std::vector<std::int64_t> loading_;  // [level]: blocks on their way from it to the pool
  std::vector<char> storing_;          // [level]: true while blocks are written through to it
  std::int64_t iterations_ = 0;
  std::int64_t moved_at_ = 0;  ///< iterations at the last move of experts
  std::int64_t requests_ = 0;
  std::int64_t tokens_ = 0;
  std::vector<std::int64_t> depths_;  // scratch
  std::vector<StageWork> spare_;      // memory of an earlier iteration's work, used again
  std::vector<std::int64_t> held_;    // this replica's part of the totals
  Demand work_;                       // scratch: of an iteration, in all stages
  std::vector<std::int64_t> holds_;   // scratch: the same now
};

/// The limits of one replica's blocks.
BlockLimits block_limits(const ServingConfig& config, const System& system, const KvLayout& layout);

}  // namespace tiersim
