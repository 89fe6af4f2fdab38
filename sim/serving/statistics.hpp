#pragma once
// What a serving run measures: listens to a server and fills its record. The memory grows with
// requests, never with tokens.
//
//   ServingStatistics statistics(config, {.replicas = 2, .blocks = 10'000});
//   server.run(source, statistics);
//   statistics.record(record, NumberClass::fitted);
//
// What counts. The first `warm_up` of the requests, in the order of arrival, load the server and
// are not measured: latencies are those of the others. Rates and means over time are of a window
// and of whatever happens in it, whosever it is: from the arrival of the first request that counts
// to that of the last one, since before it the server fills and after it drains. Without a warm-up
// the window is the whole run, from the first arrival to the last token, as the benchmarks of vLLM
// and SGLang count (all output tokens over all the time); it ends with the last token as well where
// all arrive at once.
//
// Quantiles are nearest-rank: a latency that some request had. Those of inter_token_latency_s are
// from a histogram, off by less than 0.1 %.
//
// Intervals (ci95) of means and of the throughput are by batch means (quantiles.hpp), none where
// the run is too short or does not settle. They are of this run's randomness alone. Quantiles have
// none: requests that queue together are not independent, so order statistics would be too narrow.
#include <vector>

#include "sim/record/run_record.hpp"
#include "sim/serving/observations.hpp"
#include "sim/serving/observer.hpp"
#include "sim/serving/serving_config.hpp"

namespace tiersim {

/// Calls are in the order of simulated time, which starts at 0.
class ServingStatistics final : public ServingObserver {
 public:
  /// For the requests of `config.workload`, as many as request_count() says.
  ServingStatistics(const ServingConfig& config, const ServedBy& by);

  void on_arrival(SimTime now) override;
  void on_iteration(const IterationSample& sample) override;
  void on_gap(SimTime now, Duration gap, std::int64_t tokens) override;
  void on_finish(const RequestOutcome& outcome) override;
  /// A channel was busy for `busy` of the time between two, all of it: bytes over capacity.
  void on_use(std::size_t channel, SimTime from, SimTime to, Duration busy);

  /// From now on a tier holds so many bytes of keys and values, idle prefixes included.
  void on_held(std::size_t tier, SimTime now, std::int64_t bytes);

  /// Metrics and `serving` (all but capacity and moves, which stay as they are), when every
  /// request has ended. `time_class`: the weakest behind the times. Checks that no request and no
  /// token is lost, and that the integral of the requests in the system is the sum of their stays.
  void record(RunRecord& out, NumberClass time_class) const;

 private:
  struct Replica {
    SimTime free{};  ///< its last iteration ended
    std::int64_t blocks = 0;
  };

  /// Everything lasts until `now`.
  void advance(SimTime now);
  void open_window();
  /// Keeps what the levels were over the window.
  void close_window();
  bool in_window() const;

  ServingObservations seen_;
  std::vector<Replica> replicas_;
  SimTime now_{};
};

}  // namespace tiersim
