#include "sim/trace/request_trace.hpp"

#include <algorithm>
#include <array>

#include <fmt/format.h>

namespace tiersim {
namespace {

constexpr std::array<std::string_view, 5> kPhases{"queued", "prefill", "decode", "loading",
                                                  "preempted"};

}  // namespace

RequestTracks::Phase RequestTracks::phase_of(const Sequence& sequence) {
  if (sequence.loading()) return Phase::loading;
  return sequence.prefilling() ? Phase::prefill : Phase::decode;
}

void RequestTracks::on_submit(SimTime now, const Sequence& sequence) {
  stays_[sequence.request.id] = {.sequence = &sequence, .submitted = now};
}

void RequestTracks::on_plan(SimTime now, std::span<const Sequence* const> running) {
  ++plans_;
  for (const Sequence* sequence : running) {
    const auto found = stays_.find(sequence->request.id);
    if (found == stays_.end()) continue;  // finished: padding of a static batch
    Stay& stay = found->second;
    if (stay.spans.empty()) admit(now, stay);
    enter(now, phase_of(*sequence), stay);
    stay.planned = plans_;
  }
  for (const std::int64_t request : running_) {
    Stay& stay = stays_.at(request);
    if (stay.planned != plans_) enter(now, Phase::preempted, stay);
  }
}

void RequestTracks::admit(SimTime now, Stay& stay) {
  const std::int64_t request = stay.sequence->request.id;
  if (now > stay.submitted)
    writer_.stay(process_, "queue", kPhases[0], request, stay.submitted, now,
                 {{"request", request}});
  if (free_.empty()) {
    free_.push(slots_.size());
    slots_.push_back(
        writer_.add_track(process_, fmt::format("requests, slot {}", slots_.size() + 1)));
  }
  stay.slot = free_.top();
  free_.pop();
  stay.admitted = now;
  running_.push_back(request);
}

void RequestTracks::enter(SimTime now, Phase phase, Stay& stay) {
  if (!stay.spans.empty()) {
    if (stay.spans.back().phase == phase) return;
    stay.spans.back().end = now;
    if (stay.spans.back().begin == now) stay.spans.pop_back();
  }
  stay.spans.push_back({phase, now, now});
}

void RequestTracks::add_arrow(std::int64_t request, std::string_view name, TraceTrack to,
                              SimTime time) {
  const auto found = stays_.find(request);
  if (found == stays_.end() || found->second.spans.empty()) return;
  found->second.arrows.push_back({name, to, time});
}

void RequestTracks::leave(SimTime now, std::int64_t request) {
  const auto found = stays_.find(request);
  if (found == stays_.end()) return;
  if (!found->second.spans.empty()) {
    write(now, request, found->second);
    free_.push(found->second.slot);
    std::erase(running_, request);
  }
  stays_.erase(found);
}

void RequestTracks::cut(SimTime now) {
  for (auto& [request, stay] : stays_) {
    if (!stay.spans.empty())
      write(now, request, stay);
    else if (now > stay.submitted)
      writer_.stay(process_, "queue", kPhases[0], request, stay.submitted, now,
                   {{"request", request}});
  }
  stays_.clear();
  running_.clear();
}

// Arrows come after the slice that they leave, with its times (trace_writer.hpp).
void RequestTracks::write(SimTime now, std::int64_t request, Stay& stay) {
  const TraceTrack track = slots_[stay.slot];
  const Sequence& s = *stay.sequence;
  stay.spans.back().end = now;
  writer_.open(track, "request", fmt::format("request {}", request), stay.admitted,
               {{"request", request},
                {"input_tokens", s.request.input_tokens},
                {"output_tokens", s.request.output_tokens},
                {"generated_tokens", s.generated},
                {"cached_tokens", s.cached_tokens},
                {"preemptions", s.preemptions},
                {"queued_us", stay.admitted - stay.submitted}});
  std::ranges::stable_sort(stay.arrows, {}, &Arrow::time);
  auto arrow = stay.arrows.begin();
  for (const Span& span : stay.spans) {
    writer_.open(track, "phase", kPhases[static_cast<std::size_t>(span.phase)], span.begin, {});
    const bool last = &span == &stay.spans.back();
    for (; arrow != stay.arrows.end() && (last || arrow->time < span.end); ++arrow)
      writer_.arrow("request", arrow->name, track, arrow->time, arrow->to, arrow->time);
    writer_.close(track, span.end);
  }
  writer_.close(track, now);
}

}  // namespace tiersim
