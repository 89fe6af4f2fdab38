#pragma once
// The source of requests: an arrival process with lengths drawn from distributions, or the trace of
// a real service (trace_file.hpp).
//
//   workload:                                        workload:
//     requests: 1000                                   trace: traces/conversation.jsonl
//     arrivals: {process: poisson, requests_per_s: 4}  replay: {speed: 2, skip: 100}
//     input: {distribution: uniform, min: 100, max: 2000}
//     output: {tokens: 256}
//
//   workload:                                        # a log of one's own
//     trace:
//       file: log.csv.gz
//       columns: {arrival: received_at, input: prompt_tokens, output: completion_tokens}
//       time: ms
//
//   workload:                                        # sessions of growing prompts
//     arrivals: {process: poisson, requests_per_s: 1}   (session_config.hpp)
//     output: {tokens: 256}
//     sessions: {count: 100, turns: {count: 8}, first_prompt: {tokens: 2000}, message: {tokens:
//     50}}
//
// The loader turns `trace` into `replay`: the number of requests in the file, its digest, and its
// path as the source of that number. So a record holds no requests, its run id depends on the
// file's bytes and not on its place, and a rerun fails where the file has changed.
#include <array>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <string_view>

#include "sim/base/expected.hpp"
#include "sim/config/fields.hpp"
#include "workloads/serving/length_config.hpp"
#include "workloads/serving/request.hpp"
#include "workloads/serving/trace_form.hpp"
#include "workloads/sessions/session_config.hpp"

namespace tiersim {

enum class ArrivalProcess : std::uint8_t {
  at_once,      ///< all at time 0, to measure the total time
  closed_loop,  ///< a fixed number of users, each with one request at a time
  fixed_rate,   ///< equal gaps
  poisson,      ///< exponential gaps
  gamma,        ///< gaps of a given coefficient of variation: bursty above 1
};
inline constexpr std::array<std::string_view, 5> kArrivalProcessNames{
    "at_once", "closed_loop", "fixed_rate", "poisson", "gamma"};

/// The first request of an open process comes at time 0, and each other one a gap after the one
/// before. The users of a closed loop think before their first request. Where the workload has
/// sessions, all this is of sessions: their rate, their number at a time.
struct ArrivalConfig {
  ArrivalProcess process = ArrivalProcess::poisson;
  double requests_per_s = 0;  ///< rate of an open process
  double variation = 1;       ///< gamma: standard deviation of the gaps over their mean
  std::int64_t users = 0;     ///< of a closed loop
  Duration ramp_up{};         ///< the users of a closed loop begin evenly over this time
  /// Of an open process: the client sends no request while so many wait for their answers. It sends
  /// it when one of these ends, and the request's times count from then.
  std::optional<std::int64_t> max_in_flight = {};
  /// Mean time from an answer to the next request in a closed loop, exponentially distributed.
  Duration think_time{};
};
void describe(Fields& f, ArrivalConfig& c);

/// A trace and how it is replayed.
struct TraceConfig {
  /// Number of requests in the file; the source is the file's path.
  Sourced<std::int64_t> requests = {};
  std::string digest = {};    ///< SHA-256 of the file's bytes
  std::int64_t sessions = 0;  ///< of the file; 0: its requests wait for nothing
  bool timed = true;          ///< false: the file does not say when sessions begin, and arrivals do
  std::int64_t left_out = 0;  ///< requests of the file that have no answer, and are not replayed
  /// Factor by which arrivals, those of sessions where there are any, are faster than recorded.
  double speed = 1;
  /// A session's pause that is longer takes this long; none: all are as recorded.
  std::optional<Duration> max_pause = {};
  std::int64_t skip = 0;  ///< requests left out at the start; the next one comes at time 0
  std::optional<TraceFormat> format = {};  ///< of a trace of one's own; none: a published form
};
void describe(Fields& f, TraceConfig& c);

struct WorkloadConfig {
  /// Number of requests; 0 takes all that are left of a trace: request_count(). 0 with sessions.
  std::int64_t requests = 0;
  std::optional<ArrivalConfig> arrivals = {};  ///< these three, or a trace, or sessions
  std::optional<LengthConfig> input = {};
  std::optional<LengthConfig> output = {};
  std::optional<TraceConfig> trace = {};
  std::optional<SessionConfig> sessions = {};  ///< with arrivals and output
  std::int64_t prefix_block = 512;             ///< tokens of one named prefix block

  /// False where what says its requests is missing or has a mistake, which is reported.
  bool says_requests() const { return trace || sessions || (arrivals && input); }
};
void describe(Fields& f, WorkloadConfig& c);

/// True where no request waits for another one to end, so that the source knows all of them from
/// the start, in the order of arrival.
bool knows_all_arrivals(const WorkloadConfig& config);

/// Number of requests of the source with this seed. Here and below, `config` was read without
/// mistakes.
std::int64_t request_count(const WorkloadConfig& config, std::uint64_t seed);
/// Number of sessions; 0 where requests are of none.
std::int64_t session_count(const WorkloadConfig& config);
/// Number of requests of a workload that has a trace.
std::int64_t trace_requests(const WorkloadConfig& config);

/// The source of these requests, or a message about the trace file for the user.
Expected<std::unique_ptr<RequestSource>> make_request_source(const WorkloadConfig& config,
                                                             std::uint64_t seed);

}  // namespace tiersim
