#include "sim/trace/serving_trace.hpp"

#include <algorithm>

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

ServingTrace::ServingTrace(TraceSink sink, std::int64_t most_events)
    : sink_(std::move(sink)), most_events_(most_events) {}

void ServingTrace::show_kernels(const IterationKernels& kernels, std::int64_t iterations) {
  kernels_ = &kernels;
  with_kernels_ = iterations;
}

void ServingTrace::begin(const ServedRun& run, ServingObserver& next) {
  next_ = &next;
  const std::vector<std::pair<std::string, std::string>> about{
      {"run_id of " + run.name, run.run_id}};
  writer_.emplace(sink_, about);
  std::int64_t replicas = 0;
  for (const ServedPool& pool : run.pools) {
    const std::string of = pool.name.empty() ? "" : " of " + pool.name;
    channels_.push_back(std::make_unique<ChannelTrace>(pool.system, pool.hardware, *writer_,
                                                       run.name + ": links and tiers" + of));
    replicas += pool.replicas;
  }
  for (std::int64_t r = 0; r < replicas; ++r) {
    const int process = writer_->add_process(fmt::format("{}: replica {}", run.name, r));
    TraceLanes iterations(*writer_, process, "iterations");
    std::optional<TraceTrack> kernels;
    if (kernels_ != nullptr) kernels = writer_->add_track(process, "kernels");
    replicas_.push_back(
        std::make_unique<Replica>(Replica{.process = process,
                                          .iterations = std::move(iterations),
                                          .kernels = kernels,
                                          .copies = TraceLanes(*writer_, process, "copies"),
                                          .requests = RequestTracks(*writer_, process)}));
  }
}

void ServingTrace::on_arrival(SimTime now) {
  if (cut_) ++requests_left_out_;
  next_->on_arrival(now);
}

void ServingTrace::on_submit(std::int64_t replica, SimTime now, const Sequence& sequence) {
  if (!cut_) at(replica).requests.on_submit(now, sequence);
  next_->on_submit(replica, now, sequence);
}

void ServingTrace::on_plan(std::int64_t replica, SimTime now,
                           std::span<const Sequence* const> running) {
  if (!cut_) at(replica).requests.on_plan(now, running);
  next_->on_plan(replica, now, running);
}

void ServingTrace::on_work(const IterationSample& sample, const Iteration& iteration) {
  next_->on_work(sample, iteration);
  if (cut_) {
    ++iterations_left_out_;
    return;
  }
  Replica& replica = at(sample.replica);
  const std::string pieces = pieces_text(iteration);
  // Iterations overlap where a pipeline has several in flight.
  const TraceTrack track = replica.iterations.take(sample.begin, sample.end);
  writer_->slice(track, "iteration", iteration_name(sample), sample.begin, sample.end,
                 {{"decodes", sample.decodes},
                  {"prompt_tokens", sample.prompt_tokens},
                  {"pieces", std::string_view(pieces)},
                  {"layers", sample.layers},
                  {"before_gpu_us", sample.gpu - sample.begin}});
  write_kernels(replica, sample, iteration);
  for (const auto& [sequence, tokens, executed, before] : iteration.pieces)
    if (sequence->generated == 0 && before + tokens == sequence->prompt)
      replica.requests.add_arrow(sequence->request.id, "first token", track, sample.begin);
}

// A kernel's time is that of it alone. Where the iteration took longer, since others used the same
// devices or the GPU waited for the CPU, the rest is free.
void ServingTrace::write_kernels(Replica& replica, const IterationSample& sample,
                                 const Iteration& iteration) {
  std::int64_t& shown = replica.shown.at(iteration.pieces.empty() ? 0 : 1);
  if (!replica.kernels || shown >= with_kernels_) return;
  ++shown;
  for (const KernelSlice& kernel : kernels_->of(iteration, sample.pool)) {
    const SimTime begin = std::min(sample.gpu + kernel.begin, sample.end);
    const SimTime end = std::min(sample.gpu + kernel.end, sample.end);
    if (begin >= end) continue;
    if (kernel.layer < 0)
      writer_->slice(*replica.kernels, "kernel", kernel.name, begin, end, {});
    else
      writer_->slice(*replica.kernels, "kernel", kernel.name, begin, end,
                     {{"layer", std::int64_t{kernel.layer}}});
  }
}

void ServingTrace::on_iteration(const IterationSample& sample) {
  next_->on_iteration(sample);
  if (cut_) return;
  Replica& replica = at(sample.replica);
  const auto show = [&](const char* name, const char* key, std::int64_t& shown,
                        std::int64_t value) {
    if (shown != value) writer_->counter(replica.process, name, sample.end, {{key, value}});
    shown = value;
  };
  show("requests", "running", replica.running, sample.running);
  show("requests", "waiting", replica.waiting, sample.waiting);
  show("KV blocks", "used", replica.blocks, sample.blocks_used);
  for (const auto& channels : channels_) channels->sample(sample.end);
  if (writer_->events() >= most_events_) end_early(sample.end);
}

void ServingTrace::on_move(const MoveSample& sample) {
  next_->on_move(sample);
  if (cut_) return;
  Replica& replica = at(sample.replica);
  const std::string_view name = kMoveKindNames[static_cast<std::size_t>(sample.move.kind)];
  const TraceTrack track = replica.copies.take(sample.begin, sample.end);
  writer_->slice(track, "copy", name, sample.begin, sample.end,
                 {{"request", sample.request},
                  {"blocks", sample.move.blocks},
                  {"bytes", sample.bytes.in_base()},
                  {"from_level", sample.move.from},
                  {"to_level", sample.move.to}});
  replica.requests.add_arrow(sample.request, "copy", track, sample.begin);
}

void ServingTrace::on_hand_over(std::int64_t replica, SimTime now, const Sequence& sequence) {
  if (!cut_) at(replica).requests.leave(now, sequence.request.id);
  next_->on_hand_over(replica, now, sequence);
}

void ServingTrace::on_finish(const RequestOutcome& outcome) {
  if (!cut_)
    for (const auto& replica : replicas_) replica->requests.leave(outcome.finished, outcome.id);
  next_->on_finish(outcome);
}

void ServingTrace::end_early(SimTime now) {
  for (const auto& replica : replicas_) replica->requests.cut(now);
  for (const auto& channels : channels_) channels->close(now);
  cut_ = now;
}

void ServingTrace::finish(SimTime now) {
  if (!cut_)
    for (const auto& channels : channels_) channels->close(now);
  events_ = writer_->events();
  writer_->finish(iterations_left_out_ + requests_left_out_);
}

}  // namespace tiersim
