#pragma once
// Latencies of one served request, in seconds, and the promises that it keeps.
#include <optional>

#include "sim/serving/observations.hpp"

namespace tiersim {

inline double ttft_of(const ServedRequest& request) {
  return to_seconds(request.first_token - request.arrival);
}
inline double queue_time_of(const ServedRequest& request) {
  return to_seconds(request.started - request.arrival);
}
inline double prefill_time_of(const ServedRequest& request) {
  return to_seconds(request.first_token - request.started);
}
inline double e2e_latency_of(const ServedRequest& request) {
  return to_seconds(request.finished - request.arrival);
}
/// Per output token after the first one; none where there is no other.
inline std::optional<double> tpot_of(const ServedRequest& request) {
  if (request.output_tokens == 1) return std::nullopt;
  return to_seconds(request.finished - request.first_token) /
         static_cast<double>(request.output_tokens - 1);
}

/// Compared in whole picoseconds, so that a mean equal to the promise keeps it.
inline bool keeps_promises(const ServedRequest& request, const MeasureConfig& measure) {
  const Duration decoding = request.finished - request.first_token;
  return (!measure.slo_ttft || request.first_token - request.arrival <= *measure.slo_ttft) &&
         (!measure.slo_tpot || Int128{decoding.count()} <=
                                   Int128{measure.slo_tpot->count()} * (request.output_tokens - 1));
}

}  // namespace tiersim
