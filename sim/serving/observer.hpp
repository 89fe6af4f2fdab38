#pragma once
// What a server tells whoever measures it. Nothing here grows with the tokens of a run.
#include <cstdint>
#include <span>

#include "sim/base/units.hpp"
#include "workloads/serving/scheduler.hpp"

namespace tiersim {

/// A request that has ended.
struct RequestOutcome {
  std::int64_t id = 0;
  SimTime arrival{};
  SimTime started{};      ///< its first iteration began
  SimTime first_token{};  ///< its first token was there
  SimTime finished{};     ///< its last one was
  std::int64_t input_tokens = 0;
  std::int64_t output_tokens = 0;
  std::int64_t cached_tokens = 0;  ///< of its prompt, found in a prefix cache
  std::int64_t preemptions = 0;
};

/// One iteration of one replica, at its end.
struct IterationSample {
  std::int64_t replica = 0;
  SimTime begin{};  ///< the host took it up
  SimTime gpu{};    ///< the GPU began
  SimTime end{};
  std::int64_t decodes = 0;        ///< sequences that got one more token
  std::int64_t prompt_tokens = 0;  ///< positions that were prefilled
  std::int64_t layers = 0;         ///< that ran; fewer than the model's where all left early
  std::int64_t running = 0;        ///< sequences that hold blocks, at the end
  std::int64_t waiting = 0;        ///< requests that do not, at the end
  std::int64_t blocks_used = 0;    ///< of the pool, those of idle prefixes not counted, at the end
};

/// A copy of blocks, at its end.
struct MoveSample {
  std::int64_t replica = 0;  ///< that asked for it; of a hand-over, the one that receives
  BlockMove move{};
  std::int64_t request = -1;  ///< none where a prefix leaves the pool
  Bytes bytes{};              ///< of all GPUs
  SimTime begin{};
  SimTime end{};
};

class ServingObserver {
 public:
  virtual ~ServingObserver() = default;
  virtual void on_arrival(SimTime now) = 0;
  virtual void on_iteration(const IterationSample& sample) = 0;
  /// `tokens` tokens came each so long after the one before it of its sequence.
  virtual void on_gap(SimTime now, Duration gap, std::int64_t tokens) = 0;
  virtual void on_finish(const RequestOutcome& outcome) = 0;

  // For those who follow each request (serving_trace.hpp). Sequences live until on_finish.

  /// A replica has a request from now on, or a sequence that another one prefilled.
  virtual void on_submit(std::int64_t /*replica*/, SimTime /*now*/, const Sequence&) {}
  /// Who runs on a replica from now on, in the order of admission.
  virtual void on_plan(std::int64_t /*replica*/, SimTime /*now*/,
                       std::span<const Sequence* const> /*running*/) {}
  /// An iteration has ended; its tokens are handed out next. `sample` as far as is known by then.
  virtual void on_work(const IterationSample& /*sample*/, const Iteration&) {}
  virtual void on_move(const MoveSample&) {}
  /// A sequence has been prefilled and leaves the replica.
  virtual void on_hand_over(std::int64_t /*replica*/, SimTime /*now*/, const Sequence&) {}
};

}  // namespace tiersim
