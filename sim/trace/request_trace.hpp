#pragma once
// The requests of one replica as tracks of a trace (serving_trace.hpp). Each request has a slot
// while it runs, which a later one reuses, so that ten thousand requests need only as many tracks
// as run at once:
//
//   request 17              from its admission until it ends or leaves for another replica
//     prefill, decode       its phase, as the scheduler sees it when it plans an iteration
//     loading               its blocks are being copied: a prefix, swapped out, or handed over
//     preempted             it waits for blocks again
//
// Arrows go to the iteration that gave its first token and to the copies of its blocks. The time
// before its admission is a stay, "queued". A request is written when it ends, so that only active
// requests are kept.
#include <cstdint>
#include <functional>
#include <map>
#include <queue>
#include <span>
#include <string>
#include <vector>

#include "sim/serving/observer.hpp"
#include "sim/trace/trace_writer.hpp"

namespace tiersim {

class RequestTracks {
 public:
  RequestTracks(TraceWriter& writer, int process) : writer_(writer), process_(process) {}

  void on_submit(SimTime now, const Sequence& sequence);
  void on_plan(SimTime now, std::span<const Sequence* const> running);
  /// An arrow to an event that the request waits for or gets, on another track and at a time within
  /// a slice.
  void add_arrow(std::int64_t request, std::string_view name, TraceTrack to, SimTime time);
  /// The request ends or leaves the replica.
  void leave(SimTime now, const Sequence& sequence) { leave(now, sequence.request.id); }
  void leave(SimTime now, std::int64_t request);
  /// Writes all active requests with their state at `now`.
  void cut(SimTime now);

 private:
  enum class Phase : std::uint8_t { queued, prefill, decode, loading, preempted };
  struct Span {
    Phase phase = Phase::queued;
    SimTime begin{};
    SimTime end{};
  };
  struct Arrow {
    std::string_view name;
    TraceTrack to;
    SimTime time{};
  };
  struct Stay {
    const Sequence* sequence = nullptr;
    SimTime submitted{};
    SimTime admitted{};
    std::size_t slot = 0;
    std::vector<Span> spans = {};  // the last one is open
    std::vector<Arrow> arrows = {};
    std::uint64_t planned = 0;  // the last plan with this request
  };

  static Phase phase_of(const Sequence& sequence);
  void admit(SimTime now, Stay& stay);
  static void enter(SimTime now, Phase phase, Stay& stay);
  void write(SimTime now, std::int64_t request, Stay& stay);

  TraceWriter& writer_;
  int process_;
  std::map<std::int64_t, Stay> stays_;  // by request
  std::vector<std::int64_t> running_;   // admitted and active, preempted ones included
  std::vector<TraceTrack> slots_;
  std::priority_queue<std::size_t, std::vector<std::size_t>, std::greater<>> free_;
  std::uint64_t plans_ = 0;
};

}  // namespace tiersim
