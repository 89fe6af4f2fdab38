#pragma once
// The measurements of a serving run: observes a server and fills its record. The memory grows with
// requests, never with tokens.
//
//   ServingStatistics statistics(config, {.replicas = 2, .stages = 2, .blocks = 10'000});
//   server.run(source, statistics);
//   statistics.record(record, NumberClass::fitted);
//
// Warm-up and window. The first `warm_up` of the requests, in the order of arrival, load the server
// but do not count: latencies are those of the other requests. Rates and means over time are over a
// window and include everything that happens in it, for all requests. The window lasts from the
// arrival of the first request that counts to that of the last one, since the server fills before
// it and drains after it. Without a warm-up the window is the whole run, from the first arrival to
// the last token, as in the benchmarks of vLLM and SGLang (all output tokens over the whole time).
// If all requests arrive at once, the window also ends with the last token. What happens at the
// instant at which the window begins is outside of it, and at that of its end inside, in whatever
// order it happens. So replicas that share nothing can be measured one beside the other. Of a
// workload with sessions the window ends when the last session begins: what arrives later is of
// ever fewer sessions.
//
// Quantiles are nearest-rank, so each is the latency of a request. Those of inter_token_latency_s
// are from a histogram, with an error below 0.1 %.
//
// Intervals (ci95) of means and of the throughput are by batch means (quantiles.hpp); there is none
// if the run is too short or does not settle. They cover only the randomness of this run. Quantiles
// have none: requests that queue together are not independent, so order statistics would be too
// narrow.
#include <optional>
#include <span>
#include <utility>
#include <vector>

#include "sim/record/run_record.hpp"
#include "sim/serving/observations.hpp"
#include "sim/serving/observer.hpp"
#include "sim/serving/serving_config.hpp"

namespace tiersim {

/// Calls come in the order of simulated time, which starts at 0.
class ServingStatistics final : public ServingObserver {
 public:
  /// For the requests of `config.workload`, whose number is request_count().
  ServingStatistics(const ServingConfig& config, const ServedBy& by);
  /// Of one replica that is simulated by itself. It measures for `whole`, which must outlive it and
  /// gets its changes of levels and at the end its sums; other parts may do so on other threads.
  ServingStatistics(ServingStatistics& whole, std::int64_t replica);

  void on_arrival(SimTime now) override;
  void on_session(SimTime now) override;
  void on_replicas(SimTime now, std::int64_t up) override;
  void on_iteration(const IterationSample& sample) override;
  void on_gap(SimTime now, Duration gap, std::int64_t tokens) override;
  void on_finish(const RequestOutcome& outcome) override;
  void on_move(const MoveSample& sample) override;
  void on_weights(SimTime now, std::size_t pool, const Demand& work) override;
  /// A channel was busy for `busy` of the time between `from` and `to`: bytes over capacity.
  void on_use(std::size_t channel, SimTime from, SimTime to, Duration busy);

  /// A tier holds `bytes` of keys and values from now on, with idle prefixes.
  void on_held(std::size_t tier, SimTime now, std::int64_t bytes);

  // For a whole and its parts.
  /// The next request arrives at `now`. The whole sees every request so before a part does.
  void announce(SimTime now);
  /// Takes over what is known of the whole's window.
  void see_window(const ServingStatistics& whole);
  /// The changes of a part since the last call, in order of time.
  std::vector<LevelChange> take_changes() { return std::exchange(changes_, {}); }
  void change_levels(std::span<const LevelChange> changes);
  /// Time of the last call.
  SimTime end() const { return seen_.end; }
  /// Adds the sums of a part. The run has ended at `end`, the latest of all parts.
  void join(ServingStatistics& part, SimTime end);

  /// Fills metrics and `serving` (except capacity and moves, which stay unchanged) after every
  /// request has ended; nothing may be called after that. `time_class` is the weakest class behind
  /// the times. Checks that no request and no token is lost, and that the integral of the requests
  /// in the system is the sum of their stays.
  void record(RunRecord& out, NumberClass time_class);
  /// The work of iterations and copies that ended in the window; empty if unknown.
  const Demand& work(std::size_t pool) const { return seen_.window.work[pool]; }

 private:
  struct Replica {
    SimTime free{};  ///< end of its last iteration
    std::int64_t blocks = 0;
  };
  /// A level over the replicas of this part.
  struct Level {
    std::int64_t value = 0;
    SimTime since{};
  };

  void advance(SimTime now);
  void close(SimTime now);
  void change(std::size_t level, std::int64_t by);
  /// Adds a level's time up to now to the timeline.
  void settle(std::size_t level);
  bool in_window(SimTime at) const;
  bool in_window() const { return in_window(now_); }
  void add_work(std::size_t pool, const Demand* work);

  ServingObservations seen_;
  std::span<ServedRequest> requests_;  // those of the whole, by id
  bool is_part_ = false;
  std::int64_t first_replica_ = 0;
  std::vector<Replica> replicas_;
  std::vector<Level> levels_;
  std::vector<LevelChange> changes_;  // of a part
  std::optional<SimTime> opens_;      // the window
  std::optional<SimTime> closes_;
  bool by_message_ = false;  // gaps are between messages, not between tokens
  SimTime now_{};
};

}  // namespace tiersim
