#pragma once
// Where requests come from: an arrival process with lengths drawn from distributions, or the trace
// of a real service (trace_file.hpp).
//
//   workload:                                        workload:
//     requests: 1000                                   trace: traces/conversation.jsonl
//     arrivals: {process: poisson, requests_per_s: 4}  replay: {speed: 2, skip: 100}
//     input: {distribution: uniform, min: 100, max: 2000}
//     output: {tokens: 256}
//
// The loader turns `trace` into `replay`: how many requests the file has, its digest, and its path
// as the source of that number. So a record holds no requests, its run id is that of the file's
// bytes wherever the file lies, and running it again fails where the file is another by then.
#include <array>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <string_view>

#include "sim/base/expected.hpp"
#include "sim/config/fields.hpp"
#include "workloads/serving/request.hpp"

namespace tiersim {

enum class ArrivalProcess : std::uint8_t {
  at_once,      ///< all at time 0: how fast are they done?
  closed_loop,  ///< so many users, each with one request at a time
  fixed_rate,   ///< equal gaps
  poisson,      ///< exponential gaps
  gamma,        ///< gaps of a stated coefficient of variation: bursty above 1
};
inline constexpr std::array<std::string_view, 5> kArrivalProcessNames{
    "at_once", "closed_loop", "fixed_rate", "poisson", "gamma"};

/// The first request of an open process comes at time 0 and the others each a gap after the one
/// before. The users of a closed loop think first.
struct ArrivalConfig {
  ArrivalProcess process = ArrivalProcess::poisson;
  double requests_per_s = 0;  ///< of the open processes
  double variation = 1;       ///< gamma: standard deviation of the gaps over their mean
  std::int64_t users = 0;     ///< of a closed loop
  /// Of a closed loop: mean time from an answer to the next request, exponentially distributed.
  Duration think_time{};
};
void describe(Fields& f, ArrivalConfig& c);

enum class LengthDistribution : std::uint8_t { fixed, uniform, lognormal };
inline constexpr std::array<std::string_view, 3> kLengthDistributionNames{"fixed", "uniform",
                                                                          "lognormal"};

/// Most tokens of a prompt or an answer; as StepConfig's context.
inline constexpr std::int64_t kMostTokens = 100'000'000;

struct LengthConfig {
  LengthDistribution distribution = LengthDistribution::fixed;
  std::int64_t tokens = 0;  ///< fixed: all; lognormal: the median
  double sigma = 0;         ///< lognormal: of the logarithm
  std::int64_t min = 1;     ///< uniform: the range; lognormal: what is drawn is cut to it
  std::int64_t max = 0;     ///< the range includes it
};
void describe(Fields& f, LengthConfig& c);

/// A trace and how it is replayed.
struct TraceConfig {
  /// In the file, whose path is the source.
  Sourced<std::int64_t> requests = {};
  std::string digest = {};  ///< SHA-256 of its bytes
  double speed = 1;         ///< arrivals come so much faster than recorded
  std::int64_t skip = 0;    ///< requests left out at the start; the next one comes at time 0
};
void describe(Fields& f, TraceConfig& c);

struct WorkloadConfig {
  std::int64_t requests = 0;  ///< how many; of a trace all that are left where 0: request_count()
  std::optional<ArrivalConfig> arrivals = {};  ///< these three, or a trace
  std::optional<LengthConfig> input = {};
  std::optional<LengthConfig> output = {};
  std::optional<TraceConfig> trace = {};
  std::int64_t prefix_block = 512;  ///< tokens that one name of a prefix stands for
};
void describe(Fields& f, WorkloadConfig& c);

/// How many requests the source will make. `config` has been read without mistakes, here and below.
std::int64_t request_count(const WorkloadConfig& config);

/// The source of these requests; the error is what is wrong with the trace file, for the user.
Expected<std::unique_ptr<RequestSource>> make_request_source(const WorkloadConfig& config,
                                                             std::uint64_t seed);

}  // namespace tiersim
