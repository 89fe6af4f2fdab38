#include "workloads/sessions/trace_fit.hpp"

#include <algorithm>
#include <cmath>
#include <span>
#include <utility>

#include <fmt/format.h>

#include "sim/base/check.hpp"
#include "sim/core/stats.hpp"
#include "workloads/sessions/law_fits.hpp"
#include "workloads/sessions/session_source.hpp"
#include "workloads/sessions/trace_sessions.hpp"
#include "workloads/trace/lru_curve.hpp"

namespace tiersim {
namespace {

constexpr std::int64_t kLeastRequests = 30;

// What the laws are fitted to, and what two traces are compared by.
struct Sample {
  std::vector<double> start_gaps = {};  // s, between sessions, or between requests without any
  std::vector<double> gaps = {};        // s, between requests
  std::vector<std::int64_t> input = {};
  std::vector<std::int64_t> output = {};
  // Of sessions.
  std::vector<std::int64_t> turns = {};
  std::vector<std::int64_t> first = {};
  std::vector<std::int64_t> added = {};
  std::vector<Duration> pauses = {};
};

class Sampler {
 public:
  Sampler(const RequestTrace& trace, const TraceFitOptions& options)
      : trace_(trace), options_(options) {}

  // Of the sessions from `begin` to `end`, or of the requests where nothing names blocks.
  Sample of(const TracedSessions* found, std::size_t begin, std::size_t end) const {
    Sample out;
    std::vector<std::size_t> requests;
    std::vector<SimTime> starts;
    for (std::size_t s = begin; s < end; ++s) {
      if (found == nullptr) {
        requests.push_back(s);
        continue;
      }
      const TracedSession& session = found->sessions[s];
      starts.push_back(trace_.requests[session.turns.front().request].arrival);
      out.turns.push_back(std::ssize(session.turns));
      for (const TracedTurn& turn : session.turns) {
        requests.push_back(turn.request);
        add_turn(*found, session, turn, out);
      }
    }
    std::vector<SimTime> arrivals;
    for (const std::size_t r : requests) {
      arrivals.push_back(trace_.requests[r].arrival);
      out.input.push_back(trace_.requests[r].input_tokens);
      out.output.push_back(trace_.requests[r].output_tokens);
    }
    out.gaps = gaps_of(arrivals);
    out.start_gaps = found == nullptr ? out.gaps : gaps_of(starts);
    return out;
  }

 private:
  static std::vector<double> gaps_of(std::vector<SimTime> times) {
    std::ranges::sort(times);
    std::vector<double> out;
    for (std::size_t i = 1; i < times.size(); ++i)
      out.push_back(to_seconds(times[i] - times[i - 1]));
    return out;
  }

  void add_turn(const TracedSessions& found, const TracedSession& session, const TracedTurn& turn,
                Sample& out) const {
    const TraceRequest& request = trace_.requests[turn.request];
    if (!turn.before) {
      // A session that is alone in its group shares a prompt whose end nobody knows.
      if (!session.group && !found.group_tokens.empty()) return;
      const std::int64_t shared =
          found.system_prompt +
          (session.group ? found.group_tokens[static_cast<std::size_t>(*session.group)] : 0);
      out.first.push_back(std::max<std::int64_t>(1, request.input_tokens - shared));
      return;
    }
    const TraceRequest& before = trace_.requests[*turn.before];
    out.added.push_back(std::max<std::int64_t>(
        1, request.input_tokens - before.input_tokens - before.output_tokens));
    out.pauses.push_back(std::max(
        Duration{}, request.arrival - (before.arrival + options_.answer.of(before.output_tokens))));
  }

  const RequestTrace& trace_;
  const TraceFitOptions& options_;
};

ArrivalConfig fit_arrivals(std::span<const double> gaps) {
  Tally tally;
  for (const double gap : gaps) tally.add(gap);
  if (gaps.empty() || tally.mean() <= 0) return {.process = ArrivalProcess::at_once};
  const double variation = std::sqrt(tally.variance()) / tally.mean();
  const bool poisson = std::abs(variation - 1) <= 3 / std::sqrt(static_cast<double>(gaps.size()));
  return {.process = poisson ? ArrivalProcess::poisson : ArrivalProcess::gamma,
          .requests_per_s = 1 / tally.mean(),
          .variation = poisson ? 1 : std::clamp(variation, 0.01, 100.0)};
}

SessionConfig fit_sessions(const Sample& sample, const TracedSessions& found, std::int64_t count) {
  SessionConfig out{.count = count, .turns = fit_count(sample.turns)};
  out.system_prompt = found.system_prompt;
  if (!found.group_tokens.empty()) {
    std::vector<std::int64_t> sizes = found.group_sessions;
    for (const TracedSession& session : found.sessions)
      if (!session.group) sizes.push_back(1);
    out.groups = {.count = std::ssize(sizes),
                  .zipf = fit_zipf(sizes),
                  .prompt = fit_length(found.group_tokens)};
  }
  out.first_prompt = sample.first.empty() ? LengthConfig{.tokens = 1} : fit_length(sample.first);
  if (sample.added.empty()) return out;
  out.message = fit_length(sample.added);
  out.think_time = fit_pause(sample.pauses);
  return out;
}

WorkloadConfig fit_workload(const Sample& sample, const TracedSessions* found, std::int64_t count,
                            std::int64_t block) {
  WorkloadConfig out{.arrivals = fit_arrivals(sample.start_gaps),
                     .output = fit_length(sample.output)};
  if (found == nullptr) {
    out.requests = count;
    out.input = fit_length(sample.input);
    return out;
  }
  out.prefix_block = block;
  out.sessions = fit_sessions(sample, *found, count);
  return out;
}

// A trace of the workload, whose prompts name their whole blocks.
RequestTrace made_trace(const WorkloadConfig& workload, const TraceFitOptions& options) {
  auto source = make_request_source(workload, options.seed);
  TS_ENSURES(source.has_value());
  RequestTrace out;
  const std::int64_t all = request_count(workload, options.seed);
  replay(**source, options.answer, all, [&](const Request& request) {
    const auto whole = std::min(request.prefix.size(),
                                static_cast<std::size_t>(request.input_tokens / options.block));
    out.requests.push_back({.arrival = request.arrival,
                            .input_tokens = static_cast<std::int32_t>(request.input_tokens),
                            .output_tokens = static_cast<std::int32_t>(request.output_tokens),
                            .prefix_size = static_cast<std::int32_t>(whole),
                            .prefix_begin = out.names.size()});
    out.names.insert(out.names.end(), request.prefix.begin(),
                     request.prefix.begin() + static_cast<std::ptrdiff_t>(whole));
  });
  return out;
}

std::vector<double> numbers(std::span<const std::int64_t> values) {
  return {values.begin(), values.end()};
}
std::vector<double> seconds(std::span<const Duration> values) {
  std::vector<double> out;
  for (const Duration value : values) out.push_back(to_seconds(value));
  return out;
}

std::vector<FitDistance> compare(const Sample& seen, const Sample& made, bool with_sessions) {
  std::vector<FitDistance> out;
  const auto add = [&](const char* quantity, std::vector<double> a, std::vector<double> b) {
    if (a.empty() || b.empty()) return;
    const double chance = ks_chance(a.size(), b.size());
    const auto count = std::ssize(a);
    out.push_back({quantity, ks_distance(std::move(a), std::move(b)), chance, count});
  };
  add("input tokens", numbers(seen.input), numbers(made.input));
  add("output tokens", numbers(seen.output), numbers(made.output));
  add("gaps between requests", seen.gaps, made.gaps);
  if (!with_sessions) return out;
  add("gaps between sessions", seen.start_gaps, made.start_gaps);
  add("turns of a session", numbers(seen.turns), numbers(made.turns));
  add("own tokens of a first prompt", numbers(seen.first), numbers(made.first));
  add("new tokens of a later turn", numbers(seen.added), numbers(made.added));
  add("pauses", seconds(seen.pauses), seconds(made.pauses));
  return out;
}

LruCurve curve_of(const RequestTrace& trace) {
  LruCurve out;
  for (const TraceRequest& request : trace.requests) out.look_up(trace.prefix(request));
  return out;
}

std::vector<FitHitRate> hit_rates_of(const LruCurve& a, const LruCurve& b) {
  std::vector<FitHitRate> out;
  const std::int64_t most = std::max(a.distinct(), b.distinct());
  for (std::int64_t blocks = 1; blocks < 2 * most; blocks *= 2) {
    const std::int64_t capacity = std::min(blocks, most);
    out.push_back({capacity, a.at(capacity).rate, b.at(capacity).rate});
  }
  return out;
}

double largest_difference(const std::vector<FitHitRate>& rates) {
  double out = 0;
  for (const FitHitRate& each : rates) out = std::max(out, std::abs(each.trace - each.made));
  return out;
}

void compare_hit_rates(const RequestTrace& seen, const TraceFitOptions& options, TraceFit& out) {
  std::vector<LruCurve> made;
  for (std::uint64_t more = 0; more < 3; ++more) {
    TraceFitOptions other = options;
    other.seed += more;
    made.push_back(curve_of(made_trace(out.workload, other)));
  }
  out.hit_rates = hit_rates_of(curve_of(seen), made[0]);
  out.hit_rate_difference = largest_difference(out.hit_rates);
  for (const auto& [i, j] : {std::pair(0U, 1U), std::pair(0U, 2U), std::pair(1U, 2U)})
    out.hit_rate_chance =
        std::max(out.hit_rate_chance, largest_difference(hit_rates_of(made[i], made[j])));
}

// The requests of the first sessions alone: what is found in them comes from no later one.
RequestTrace first_sessions(const RequestTrace& trace, const TracedSessions& found,
                            std::size_t count) {
  std::vector<std::size_t> requests;
  for (std::size_t k = 0; k < count; ++k)
    for (const TracedTurn& turn : found.sessions[k].turns) requests.push_back(turn.request);
  std::ranges::sort(requests);
  RequestTrace out;
  for (const std::size_t request : requests) {
    const auto names = trace.prefix(trace.requests[request]);
    TraceRequest one = trace.requests[request];
    one.prefix_begin = out.names.size();
    out.requests.push_back(one);
    out.names.insert(out.names.end(), names.begin(), names.end());
  }
  return out;
}

// Notes sessions that are longer than a law can give.
void add_limited_turns(const Sample& seen, TraceFit& out) {
  const auto longer =
      std::ranges::count_if(seen.turns, [](std::int64_t turns) { return turns > kMostTurns; });
  if (longer == 0) return;
  out.limited.push_back(
      fmt::format("{} sessions have more turns than {}, up to {}, and count as so "
                  "long",
                  longer, kMostTurns, std::ranges::max(seen.turns)));
}

// The laws of a trace whose prompts name their blocks.
WorkloadConfig fit_of(const RequestTrace& trace, const TraceFitOptions& options) {
  const TracedSessions found = sessions_in(trace, options.block);
  const std::size_t count = found.sessions.size();
  return fit_workload(Sampler(trace, options).of(&found, 0, count), &found,
                      static_cast<std::int64_t>(count), options.block);
}

TraceFit fit(const RequestTrace& trace, const TraceFitOptions& options) {
  TraceFit out{.requests = std::ssize(trace.requests)};
  const bool named = !trace.names.empty();
  const TracedSessions sessions = named ? sessions_in(trace, options.block) : TracedSessions{};
  const TracedSessions* found = named ? &sessions : nullptr;
  const std::size_t count = named ? sessions.sessions.size() : trace.requests.size();
  if (named) out.sessions = static_cast<std::int64_t>(count);
  const Sampler sampler(trace, options);
  const Sample seen = sampler.of(found, 0, count);
  const auto fitted = [&](const Sample& sample, std::size_t of) {
    return fit_workload(sample, found, static_cast<std::int64_t>(of), options.block);
  };
  add_limited_turns(seen, out);
  // A trace that the workload makes, seen by the same eyes.
  const auto sample_made = [&](const RequestTrace& made) {
    const TracedSessions in_made = named ? sessions_in(made, options.block) : TracedSessions{};
    return Sampler(made, options)
        .of(named ? &in_made : nullptr, 0, named ? in_made.sessions.size() : made.requests.size());
  };
  out.workload = fitted(seen, count);
  for (std::string& cut : cut_to_limits(out.workload)) out.limited.push_back(std::move(cut));
  const RequestTrace made = made_trace(out.workload, options);
  out.distances = compare(seen, sample_made(made), named);
  if (named) compare_hit_rates(trace, options, out);
  const std::size_t part = count * 2 / 3;
  if (part < 2 || count - part < 2) return out;
  WorkloadConfig of_part = named ? fit_of(first_sessions(trace, sessions, part), options)
                                 : fitted(sampler.of(found, 0, part), part);
  cut_to_limits(of_part);
  out.held_out =
      compare(sampler.of(found, part, count), sample_made(made_trace(of_part, options)), named);
  return out;
}

}  // namespace

std::vector<std::string> cut_to_limits(WorkloadConfig& workload) {
  std::vector<std::string> out;
  const auto cut = [&](const char* key, std::int64_t& value, std::int64_t most) {
    if (value <= most) return;
    out.push_back(fmt::format("{} is {}, of {}", key, most, value));
    value = most;
  };
  if (!workload.sessions) return out;
  SessionConfig& sessions = *workload.sessions;
  if (sessions.groups) cut("sessions.groups.count", sessions.groups->count, kMostSessionGroups);
  const auto by_requests = static_cast<std::int64_t>(kMostRequests / mean_requests(sessions));
  cut("sessions.count", sessions.count, std::clamp<std::int64_t>(by_requests, 1, kMostSessions));
  return out;
}

Expected<TraceFit, TraceProblems> fit_trace(const std::filesystem::path& path,
                                            const std::optional<TraceFormat>& format,
                                            const TraceFitOptions& options) {
  const auto trace = parse_request_trace(path.string(), TraceLines(path), format);
  if (!trace) return Unexpected(trace.error());
  if (!trace->timed) {
    TraceMistakes mistakes(path.string());
    mistakes.report({1, ""}, 1, "does not say when its sessions begin, so no rate can be fitted",
                    "`tiersim trace make` writes a trace with times of a serving file that replays "
                    "this one by `arrivals`");
    return Unexpected(std::move(mistakes).take());
  }
  if (std::ssize(trace->requests) < kLeastRequests) {
    TraceMistakes mistakes(path.string());
    mistakes.report({1, ""}, 1,
                    fmt::format("has {} requests, too few for a fit", trace->requests.size()),
                    fmt::format("at least {}", kLeastRequests));
    return Unexpected(std::move(mistakes).take());
  }
  for (const TraceRequest& request : trace->requests) {
    // A fitted session has room for what all share, the longest prompt and the longest answer.
    constexpr std::int64_t kLongest = kMostTokens / 4;
    if (const std::int64_t tokens = std::int64_t{request.input_tokens} + request.output_tokens;
        tokens > kLongest) {
      TraceMistakes mistakes(path.string());
      mistakes.report({request.line, ""}, 1,
                      fmt::format("has {} tokens, too many for a fit", tokens),
                      fmt::format("at most {} of prompt and answer", kLongest));
      return Unexpected(std::move(mistakes).take());
    }
    const std::int64_t blocks = (request.input_tokens + options.block - 1) / options.block;
    if (request.prefix_size <= blocks) continue;
    TraceMistakes mistakes(path.string());
    mistakes.report({request.line, ""}, 1,
                    fmt::format("hash_ids has {} blocks, and a prompt of {} tokens has {} of {}",
                                request.prefix_size, request.input_tokens, blocks, options.block),
                    "a named block has fewer tokens than --block says");
    return Unexpected(std::move(mistakes).take());
  }
  return fit(*trace, options);
}

}  // namespace tiersim
