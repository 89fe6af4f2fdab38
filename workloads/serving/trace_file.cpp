#include "workloads/serving/trace_file.hpp"

#include <algorithm>
#include <limits>
#include <system_error>
#include <utility>

#include <fmt/format.h>

#include "sim/config/describe.hpp"
#include "sim/config/json_text.hpp"

namespace tiersim {
namespace {

// The mapping of `trace` that describes a file.
struct TraceFileConfig {
  std::string file;
  TraceFormat format;
};
void describe(Fields& f, TraceFileConfig& c) {
  f.required("file", c.file, "The file.");
  describe(f, c.format);
}
struct TraceKeyConfig {
  TraceFileConfig trace;
};
void describe(Fields& f, TraceKeyConfig& c) {
  f.doc("");
  f.required("trace", c.trace, "A trace.");
}

// The form that a mapping describes; none for one with mistakes, which are reported.
std::optional<TraceFormat> read_format(const Node& described, Diagnostics& diagnostics) {
  Node root;
  root.kind = NodeKind::mapping;
  root.origin = described.origin;
  root.entries = {{{.key = "trace", .key_origin = described.origin, .value = described}}};
  Diagnostics own;
  auto config = read<TraceKeyConfig>(Document(std::move(root)), "", own);
  for (Diagnostic& diagnostic : own.list()) diagnostics.report(std::move(diagnostic));
  if (!own.ok()) return std::nullopt;
  return std::move(config.trace.format);
}

std::string format_text(const std::optional<TraceFormat>& format) {
  if (!format) return "";
  const TraceColumns& columns = format->columns;
  std::string of_sessions;
  const auto add = [&](const char* key, const std::string& column) {
    if (!column.empty()) of_sessions += fmt::format(", {}: {}", key, detail::json_string(column));
  };
  add("session", columns.session);
  add("end", columns.end);
  add("pause", columns.pause);
  return fmt::format(
      ", format: {{columns: {{arrival: {}, input: {}, output: {}{}}}{}}}",
      detail::json_string(columns.arrival), detail::json_string(columns.input),
      detail::json_string(columns.output), of_sessions,
      format->time
          ? fmt::format(", time: {}", kTraceTimeNames[static_cast<std::size_t>(*format->time)])
          : "");
}

// Counts the turns of sessions. A later turn must have a pause, or the one before it an end, and a
// prompt that grows by what its turns add has a limit as every prompt has.
class TurnChecks {
 public:
  // True for the first request of a session, and for one that names none.
  bool begins(const RecordedRequest& request, TraceMistakes& mistakes) {
    if (!request.session) {
      ++alone_;
      return true;
    }
    const bool first = ++turns_[*request.session] == 1;
    bool& has_end = ends_[*request.session];  // of the turn before
    if (!first && !request.pause && !has_end)
      mistakes.report({request.line, ""}, 1, "is a later turn of its session without a pause",
                      "it has one of its own, or the turn before has an end");
    has_end = request.end.has_value();
    if (request.adds) grow(request, mistakes);
    return first;
  }
  bool any() const { return !turns_.empty(); }
  std::int64_t sessions() const { return alone_ + std::ssize(turns_); }
  TracedTurns take() && { return std::move(turns_); }

 private:
  // The first prompt of a session that is too long is reported, and not those after it.
  void grow(const RecordedRequest& request, TraceMistakes& mistakes) {
    std::int64_t& tokens = grown_[*request.session];
    const std::int64_t prompt = tokens + request.input_tokens;
    if (tokens <= kMostTokens && prompt > kMostTokens)
      mistakes.report({request.line, ""}, 1,
                      fmt::format("makes a prompt of {} tokens with the turns before it", prompt),
                      fmt::format("at most {} of a session", kMostTokens));
    tokens = prompt + request.output_tokens;
  }

  TracedTurns turns_;
  std::unordered_map<std::uint64_t, std::int64_t> grown_;  // tokens that turns have added
  std::unordered_map<std::uint64_t, bool> ends_;
  std::int64_t alone_ = 0;
};

std::string absolute_name(const std::filesystem::path& path) {
  std::error_code error;
  const std::filesystem::path all = std::filesystem::absolute(path, error).lexically_normal();
  return (error ? path : all).string();
}

}  // namespace

Expected<TraceSummary, TraceProblems> read_trace(
    const std::string& file, TraceLines lines, const std::optional<TraceFormat>& format,
    const std::function<void(const RecordedRequest&)>& each) {
  TraceMistakes mistakes(file);
  TraceReader reader(std::move(lines), format, mistakes);
  TraceSummary out;
  RecordedRequest request;
  Int128 before = 0;
  Int128 last = 0;
  std::int64_t last_line = 0;
  std::int64_t disorder = 0;  // first line that comes too late
  TurnChecks turns;
  while (reader.next(request)) {
    if (out.requests == 0) out.first = last = before = request.time;
    if (turns.begins(request, mistakes)) {
      if (out.in_order && request.time < before) {
        out.in_order = false;
        disorder = request.line;
      }
      before = request.time;
    }
    out.first = std::min(out.first, request.time);
    if (request.time > last || out.requests == 0) {
      last = request.time;
      last_line = request.line;
    }
    ++out.requests;
    out.timed = out.timed && request.is_timed;
    if (out.block == 0) out.block = request.block;
    if (request.block != out.block)
      mistakes.report({request.line, ""}, 1,
                      fmt::format("has blocks of {} tokens, and lines before have {}",
                                  request.block, out.block),
                      "one size for all; two files for two sizes");
    if (each) each(request);
  }
  if (!reader.error().empty()) mistakes.report({1, ""}, 1, reader.error());
  if (!mistakes.any() && out.requests == 0) mistakes.report({1, ""}, 1, "there is no request");
  if (!mistakes.any() && last - out.first > std::numeric_limits<std::int64_t>::max())
    mistakes.report({last_line, ""}, 1, "comes more than 106 days after the first request",
                    format ? "simulated time ends there; cut the trace, or name the unit of its "
                             "times: `time: ms` beside `columns`"
                           : "simulated time ends there; cut the trace");
  if (mistakes.any()) return Unexpected(std::move(mistakes).take());
  if (turns.any() && !out.in_order)
    mistakes.report({disorder, ""}, 1, "sessions do not begin in the order of the file",
                    "sort the lines by time of arrival");
  if (mistakes.any()) return Unexpected(std::move(mistakes).take());
  if (turns.any()) out.sessions = turns.sessions();
  out.turns = std::move(turns).take();
  out.digest = reader.digest();
  out.left_out = reader.left_out();
  return out;
}

Expected<RequestTrace, TraceProblems> parse_request_trace(
    const std::string& file, TraceLines lines, const std::optional<TraceFormat>& format) {
  RequestTrace trace;
  std::vector<Int128> times;
  std::int64_t adds = 0;  // first line of a turn that states what it adds
  const auto summary = read_trace(file, std::move(lines), format, [&](const RecordedRequest& one) {
    if (one.adds && adds == 0) adds = one.line;
    times.push_back(one.time);
    trace.requests.push_back({.input_tokens = static_cast<std::int32_t>(one.input_tokens),
                              .output_tokens = static_cast<std::int32_t>(one.output_tokens),
                              .line = one.line,
                              .prefix_size = static_cast<std::int32_t>(one.prefix.size()),
                              .prefix_begin = trace.names.size()});
    trace.names.insert(trace.names.end(), one.prefix.begin(), one.prefix.end());
  });
  if (!summary) return Unexpected(summary.error());
  if (adds > 0) {
    TraceMistakes mistakes(file);
    mistakes.report({adds, ""}, 1, "has the tokens that a turn adds, not those of its prompt",
                    "`tiersim trace make` writes the whole prompts of a serving file that replays "
                    "this trace");
    return Unexpected(std::move(mistakes).take());
  }
  for (std::size_t i = 0; i < times.size(); ++i)
    trace.requests[i].arrival =
        SimTime(Duration(static_cast<std::int64_t>(times[i] - summary->first)));
  trace.timed = summary->timed;
  std::ranges::stable_sort(trace.requests, {}, &TraceRequest::arrival);
  return trace;
}

std::optional<std::string> import_request_trace(const std::filesystem::path& path,
                                                const Node* described, Diagnostics& diagnostics) {
  std::optional<TraceFormat> format;
  if (described != nullptr) {
    format = read_format(*described, diagnostics);
    if (!format) return std::nullopt;
  }
  const auto summary = read_trace(path.string(), TraceLines(path), format);
  if (summary)
    return fmt::format(
        "replay: {{requests: {{value: {}, class: measured, source: {}}}, sha256: "
        "\"{}\"{}{}{}{}}}\n{}",
        summary->requests, detail::json_string(absolute_name(path)), summary->digest,
        summary->sessions > 0 ? fmt::format(", sessions: {}", summary->sessions) : "",
        summary->timed ? "" : ", timed: false",
        summary->left_out > 0 ? fmt::format(", left_out: {}", summary->left_out) : "",
        format_text(format),
        summary->block > 0 ? fmt::format("prefix_block: {}\n", summary->block) : "");
  for (const ImportProblem& problem : summary.error())
    diagnostics.report({*problem.where, problem.message, problem.hint});
  return std::nullopt;
}

}  // namespace tiersim
