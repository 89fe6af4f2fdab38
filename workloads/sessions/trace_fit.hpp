#pragma once
// Fits the laws of a synthetic workload to a trace, and says how far off the fit is.
//
//   arrivals   of sessions, or of requests where no prompt names its blocks: Poisson; Gamma where
//              the variation of the gaps differs from 1 by more than three standard errors of it
//              (1 / sqrt(n) for exponential gaps)
//   lengths    lognormal (law_fits.hpp)
//   sessions   found by the names of blocks (trace_sessions.hpp): turns, new tokens, prompts that
//              are shared, and the exponent of the groups' shares
//   pauses     from the end of an answer to the next turn. A trace has no ends, so AnswerTime is
//              assumed: by default an answer takes no time, and a pause contains it
//
// The error is that of a trace that the fitted laws make, with as many sessions and another seed.
// The laws that a fit of the first two thirds of the sessions gives are also compared with the last
// third, which that fit has not seen.
#include <cstdint>
#include <filesystem>
#include <optional>
#include <string>
#include <vector>

#include "sim/base/expected.hpp"
#include "workloads/serving/trace_file.hpp"
#include "workloads/sessions/nominal_server.hpp"

namespace tiersim {

/// Two samples of one quantity.
struct FitDistance {
  std::string quantity;
  double ks = 0;  ///< Kolmogorov-Smirnov distance, 0 to 1
  /// What two samples of one law exceed in 5 % of all cases, if their values are independent. Those
  /// of one session are not: for input tokens and gaps between requests it is too small.
  double chance = 0;
  std::int64_t seen = 0;  ///< values of the trace
};

struct FitHitRate {
  std::int64_t blocks = 0;  ///< capacity of an LRU cache
  double trace = 0;         ///< its hit rate, 0 to 1
  double made = 0;
};

struct TraceFit {
  WorkloadConfig workload = {};
  std::int64_t requests = 0;                ///< of the trace
  std::int64_t sessions = 0;                ///< found in it; 0: prompts name no blocks
  std::vector<FitDistance> distances = {};  ///< between the trace and one that the fit makes
  std::vector<FitDistance> held_out = {};   ///< between a fit of two thirds and the last third
  std::vector<FitHitRate> hit_rates = {};   ///< empty where prompts name no blocks
  double hit_rate_difference = 0;           ///< the largest one of these, absolute
  double hit_rate_chance = 0;  ///< the largest one between three traces that the fit makes
  /// Counts of the trace that are beyond those of a workload, whose largest ones stand for them.
  std::vector<std::string> limited = {};
};

struct TraceFitOptions {
  std::int64_t block = 512;  ///< tokens of a named block
  AnswerTime answer = {};
  std::uint64_t seed = 1;
};

/// Cuts the counts of a fitted workload to those that a configuration may have. Returns what was
/// cut, as "sessions.count is 1000000, of 1200000".
std::vector<std::string> cut_to_limits(WorkloadConfig& workload);

/// Of a trace with at least 30 requests, which is held in memory. The errors are mistakes of the
/// file, each at its place.
Expected<TraceFit, TraceProblems> fit_trace(const std::filesystem::path& path,
                                            const std::optional<TraceFormat>& format,
                                            const TraceFitOptions& options);

}  // namespace tiersim
