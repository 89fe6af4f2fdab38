#pragma once
// The interface through which a server reports to its observers. No call's cost grows with the
// tokens of a run.
#include <cstdint>
#include <span>
#include <utility>
#include <vector>

#include "sim/base/units.hpp"
#include "sim/serving/demand.hpp"
#include "workloads/serving/scheduler.hpp"

namespace tiersim {

/// A finished request.
struct RequestOutcome {
  std::int64_t id = 0;
  SimTime arrival{};
  SimTime started{};      ///< start of its first iteration
  SimTime first_token{};  ///< time of its first token
  SimTime finished{};     ///< time of its last token
  std::int64_t input_tokens = 0;
  std::int64_t output_tokens = 0;
  std::int64_t cached_tokens = 0;    ///< tokens of its prompt found in a prefix cache
  FoundIn cached_in = {};            ///< of these
  Duration load_time{};              ///< until the prefix that it loaded from lower tiers was there
  std::int64_t declined_tokens = 0;  ///< found in lower tiers, and computed all the same
  std::int64_t preemptions = 0;
  std::int64_t restarts = 0;  ///< replicas that failed while they had it
  SessionPlace session = {};
  std::int64_t priority = 0;
};

/// One iteration of one replica, reported at its end.
struct IterationSample {
  std::int64_t replica = 0;
  std::size_t pool = 0;  ///< the replicas on one kind of hardware that it belongs to
  SimTime begin{};       ///< the host started on it
  SimTime gpu{};         ///< the GPU started on it; of a pipeline: it was ready for the first stage
  SimTime end{};
  Duration copies{};  ///< just before `gpu`: that make room, of states and of experts that move
  /// When each stage of a pipeline worked on it; empty: from `gpu` to `end`.
  std::vector<std::pair<SimTime, SimTime>> stages = {};
  std::int64_t decodes = 0;        ///< sequences that got one more token
  std::int64_t drafts = 0;         ///< of all of them
  std::int64_t prompt_tokens = 0;  ///< positions that were prefilled
  std::int64_t layers = 0;  ///< executed layers; fewer than the model's if all sequences left early
  std::int64_t running = 0;      ///< sequences that hold blocks, at the end
  std::int64_t waiting = 0;      ///< requests without blocks, at the end
  std::int64_t blocks_used = 0;  ///< of the pool, without idle prefixes, at the end
  const Demand* work = nullptr;  ///< of all stages together, if known; valid during the call
};

/// A copy of blocks, reported at its end.
struct MoveSample {
  std::int64_t replica = 0;  ///< the one that requested it; the receiver of a hand-over
  std::size_t pool = 0;      ///< whose hardware `work` is of: of a hand-over the sender's
  BlockMove move{};
  std::int64_t request = -1;  ///< none for a prefix that leaves the pool
  Bytes bytes{};              ///< over all GPUs
  SimTime begin{};
  SimTime end{};
  const Demand* work = nullptr;  ///< if known; valid during the call
};

class ServingObserver {
 public:
  virtual ~ServingObserver() = default;
  virtual void on_arrival(SimTime now) = 0;
  /// A session begins; on_arrival() of its first request follows.
  virtual void on_session(SimTime /*now*/) {}
  /// So many replicas take requests from now on; called where their number may change.
  virtual void on_replicas(SimTime /*now*/, std::int64_t /*up*/) {}
  virtual void on_iteration(const IterationSample& sample) = 0;
  /// `tokens` tokens came, each `gap` after the previous token of its sequence. Tokens that one
  /// iteration gives a sequence have a gap of 0 after the first of them, or an equal share of it
  /// (MeasureConfig::as).
  virtual void on_gap(SimTime now, Duration gap, std::int64_t tokens) = 0;
  virtual void on_finish(const RequestOutcome& outcome) = 0;

  // For observers that follow each request (serving_trace.hpp). Sequences live until on_finish.

  /// A replica receives a request, or a sequence that another replica prefilled.
  virtual void on_submit(std::int64_t /*replica*/, SimTime /*now*/, const Sequence&) {}
  /// The sequences that run on a replica from now on, in the order of admission.
  virtual void on_plan(std::int64_t /*replica*/, SimTime /*now*/,
                       std::span<const Sequence* const> /*running*/) {}
  /// An iteration has ended, and its tokens are handed out next. `sample` holds the values known so
  /// far.
  virtual void on_work(const IterationSample& /*sample*/, const Iteration&) {}
  virtual void on_move(const MoveSample&) {}
  /// A replica of the pool has loaded its weights.
  virtual void on_weights(SimTime /*now*/, std::size_t /*pool*/, const Demand& /*work*/) {}
  /// A sequence leaves the replica for another: it has been prefilled, or the replica has failed.
  virtual void on_hand_over(std::int64_t /*replica*/, SimTime /*now*/, const Sequence&) {}
};

}  // namespace tiersim
