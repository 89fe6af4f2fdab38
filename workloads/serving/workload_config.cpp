#include "workloads/serving/workload_config.hpp"

#include <algorithm>

#include <fmt/format.h>

#include "workloads/serving/law_names.hpp"
#include "workloads/sessions/session_source.hpp"

namespace tiersim {
namespace {

void describe_process(Fields& f, ArrivalProcess process, ArrivalConfig& c) {
  if (process == ArrivalProcess::at_once) return;
  if (process == ArrivalProcess::closed_loop) {
    f.required("users", c.users, "Users, each with one request, or one session, at a time.",
               in_range(1, 1'000'000));
    f.optional("think_time", c.think_time,
               "Mean time from an answer to the user's next request, or from the end of a session "
               "to the next one, exponentially distributed.",
               at_least(Duration{0}));
    f.optional("ramp_up", c.ramp_up, "Time over which the users begin, evenly.",
               at_least(Duration{0}));
    return;
  }
  f.required("requests_per_s", c.requests_per_s,
             "Mean rate of arrivals, of sessions where the workload has these.",
             in_range(1e-6, 1e9));
  f.optional("max_in_flight", c.max_in_flight,
             "Requests without an answer, or sessions under way, beyond which the client waits "
             "before it sends the next "
             "one, whose times count from then.",
             in_range(1, 1'000'000));
  if (process == ArrivalProcess::gamma)
    f.required("variation", c.variation,
               "Standard deviation of the gaps over their mean; bursty above 1.",
               in_range(0.01, 100.0));
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
          "has a meaning for traces and sessions only",
          "leave it out; these prompts share no prefix");
}

void check_sessions(Fields& f, const WorkloadConfig& c) {
  f.check(c.requests == 0, "requests", "cannot stand beside sessions",
          "take it out: sessions.count and sessions.turns say how many there are");
  f.check(!c.input, "input", "cannot stand beside sessions",
          "take it out: sessions.first_prompt and sessions.message say it");
  f.check(c.arrivals.has_value(), "arrivals", "is missing, so no session begins",
          "give it: `arrivals` is of sessions here");
  f.check(!c.sessions->ready_queue || !c.arrivals || c.arrivals->process == ArrivalProcess::at_once,
          "arrivals.process", "must be at_once beside sessions.ready_queue",
          "at_once, or leave ready_queue out");
  f.check(c.output.has_value(), "output", "is missing, so no answer has a length",
          "give it: the tokens of every answer");
  if (!c.output) return;
  const std::int64_t first =
      most_shared_tokens(*c.sessions) + most_of(c.sessions->first_prompt) + most_of(*c.output);
  f.check(first <= c.sessions->max_context, "sessions.max_context",
          fmt::format("is below the {} tokens that the first prompt of a session and its answer "
                      "may have",
                      first),
          "raise it, or lower first_prompt and output");
}

void check_trace(Fields& f, const WorkloadConfig& c) {
  constexpr std::string_view kMessage = "cannot stand beside a trace";
  constexpr std::string_view kHint = "the trace says it; take one of the two out";
  if (c.trace->timed) {
    f.check(!c.arrivals, "arrivals", kMessage, kHint);
  } else {
    f.check(c.arrivals.has_value(), "arrivals", "is missing: the trace says no time of any session",
            "give `arrivals` of sessions beside the trace; a new trace takes nothing over");
    f.check(c.trace->speed == 1, "replay.speed", "has no effect: sessions begin by `arrivals`",
            "take it out");
  }
  f.check(!c.input, "input", kMessage, kHint);
  f.check(!c.output, "output", kMessage, kHint);
  constexpr std::string_view kWhole = "cuts sessions in two, which are replayed whole";
  f.check(c.trace->sessions == 0 || c.trace->skip == 0, "replay.skip", kWhole, "take it out");
  f.check(c.trace->sessions == 0 || c.requests == 0, "requests", kWhole, "take it out");
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

void describe(Fields& f, TraceConfig& c) {
  f.doc("How a trace is replayed; which one is said by `trace: PATH` beside this mapping.");
  f.optional("requests", c.requests,
             "Requests in the file, whose path is the source; `trace` gives it.", at_least(1));
  f.optional("sha256", c.digest, "SHA-256 of the file; `trace` gives it.");
  f.optional("sessions", c.sessions, "Sessions in the file; `trace` gives it.", at_least(0));
  f.optional("timed", c.timed,
             "False: the file does not say when its sessions begin, and `arrivals` of the workload "
             "does; `trace` gives it.");
  f.optional("left_out", c.left_out,
             "Requests of the file that are not replayed, since they have no answer; `trace` gives "
             "it.",
             at_least(0));
  f.optional("speed", c.speed,
             "Arrivals, those of sessions where there are any, come so much faster than they were "
             "recorded; pauses stay as they are.",
             in_range(1e-3, 1e6));
  f.optional("max_pause", c.max_pause,
             "Longer pauses between the turns of a session take this long; as recorded by default.",
             positive());
  f.check(!c.max_pause || c.sessions > 0, "max_pause", "has no effect: the trace has no sessions",
          "take it out");
  f.optional("skip", c.skip, "Requests left out at the start.", at_least(0));
  f.optional("format", c.format, "Form of a trace of one's own; `trace` gives it.");
  f.check(!c.digest.empty() && c.requests.value > 0, "requests",
          "is missing: there is no trace to replay", "name one by `trace: PATH` beside `replay`");
}

void describe(Fields& f, WorkloadConfig& c) {
  f.doc("The requests: an arrival process with lengths, or a trace.");
  f.importable_file("trace",
                    "Trace of requests: Azure LLM inference 2023 (CSV), Mooncake or agents' "
                    "conversations (JSON lines), the result file of `vllm bench serve "
                    "--save-detailed`, or any CSV or JSON lines whose columns are named; packed by "
                    "gzip or not.",
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
  f.optional("sessions", c.sessions,
             "Sessions, whose prompts grow; `arrivals` then says when they begin.");
  f.optional("prefix_block", c.prefix_block,
             "Tokens of a block of a prompt that has one name, in a trace or in sessions.",
             in_range(1, 1'000'000));
  f.check(!c.trace || !c.sessions, "sessions", "cannot stand beside a trace",
          "the trace says it; take one of the two out");
  if (c.trace)
    check_trace(f, c);
  else if (c.sessions)
    check_sessions(f, c);
  else
    check_made_up(f, c);
}

std::int64_t session_count(const WorkloadConfig& config) {
  if (config.trace) return config.trace->sessions;
  return config.sessions ? config.sessions->count : 0;
}

std::int64_t trace_requests(const WorkloadConfig& config) {
  return config.requests > 0 ? config.requests : left_of(*config.trace);
}

std::int64_t request_count(const WorkloadConfig& config, std::uint64_t seed) {
  if (config.trace) return trace_requests(config);
  return config.sessions ? session_requests(config, seed) : config.requests;
}

}  // namespace tiersim
