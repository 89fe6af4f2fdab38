#pragma once
// A server over time as a timeline that Perfetto (ui.perfetto.dev) loads, written as it runs: only
// the requests that are there are kept (trace_writer.hpp has the format).
//
//   links and tiers   a process: counters of each channel (channel_trace.hpp)
//   each replica      a process: a track for its iterations, with what they did, one for copies of
//                     blocks (several where they overlap), one for each slot of running requests
//                     (request_trace.hpp) and the stays of those that wait; counters: requests that
//                     run and that wait, blocks of the pool that sequences hold
//
// It listens in front of whoever measures and tells it everything. What is shown does not depend on
// the requests that follow, so a limit cuts the end off; what is left out is counted.
#include <cstdint>
#include <memory>
#include <optional>
#include <vector>

#include "sim/run/serving/channel_trace.hpp"
#include "sim/run/serving/request_trace.hpp"

namespace tiersim {

/// Asks for a trace, and says what came of it.
struct ServingTraceRequest {
  TraceSink sink;
  /// Nothing is shown of what happens after so many events.
  std::int64_t most_events = std::int64_t{1} << 62U;
  // set by the run
  std::int64_t events = 0;
  std::optional<SimTime> cut = {};       ///< where it ends, if before the end of the run
  std::int64_t iterations_left_out = 0;  ///< that ended after the cut
  std::int64_t requests_left_out = 0;    ///< that came after it
};

class ServingTrace final : public ServingObserver {
 public:
  /// `name` and `run_id` are the run's. All others outlive it.
  ServingTrace(ServingTraceRequest& request, ServingObserver& next, const System& system,
               const ServingHardware& hardware, std::int64_t replicas, const std::string& name,
               const std::string& run_id);

  void on_arrival(SimTime now) override;
  void on_iteration(const IterationSample& sample) override;
  void on_gap(SimTime now, Duration gap, std::int64_t tokens) override {
    next_.on_gap(now, gap, tokens);
  }
  void on_finish(const RequestOutcome& outcome) override;
  void on_submit(std::int64_t replica, SimTime now, const Sequence& sequence) override;
  void on_plan(std::int64_t replica, SimTime now,
               std::span<const Sequence* const> running) override;
  void on_work(const IterationSample& sample, const Iteration& iteration) override;
  void on_move(const MoveSample& sample) override;
  void on_hand_over(std::int64_t replica, SimTime now, const Sequence& sequence) override;
  void on_flow(ChannelId channel, std::int64_t change) { channels_.on_flow(channel, change); }

  /// The run is over.
  void finish(SimTime now);

 private:
  struct Replica {
    int process = 0;
    TraceTrack iterations;
    TraceLanes copies;
    RequestTracks requests;
    std::int64_t running = -1;  // as shown last
    std::int64_t waiting = -1;
    std::int64_t blocks = -1;
  };
  Replica& at(std::int64_t replica) { return *replicas_[static_cast<std::size_t>(replica)]; }
  void cut(SimTime now);

  ServingTraceRequest& request_;
  ServingObserver& next_;
  TraceWriter writer_;
  ChannelTrace channels_;
  std::vector<std::unique_ptr<Replica>> replicas_;
};

}  // namespace tiersim
