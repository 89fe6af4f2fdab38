#include "sim/trace/request_rows.hpp"

#include <iterator>

#include <fmt/format.h>

#include "sim/base/check.hpp"

namespace tiersim {
namespace {

constexpr std::size_t kPiece = std::size_t{1} << 16U;

// Seconds as an exact decimal: "1.52".
std::string seconds_text(Duration time) {
  const std::int64_t ps = time.count();
  std::string out =
      fmt::format("{}.{:012}", ps / kPicosecondsPerSecond, ps % kPicosecondsPerSecond);
  out.erase(out.find_last_not_of('0') + 1);
  if (out.back() == '.') out.pop_back();
  return out;
}

}  // namespace

RequestRows::RequestRows(TraceSink sink, ServingListener* inner)
    : sink_(std::move(sink)), inner_(inner) {}

void RequestRows::begin(const ServedRun& run, ServingObserver& next) {
  next_ = inner_ != nullptr ? inner_ : &next;
  if (inner_ != nullptr) inner_->begin(run, next);
}

void RequestRows::on_submit(std::int64_t replica, SimTime now, const Sequence& sequence) {
  Replicas& of = replicas_[sequence.request.id];
  of.decode = replica;
  if (sequence.source < 0) of.prefill = replica;  // also where it starts again after a failure
  next_->on_submit(replica, now, sequence);
}

void RequestRows::on_finish(const RequestOutcome& outcome) {
  const auto at = replicas_.find(outcome.id);
  TS_EXPECTS(at != replicas_.end(), outcome.id);
  const SimTime arrival = outcome.arrival;
  const std::int64_t later = outcome.output_tokens - 1;  // tokens
  const double tpot =
      later == 0 ? 0
                 : to_seconds(outcome.finished - outcome.first_token) / static_cast<double>(later);
  if (rows_ == 0) begin_table(outcome.session.session >= 0);
  fmt::format_to(std::back_inserter(buffer_), "{},{},{},{},{},{},{},{},{},{},{},{}", outcome.id,
                 seconds_text(arrival.time_since_epoch()), at->second.prefill, at->second.decode,
                 outcome.input_tokens, outcome.output_tokens, outcome.cached_tokens,
                 seconds_text(outcome.started - arrival),
                 seconds_text(outcome.first_token - arrival),
                 later == 0 ? "" : fmt::format("{}", tpot),
                 seconds_text(outcome.finished - arrival), outcome.preemptions, outcome.restarts);
  if (with_sessions_)
    fmt::format_to(std::back_inserter(buffer_), ",{},{},{}", outcome.session.session,
                   outcome.session.agent, outcome.session.turn);
  fmt::format_to(std::back_inserter(buffer_), ",{}", outcome.restarts);
  buffer_ += with_sessions_ ? fmt::format(",{}\n", outcome.priority) : "\n";
  replicas_.erase(at);
  ++rows_;
  if (buffer_.size() >= kPiece) {
    sink_(buffer_);
    buffer_.clear();
  }
  next_->on_finish(outcome);
}

void RequestRows::begin_table(bool with_sessions) {
  with_sessions_ = with_sessions;
  buffer_ =
      "request,arrival_s,replica,decode_replica,input_tokens,output_tokens,cached_tokens,"
      "queue_time_s,ttft_s,tpot_s,e2e_latency_s,preemptions";
  buffer_ += with_sessions ? ",session,agent,turn,restarts,priority\n" : ",restarts\n";
}

void RequestRows::finish(SimTime now) {
  sink_(buffer_);
  buffer_.clear();
  if (inner_ != nullptr) inner_->finish(now);
}

}  // namespace tiersim
