#pragma once
// One row of CSV for each request of a served run, written when it ends. Only requests in the
// system are kept, so the memory does not grow with the run.
//
//   request          number from 0, in the order of arrival except in a closed loop
//   arrival_s        on the clock of the run, whose first request comes at 0 or later
//   replica          the one that read the prompt, from 0
//   decode_replica   the one that made the later tokens: another one where the server separates
//                    prefill from decode
//   input_tokens, output_tokens, cached_tokens (of the prompt, found in a prefix cache)
//   queue_time_s, ttft_s, tpot_s (empty for an answer of one token), e2e_latency_s
//   preemptions
//   session, agent, turn   where the workload has sessions, each from 0; agent 0 is the main line
//   restarts         replicas that failed while they had it
//   priority         where the workload has sessions; a lower number goes first
//
// All requests have a row, those of the warm-up as well, in the order in which they end; times are
// exact decimals, except tpot_s, which is a quotient. The same run gives the same bytes.
#include <cstdint>
#include <string>
#include <unordered_map>

#include "sim/serving/listener.hpp"
#include "sim/trace/trace_writer.hpp"

namespace tiersim {

class RequestRows final : public ServingListener {
 public:
  /// `inner` gets every event as well, if there is one.
  explicit RequestRows(TraceSink sink, ServingListener* inner = nullptr);

  std::int64_t rows() const { return rows_; }

  void begin(const ServedRun& run, ServingObserver& next) override;
  void on_arrival(SimTime now) override { next_->on_arrival(now); }
  void on_session(SimTime now) override { next_->on_session(now); }
  void on_replicas(SimTime now, std::int64_t up) override { next_->on_replicas(now, up); }
  void on_weights(SimTime now, std::size_t pool, const Demand& work) override {
    next_->on_weights(now, pool, work);
  }
  void on_iteration(const IterationSample& sample) override { next_->on_iteration(sample); }
  void on_gap(SimTime now, Duration gap, std::int64_t tokens) override {
    next_->on_gap(now, gap, tokens);
  }
  void on_finish(const RequestOutcome& outcome) override;
  void on_submit(std::int64_t replica, SimTime now, const Sequence& sequence) override;
  void on_plan(std::int64_t replica, SimTime now,
               std::span<const Sequence* const> running) override {
    next_->on_plan(replica, now, running);
  }
  void on_work(const IterationSample& sample, const Iteration& iteration) override {
    next_->on_work(sample, iteration);
  }
  void on_move(const MoveSample& sample) override { next_->on_move(sample); }
  void on_hand_over(std::int64_t replica, SimTime now, const Sequence& sequence) override {
    next_->on_hand_over(replica, now, sequence);
  }
  void on_flow(std::size_t pool, ChannelId channel, std::int64_t change) override {
    if (inner_ != nullptr) inner_->on_flow(pool, channel, change);
  }
  void finish(SimTime now) override;

 private:
  struct Replicas {
    std::int64_t prefill = 0;
    std::int64_t decode = 0;
  };

  void begin_table(bool with_sessions);

  TraceSink sink_;
  ServingListener* inner_;
  ServingObserver* next_ = nullptr;                      // set by begin()
  std::unordered_map<std::int64_t, Replicas> replicas_;  // of requests in the system, by id
  std::string buffer_;
  std::int64_t rows_ = 0;
  bool with_sessions_ = false;  // by the first row
};

}  // namespace tiersim
