#include "workloads/serving/workload_config.hpp"

#include <algorithm>
#include <cstddef>

#include <fmt/format.h>

namespace tiersim {
namespace {

// The enumerator of this name, which must exist.
template <class Enum, std::size_t N>
Enum enumerator(const std::array<std::string_view, N>& names, std::string_view name) {
  const auto at = std::ranges::find(names, name);
  TS_EXPECTS(at != names.end(), name);
  return static_cast<Enum>(at - names.begin());
}

template <class Enum, std::size_t N>
std::string spelled(const std::array<std::string_view, N>& names, Enum value) {
  return std::string(names[static_cast<std::size_t>(value)]);
}

void describe_process(Fields& f, ArrivalProcess process, ArrivalConfig& c) {
  if (process == ArrivalProcess::at_once) return;
  if (process == ArrivalProcess::closed_loop) {
    f.required("users", c.users, "Users, each with one request at a time.", in_range(1, 1'000'000));
    f.optional("think_time", c.think_time,
               "Mean time from an answer to the user's next request, exponentially distributed.",
               at_least(Duration{0}));
    f.optional("ramp_up", c.ramp_up, "Time over which the users begin, evenly.",
               at_least(Duration{0}));
    return;
  }
  f.required("requests_per_s", c.requests_per_s, "Mean rate of arrivals.", in_range(1e-6, 1e9));
  f.optional("max_in_flight", c.max_in_flight,
             "Requests without an answer beyond which the client waits before it sends the next "
             "one, whose times count from then.",
             in_range(1, 1'000'000));
  if (process == ArrivalProcess::gamma)
    f.required("variation", c.variation,
               "Standard deviation of the gaps over their mean; bursty above 1.",
               in_range(0.01, 100.0));
}

void describe_lengths(Fields& f, LengthDistribution distribution, LengthConfig& c) {
  const bool fixed = distribution == LengthDistribution::fixed;
  const bool lognormal = distribution == LengthDistribution::lognormal;
  if (fixed || lognormal)
    f.required("tokens", c.tokens, fixed ? "Tokens of each." : "Median, tokens.",
               in_range(1, kMostTokens));
  if (fixed) return;
  if (lognormal)
    f.required("sigma", c.sigma, "Standard deviation of the logarithm.", in_range(0.0, 10.0));
  constexpr std::string_view kLow = "Fewest tokens; what is drawn below becomes this.";
  if (lognormal)
    f.optional("min", c.min, kLow, in_range(1, kMostTokens));
  else
    f.required("min", c.min, "Fewest tokens.", in_range(1, kMostTokens));
  f.required("max", c.max,
             lognormal ? "Most tokens; what is drawn above becomes this." : "Most tokens.",
             in_range(1, kMostTokens));
  f.check(c.min <= c.max, "max", fmt::format("is below the fewest, {}", c.min), "raise it");
  f.check(!lognormal || c.min > c.max || (c.min <= c.tokens && c.tokens <= c.max), "tokens",
          fmt::format("is outside {} to {}", c.min, c.max), "the median lies in the range");
}

std::int64_t left_of(const TraceConfig& trace) {
  return std::max<std::int64_t>(0, trace.requests.value - trace.skip);
}

void check_made_up(Fields& f, const WorkloadConfig& c) {
  constexpr std::string_view kHint = "give it, or a trace of requests by `trace: PATH`";
  f.check(c.requests > 0, "requests", "must be at least 1", kHint);
  f.check(c.arrivals.has_value(), "arrivals", "is missing, so no request has a time", kHint);
  f.check(c.input.has_value(), "input", "is missing, so no prompt has a length", kHint);
  f.check(c.output.has_value(), "output", "is missing, so no answer has a length", kHint);
  f.check(c.prefix_block == WorkloadConfig{}.prefix_block, "prefix_block",
          "has a meaning for traces only", "leave it out; these prompts share no prefix");
}

void check_trace(Fields& f, const WorkloadConfig& c) {
  constexpr std::string_view kMessage = "cannot stand beside a trace";
  constexpr std::string_view kHint = "the trace says it; take one of the two out";
  f.check(!c.arrivals, "arrivals", kMessage, kHint);
  f.check(!c.input, "input", kMessage, kHint);
  f.check(!c.output, "output", kMessage, kHint);
  f.check(left_of(*c.trace) > 0, "replay.skip", "leaves no request",
          fmt::format("the trace has {}", c.trace->requests.value));
  f.check(left_of(*c.trace) == 0 || c.requests <= left_of(*c.trace), "requests",
          fmt::format("is above the {} that the trace has{}", left_of(*c.trace),
                      c.trace->skip > 0 ? " after replay.skip" : ""),
          "lower it, or leave it out for all");
}

}  // namespace

void describe(Fields& f, ArrivalConfig& c) {
  f.doc("When requests come.");
  std::string process = spelled(kArrivalProcessNames, c.process);
  f.select("process", process,
           {{"at_once", "all at time 0"},
            {"closed_loop", "users who send the next request after the answer"},
            {"fixed_rate", "equal gaps"},
            {"poisson", "exponential gaps"},
            {"gamma", "gaps of a stated variation"}},
           [&](const std::string& chosen, Fields& fields) {
             describe_process(fields, enumerator<ArrivalProcess>(kArrivalProcessNames, chosen), c);
           });
  c.process = enumerator<ArrivalProcess>(kArrivalProcessNames, process);
}

void describe(Fields& f, LengthConfig& c) {
  f.doc("How many tokens.");
  std::string distribution = spelled(kLengthDistributionNames, c.distribution);
  f.select("distribution", distribution,
           {{"fixed", "all alike"},
            {"uniform", "each number of a range equally often"},
            {"lognormal", "a median and the spread of the logarithm, cut to a range"}},
           [&](const std::string& chosen, Fields& fields) {
             describe_lengths(fields,
                              enumerator<LengthDistribution>(kLengthDistributionNames, chosen), c);
           });
  c.distribution = enumerator<LengthDistribution>(kLengthDistributionNames, distribution);
}

void describe(Fields& f, TraceConfig& c) {
  f.doc("How a trace is replayed; which one is said by `trace: PATH` beside this mapping.");
  f.optional("requests", c.requests,
             "Requests in the file, whose path is the source; `trace` gives it.", at_least(1));
  f.optional("sha256", c.digest, "SHA-256 of the file; `trace` gives it.");
  f.optional("speed", c.speed, "Arrivals come so much faster than they were recorded.",
             in_range(1e-3, 1e6));
  f.optional("skip", c.skip, "Requests left out at the start.", at_least(0));
  f.optional("format", c.format, "Form of a trace of one's own; `trace` gives it.");
  f.check(!c.digest.empty() && c.requests.value > 0, "requests",
          "is missing: there is no trace to replay", "name one by `trace: PATH` beside `replay`");
}

void describe(Fields& f, WorkloadConfig& c) {
  f.doc("The requests: an arrival process with lengths, or a trace.");
  f.importable_file("trace",
                    "Trace of requests: Azure LLM inference 2023 (CSV), Mooncake (JSON lines), or "
                    "any CSV or JSON lines whose columns are named; packed by gzip or not.",
                    [](Fields& file) {
                      std::string name;
                      TraceFormat format;
                      file.required("file", name, "The file.");
                      describe(file, format);
                    });
  f.optional("replay", c.trace, "How the trace is replayed.");
  f.optional("requests", c.requests, "How many; of a trace 0 for all that are left.",
             in_range(0, 10'000'000));
  f.optional("arrivals", c.arrivals, "When they come.");
  f.optional("input", c.input, "Tokens of the prompts.");
  f.optional("output", c.output, "Tokens of the answers.");
  f.optional("prefix_block", c.prefix_block,
             "Tokens of a block of the prompt that a trace has one name for.",
             in_range(1, 1'000'000));
  if (c.trace)
    check_trace(f, c);
  else
    check_made_up(f, c);
}

std::int64_t request_count(const WorkloadConfig& config) {
  if (config.requests > 0 || !config.trace) return config.requests;
  return left_of(*config.trace);
}

}  // namespace tiersim
