#pragma once
// What ServingStatistics keeps of a run until it makes a record of it. See there for the window.
#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "sim/core/stats.hpp"
#include "sim/record/serving_record.hpp"
#include "sim/serving/latency_histogram.hpp"
#include "sim/serving/serving_config.hpp"
#include "sim/serving/timeline.hpp"

namespace tiersim {

/// A tier that holds keys and values: of all replicas together.
struct ServedTier {
  std::string name;
  std::int64_t capacity_bytes = 0;  ///< for them
};

/// What is measured.
struct ServedBy {
  std::int64_t replicas = 1;
  std::int64_t blocks = 1;  ///< of the pool of one replica
  /// Channels whose use over time is recorded, by the names that they have in the record.
  std::vector<std::string> channels = {};
  std::vector<ServedTier> tiers = {};
};

struct ServedRequest {
  SimTime arrival{};
  SimTime started{};
  SimTime first_token{};
  SimTime finished{};
  std::int64_t input_tokens = 0;
  std::int64_t output_tokens = 0;  ///< 0: has not ended
  std::int64_t cached_tokens = 0;
};

/// Sums over the window, of what ends in it.
struct ServingWindow {
  SimTime begin{};
  SimTime end{};                  ///< so far, until `closed`
  bool closed = false;            ///< the last request has come
  std::int64_t later_tokens = 0;  ///< of all requests, but their first ones
  std::int64_t decodes = 0;
  std::int64_t decoding = 0;  ///< iterations that decode
  std::int64_t layers = 0;    ///< that ran in these
  LatencyHistogram gaps = {};
  Duration gpu{};   ///< working, all replicas
  Duration host{};  ///< likewise, the GPU waiting for it
};

/// Series of the timeline; the channels and then the tiers follow.
enum class ServingSeries : std::uint8_t { queue, running, blocks, input, output, gpu };
inline constexpr std::size_t kServingSeries = 6;

inline std::size_t series_of_channel(std::size_t channel) {
  return kServingSeries + channel;
}
inline std::size_t series_of_tier(const ServedBy& by, std::size_t tier) {
  return kServingSeries + by.channels.size() + tier;
}

/// Levels since the window began.
struct ServingLevels {
  TimeWeighted in_flight{SimTime{}};    ///< requests that have arrived and not ended
  TimeWeighted blocks{SimTime{}};       ///< of all replicas
  std::vector<TimeWeighted> held = {};  ///< bytes, by tier
};

struct ServingObservations {
  ServingRecord setup;  ///< what is run, in words
  MeasureConfig measure;
  ServedBy by;
  std::int64_t warm_up = 0;             ///< requests
  std::vector<ServedRequest> requests;  ///< by id
  Timeline timeline;                    ///< but queue and running, which follow from `requests`
  ServingWindow window = {};
  ServingLevels levels;                        ///< to the end of the run
  std::optional<ServingLevels> measured = {};  ///< to the end of the window, where that is before
  SimTime end{};                               ///< the last that happened
  // of the whole run
  std::int64_t arrived = 0;
  std::int64_t finished = 0;
  std::int64_t later_tokens = 0;  ///< but the first ones
  std::int64_t prefilled = 0;
  std::int64_t iterations = 0;
  std::int64_t preemptions = 0;
  Int128 stay = 0;  ///< ps: integral of the requests in flight
};

}  // namespace tiersim
