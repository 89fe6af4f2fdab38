#pragma once
// The observations of a run, from which ServingStatistics makes a record. It also defines the
// window.
#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include "sim/record/serving_record.hpp"
#include "sim/serving/demand.hpp"
#include "sim/serving/latency_histogram.hpp"
#include "sim/serving/level_series.hpp"
#include "sim/serving/serving_config.hpp"
#include "sim/serving/timeline.hpp"
#include "workloads/serving/prefix_parts.hpp"

namespace tiersim {

/// A tier that holds keys and values, over all replicas.
struct ServedTier {
  std::string name;
  std::int64_t capacity_bytes = 0;  ///< for keys and values
};

/// The server under measurement.
struct ServedBy {
  std::int64_t replicas = 1;
  std::int64_t stages = 1;  ///< of all replicas together
  std::int64_t blocks = 1;  ///< of keys and values in all replicas together
  std::int64_t pools = 1;   ///< kinds of hardware
  /// Channels whose use over time is recorded, by their names in the record.
  std::vector<std::string> channels = {};
  std::vector<ServedTier> tiers = {};
};

struct ServedRequest {
  SimTime arrival{};
  SimTime started{};
  SimTime first_token{};
  SimTime finished{};
  std::int64_t input_tokens = 0;
  std::int64_t output_tokens = 0;  ///< 0: not finished
  std::int64_t cached_tokens = 0;
  FoundIn cached_in = {};
  Duration load_time{};
  std::int64_t declined_tokens = 0;
  SessionPlace session = {};
  std::int64_t priority = 0;
};

/// Sums over the window, of everything that ends in it: after `begin`, and at `end` at the latest.
struct ServingWindow {
  SimTime begin{};
  SimTime end{};
  std::int64_t later_tokens = 0;  ///< of all requests, without their first tokens
  std::int64_t decodes = 0;
  std::int64_t drafts = 0;
  std::int64_t decoding = 0;  ///< iterations with a decode
  std::int64_t layers = 0;    ///< layers executed in these iterations
  LatencyHistogram gaps = {};
  Duration gpu{};     ///< working time over all stages of all replicas
  Duration host{};    ///< time in which the GPU waits for the host, over all replicas
  Duration copies{};  ///< time in which it waits for copies that make room, and of states
  std::vector<Demand> work = {};  ///< of iterations and copies, by pool; empty if unknown
};

/// Series of the timeline; the channels follow, then the tiers. From `found` on: tokens of prompts
/// that lay in the pool and in each tier below it.
enum class ServingSeries : std::uint8_t {
  queue,
  running,
  blocks,
  input,
  cached,
  output,
  gpu,
  found
};
inline constexpr std::size_t kServingSeries =
    static_cast<std::size_t>(ServingSeries::found) + std::tuple_size_v<FoundIn>;

inline std::size_t series_of_place(std::size_t place) {
  return static_cast<std::size_t>(ServingSeries::found) + place;
}

inline std::size_t series_of_channel(std::size_t channel) {
  return kServingSeries + channel;
}
inline std::size_t series_of_tier(const ServedBy& by, std::size_t tier) {
  return kServingSeries + by.channels.size() + tier;
}

/// Levels over the window: requests that have arrived but not finished, blocks over all replicas,
/// and replicas that take requests where not all do all the time; the bytes in the tiers follow.
enum class ServingLevel : std::uint8_t { in_flight, blocks, replicas_up };
inline constexpr std::size_t kServingLevels = 3;

inline std::size_t level_of_tier(std::size_t tier) {
  return kServingLevels + tier;
}

struct ServingObservations {
  ServingRecord setup;  ///< the setup, in words
  MeasureConfig measure;
  ServedBy by;
  bool speculates = false;
  bool caches = false;                  ///< prompts may find tokens in a prefix cache
  bool fleet = false;                   ///< replicas fail, or are started and stopped
  bool loads = false;                   ///< prompts may load what lower tiers have of them
  bool may_decline = false;             ///< prompts may compute what lower tiers have of them
  std::size_t prefix_tiers = 0;         ///< below the pool, which keep prefixes
  std::int64_t warm_up = 0;             ///< requests
  std::int64_t sessions = 0;            ///< of the workload; 0: it has none
  std::vector<ServedRequest> requests;  ///< by id
  Timeline timeline;                    ///< without queue and running, which follow from `requests`
  ServingWindow window = {};
  LevelSeries levels;
  SimTime end{};  ///< time of the last event
  // of the whole run
  std::int64_t arrived = 0;
  std::int64_t finished = 0;
  std::int64_t begun = 0;         ///< sessions
  std::int64_t later_tokens = 0;  ///< without first tokens
  std::int64_t prefilled = 0;
  std::int64_t iterations = 0;
  std::int64_t preemptions = 0;
  std::int64_t restarts = 0;  ///< of requests whose replica failed
  Int128 stay = 0;            ///< ps: integral of the requests in flight
};

}  // namespace tiersim
