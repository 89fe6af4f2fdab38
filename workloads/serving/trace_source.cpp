// The requests of a trace as a source: read as they are replayed, or from memory where the file
// does not have them in the order of arrival.
#include <utility>

#include <fmt/format.h>

#include "sim/base/check.hpp"
#include "workloads/serving/trace_file.hpp"
#include "workloads/serving/trace_replay.hpp"
#include "workloads/sessions/traced_source.hpp"

namespace tiersim {
namespace {

class SortedTrace final : public RequestSource {
 public:
  SortedTrace(const TraceConfig& config, std::int64_t count, RequestTrace trace)
      : replay_(config),
        begin_(static_cast<std::size_t>(config.skip)),
        end_(begin_ + static_cast<std::size_t>(count)),
        at_(begin_),
        trace_(std::move(trace)) {}

  std::optional<Request> next() override {
    if (at_ == end_) return std::nullopt;
    const TraceRequest& recorded = trace_.requests[at_];
    const auto prefix = trace_.prefix(recorded);
    return Request{.id = static_cast<std::int64_t>(at_++ - begin_),
                   .arrival = replay_.at(recorded.arrival - trace_.requests[begin_].arrival),
                   .input_tokens = recorded.input_tokens,
                   .output_tokens = recorded.output_tokens,
                   .prefix = {prefix.begin(), prefix.end()}};
  }
  void after_completion(const Request&, SimTime, std::vector<Request>&) override {}

 private:
  Replay replay_;
  std::size_t begin_;
  std::size_t end_;
  std::size_t at_;
  RequestTrace trace_;
};

class StreamedTrace final : public RequestSource {
 public:
  StreamedTrace(const TraceConfig& config, std::int64_t count, TraceFileState state)
      : path_(config.requests.source),
        replay_(config),
        skip_(config.skip),
        count_(count),
        state_(state),
        mistakes_(path_),
        reader_(TraceLines(path_), config.format, mistakes_) {}

  std::optional<Request> next() override {
    if (made_ == count_) return std::nullopt;
    for (; skip_ > 0; --skip_) advance();
    advance();
    if (made_ == 0) first_ = recorded_.time;
    const Int128 since = recorded_.time - first_;
    if (since < 0) fail();
    Request out{.id = made_++,
                .arrival = replay_.at(Duration(static_cast<std::int64_t>(since))),
                .input_tokens = recorded_.input_tokens,
                .output_tokens = recorded_.output_tokens,
                .prefix = std::move(recorded_.prefix)};
    if (made_ == count_ && state_of(path_) != state_) fail();
    return out;
  }
  void after_completion(const Request&, SimTime, std::vector<Request>&) override {}

 private:
  void advance() {
    if (!reader_.next(recorded_) || mistakes_.any()) fail();
  }
  [[noreturn]] void fail() const {
    throw SourceFailure(fmt::format("the trace '{}' changed while it was replayed", path_));
  }

  std::string path_;
  Replay replay_;
  std::int64_t skip_;
  std::int64_t count_;
  TraceFileState state_;
  TraceMistakes mistakes_;
  TraceReader reader_;
  RecordedRequest recorded_;
  std::int64_t made_ = 0;
  Int128 first_ = 0;
};

// Message for a prompt with more block names than its length allows: the block size differs.
std::string prefix_mistake(const WorkloadConfig& config, const RecordedRequest& request) {
  const std::int64_t block = config.prefix_block;
  if (!request.prefix.empty() && request.block > 0 && request.block != block)
    return fmt::format("{}:{}: its named blocks have {} tokens, and workload.prefix_block is {}",
                       config.trace->requests.source, request.line, request.block, block);
  const std::int64_t blocks = (request.input_tokens + block - 1) / block;
  if (std::cmp_less_equal(request.prefix.size(), blocks)) return "";
  return fmt::format(
      "{}:{}: hash_ids has {} blocks, and a prompt of {} tokens has {} of prefix_block, {} "
      "tokens",
      config.trace->requests.source, request.line, request.prefix.size(), request.input_tokens,
      blocks, block);
}

}  // namespace

Expected<std::unique_ptr<RequestSource>> make_trace_source(const WorkloadConfig& config,
                                                           std::unique_ptr<RequestSource> starts) {
  TS_EXPECTS(config.trace.has_value());
  TS_EXPECTS(config.trace->timed == (starts == nullptr), config.trace->timed);
  const TraceConfig& trace = *config.trace;
  const std::string& path = trace.requests.source;
  const TraceFileState state = state_of(path);
  TraceLines lines(path);
  if (!lines.error().empty())
    return Unexpected(fmt::format("cannot read the trace '{}': {}", path, lines.error()));
  std::string mistake;
  const auto summary =
      read_trace(path, std::move(lines), trace.format, [&](const RecordedRequest& request) {
        if (mistake.empty()) mistake = prefix_mistake(config, request);
      });
  if (!summary || summary->digest != trace.digest)
    return Unexpected(fmt::format(
        "the trace '{}' is not the file of this configuration any more: {}, and replay.sha256 is "
        "{} (bring the file back, or load it anew by `trace: PATH`)",
        path,
        summary ? "its SHA-256 is " + summary->digest
                : fmt::format("line {} {}", summary.error().front().where->line,
                              summary.error().front().message),
        trace.digest));
  if (summary->requests != trace.requests.value)
    return Unexpected(fmt::format("the trace '{}' has {} requests, and replay.requests is {}", path,
                                  summary->requests, trace.requests.value));
  if (summary->sessions != trace.sessions)
    return Unexpected(fmt::format("the trace '{}' has {} sessions, and replay.sessions is {}", path,
                                  summary->sessions, trace.sessions));
  if (!mistake.empty()) return Unexpected(std::move(mistake));
  if (summary->left_out != trace.left_out)
    return Unexpected(
        fmt::format("the trace '{}' has {} requests without an answer, and "
                    "replay.left_out is {}",
                    path, summary->left_out, trace.left_out));
  if (summary->timed != trace.timed)
    return Unexpected(
        fmt::format("the trace '{}' {} when its sessions begin, and replay.timed is {}", path,
                    summary->timed ? "says" : "does not say", trace.timed));
  if (summary->sessions > 0)
    return make_traced_sessions(config, summary->turns, state, std::move(starts));
  const std::int64_t count = trace_requests(config);
  if (summary->in_order)
    return std::unique_ptr<RequestSource>(std::make_unique<StreamedTrace>(trace, count, state));
  auto held = parse_request_trace(path, TraceLines(path), trace.format);
  if (!held || state_of(path) != state)
    return Unexpected(fmt::format("the trace '{}' changed while it was read", path));
  return std::unique_ptr<RequestSource>(
      std::make_unique<SortedTrace>(trace, count, *std::move(held)));
}

}  // namespace tiersim
