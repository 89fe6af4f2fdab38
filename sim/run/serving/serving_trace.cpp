#include "sim/run/serving/serving_trace.hpp"

#include <fmt/format.h>

namespace tiersim {
namespace {

// "17: 512 from 1024": the first few pieces of prompts.
std::string pieces_text(const Iteration& iteration) {
  constexpr std::size_t kShown = 4;
  std::string text;
  for (std::size_t i = 0; i < iteration.pieces.size() && i < kShown; ++i) {
    const Iteration::Piece& piece = iteration.pieces[i];
    text += fmt::format("{}{}: {} from {}", i == 0 ? "" : ", ", piece.sequence->request.id,
                        piece.tokens, piece.sequence->cached);
  }
  if (iteration.pieces.size() > kShown)
    text += fmt::format(" and {} more", iteration.pieces.size() - kShown);
  return text;
}

std::string iteration_name(const IterationSample& sample) {
  std::string text;
  if (sample.decodes > 0) text = fmt::format("decode {}", sample.decodes);
  if (sample.prompt_tokens > 0)
    text += fmt::format("{}prefill {}", text.empty() ? "" : ", ", sample.prompt_tokens);
  return text.empty() ? "padding" : text;
}

}  // namespace

ServingTrace::ServingTrace(ServingTraceRequest& request, ServingObserver& next,
                           const System& system, const ServingHardware& hardware,
                           std::int64_t replicas, const std::string& name,
                           const std::string& run_id)
    : request_(request),
      next_(next),
      writer_(request.sink, {{"run_id of " + name, run_id}}),
      channels_(system, hardware, writer_, name + ": links and tiers") {
  for (std::int64_t r = 0; r < replicas; ++r) {
    const int process = writer_.add_process(fmt::format("{}: replica {}", name, r));
    const TraceTrack iterations = writer_.add_track(process, "iterations");
    replicas_.push_back(
        std::make_unique<Replica>(Replica{.process = process,
                                          .iterations = iterations,
                                          .copies = TraceLanes(writer_, process, "copies"),
                                          .requests = RequestTracks(writer_, process)}));
  }
}

void ServingTrace::on_arrival(SimTime now) {
  if (request_.cut) ++request_.requests_left_out;
  next_.on_arrival(now);
}

void ServingTrace::on_submit(std::int64_t replica, SimTime now, const Sequence& sequence) {
  if (!request_.cut) at(replica).requests.on_submit(now, sequence);
  next_.on_submit(replica, now, sequence);
}

void ServingTrace::on_plan(std::int64_t replica, SimTime now,
                           std::span<const Sequence* const> running) {
  if (!request_.cut) at(replica).requests.on_plan(now, running);
  next_.on_plan(replica, now, running);
}

void ServingTrace::on_work(const IterationSample& sample, const Iteration& iteration) {
  next_.on_work(sample, iteration);
  if (request_.cut) {
    ++request_.iterations_left_out;
    return;
  }
  Replica& replica = at(sample.replica);
  const std::string pieces = pieces_text(iteration);
  writer_.slice(replica.iterations, "iteration", iteration_name(sample), sample.begin, sample.end,
                {{"decodes", sample.decodes},
                 {"prompt_tokens", sample.prompt_tokens},
                 {"pieces", std::string_view(pieces)},
                 {"layers", sample.layers},
                 {"before_gpu_us", sample.gpu - sample.begin}});
  for (const auto& [sequence, tokens, executed] : iteration.pieces)
    if (sequence->generated == 0 && sequence->cached + tokens == sequence->prompt)
      replica.requests.add_arrow(sequence->request.id, "first token", replica.iterations,
                                 sample.begin);
}

void ServingTrace::on_iteration(const IterationSample& sample) {
  next_.on_iteration(sample);
  if (request_.cut) return;
  Replica& replica = at(sample.replica);
  const auto show = [&](const char* name, const char* key, std::int64_t& shown,
                        std::int64_t value) {
    if (shown != value) writer_.counter(replica.process, name, sample.end, {{key, value}});
    shown = value;
  };
  show("requests", "running", replica.running, sample.running);
  show("requests", "waiting", replica.waiting, sample.waiting);
  show("KV blocks", "used", replica.blocks, sample.blocks_used);
  channels_.sample(sample.end);
  if (writer_.events() >= request_.most_events) cut(sample.end);
}

void ServingTrace::on_move(const MoveSample& sample) {
  next_.on_move(sample);
  if (request_.cut) return;
  Replica& replica = at(sample.replica);
  const std::string_view name = kMoveKindNames[static_cast<std::size_t>(sample.move.kind)];
  const TraceTrack track = replica.copies.take(sample.begin, sample.end);
  writer_.slice(track, "copy", name, sample.begin, sample.end,
                {{"request", sample.request},
                 {"blocks", sample.move.blocks},
                 {"bytes", sample.bytes.in_base()},
                 {"from_level", sample.move.from},
                 {"to_level", sample.move.to}});
  replica.requests.add_arrow(sample.request, "copy", track, sample.begin);
}

void ServingTrace::on_hand_over(std::int64_t replica, SimTime now, const Sequence& sequence) {
  if (!request_.cut) at(replica).requests.leave(now, sequence.request.id);
  next_.on_hand_over(replica, now, sequence);
}

void ServingTrace::on_finish(const RequestOutcome& outcome) {
  if (!request_.cut)
    for (const auto& replica : replicas_) replica->requests.leave(outcome.finished, outcome.id);
  next_.on_finish(outcome);
}

void ServingTrace::cut(SimTime now) {
  for (const auto& replica : replicas_) replica->requests.cut(now);
  channels_.close(now);
  request_.cut = now;
}

void ServingTrace::finish(SimTime now) {
  if (!request_.cut) channels_.close(now);
  request_.events = writer_.events();
  writer_.finish(request_.iterations_left_out + request_.requests_left_out);
}

}  // namespace tiersim
