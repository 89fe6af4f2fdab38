#pragma once
// A server over time as a timeline that Perfetto (ui.perfetto.dev) loads. It is written during the
// run, so that only active requests are kept (trace_writer.hpp describes the format).
//
//   links and tiers   a process: counters of each channel (channel_trace.hpp)
//   each replica      a process: a track for its iterations with their contents, one for the
//                     kernels of the first few iterations of each kind, one for copies of
//                     blocks (several if they overlap), one for each slot of running requests
//                     (request_trace.hpp) and the stays of waiting requests; counters: running and
//                     waiting requests, blocks of the pool that sequences hold
//
// It receives the observations before the run's statistics and passes them all on. The trace does
// not depend on later requests, so a limit only cuts off its end; omitted events are counted.
#include <array>
#include <cstdint>
#include <memory>
#include <optional>
#include <vector>

#include "sim/serving/iteration_kernels.hpp"
#include "sim/serving/listener.hpp"
#include "sim/trace/channel_trace.hpp"
#include "sim/trace/request_trace.hpp"

namespace tiersim {

class ServingTrace final : public ServingListener {
 public:
  /// The trace ends after `most_events` events.
  explicit ServingTrace(TraceSink sink, std::int64_t most_events = std::int64_t{1} << 62U);
  /// Shows the kernels of the first `iterations` of each replica that only decode, and of the first
  /// ones that read prompts, too. `kernels` must outlive the run.
  void show_kernels(const IterationKernels& kernels, std::int64_t iterations);

  // After the run:
  std::int64_t events() const { return events_; }
  const std::optional<SimTime>& cut() const { return cut_; }  ///< end, if before the run\'s
  std::int64_t iterations_left_out() const { return iterations_left_out_; }  ///< after the cut
  std::int64_t requests_left_out() const { return requests_left_out_; }      ///< after the cut

  void begin(const ServedRun& run, ServingObserver& next) override;
  void on_arrival(SimTime now) override;
  void on_session(SimTime now) override { next_->on_session(now); }
  void on_replicas(SimTime now, std::int64_t up) override { next_->on_replicas(now, up); }
  void on_weights(SimTime now, std::size_t pool, const Demand& work) override {
    next_->on_weights(now, pool, work);
  }
  void on_iteration(const IterationSample& sample) override;
  void on_gap(SimTime now, Duration gap, std::int64_t tokens) override {
    next_->on_gap(now, gap, tokens);
  }
  void on_finish(const RequestOutcome& outcome) override;
  void on_submit(std::int64_t replica, SimTime now, const Sequence& sequence) override;
  void on_plan(std::int64_t replica, SimTime now,
               std::span<const Sequence* const> running) override;
  void on_work(const IterationSample& sample, const Iteration& iteration) override;
  void on_move(const MoveSample& sample) override;
  void on_hand_over(std::int64_t replica, SimTime now, const Sequence& sequence) override;
  void on_flow(std::size_t pool, ChannelId channel, std::int64_t change) override {
    channels_[pool]->on_flow(channel, change);
  }
  void finish(SimTime now) override;

 private:
  struct Replica {
    int process = 0;
    TraceLanes iterations;
    std::optional<TraceTrack> kernels;
    std::array<std::int64_t, 2> shown{};  // iterations with kernels: without and with prompts
    TraceLanes copies;
    RequestTracks requests;
    std::int64_t running = -1;  // value written last
    std::int64_t waiting = -1;
    std::int64_t blocks = -1;
  };
  Replica& at(std::int64_t replica) { return *replicas_[static_cast<std::size_t>(replica)]; }
  void end_early(SimTime now);
  void write_kernels(Replica& replica, const IterationSample& sample, const Iteration& iteration);

  TraceSink sink_;
  std::int64_t most_events_;
  const IterationKernels* kernels_ = nullptr;
  std::int64_t with_kernels_ = 0;
  std::int64_t events_ = 0;
  std::optional<SimTime> cut_ = {};
  std::int64_t iterations_left_out_ = 0;
  std::int64_t requests_left_out_ = 0;
  // set by begin()
  ServingObserver* next_ = nullptr;
  std::optional<TraceWriter> writer_;
  std::vector<std::unique_ptr<ChannelTrace>> channels_;  // by pool
  std::vector<std::unique_ptr<Replica>> replicas_;
};

}  // namespace tiersim
