#pragma once
// Writes events of the Trace Event Format (JSON), which Perfetto (ui.perfetto.dev) and
// chrome://tracing load. Events are written as they come; only a buffer is kept.
//
//   TraceWriter writer(sink, {{"run_id", id}});
//   const int gpu = writer.add_process("GPU 0");
//   const TraceTrack kernels = writer.add_track(gpu, "kernels");
//   writer.slice(kernels, "kernel", "attention", begin, end, {{"payload_bytes", 4096}});
//   writer.counter(gpu, "pool.read bytes", end, {{"bytes", 4096}});
//   writer.finish();
//
// Requirements of Perfetto (its JSON importer, src/trace_processor/importers/json):
//   tracks    two slices of a track are disjoint or nested; others are dropped. Numbers of tracks
//             are unique over all processes, and 0 is not a number.
//   times     microseconds, here with picosecond digits. Perfetto cuts begin and length to
//             nanoseconds separately, so that touching slices stay apart. A nested slice could then
//             end a nanosecond after its parent: such slices are opened and closed by two events.
//   arrows    begin and end at the slice that is open on their track at their time; of slices with
//             the same begin, at the one written last. An arrow is written after its slices, with
//             their begin times, and its own begin before its end.
//   counters  each key of a counter is a line of its own, "NAME KEY".
#include <cstdint>
#include <functional>
#include <initializer_list>
#include <string>
#include <string_view>
#include <utility>
#include <variant>
#include <vector>

#include "sim/base/units.hpp"

namespace tiersim {

/// Takes the text in pieces. Its exceptions pass through.
using TraceSink = std::function<void(std::string_view)>;

struct TraceTrack {
  int process = 0;
  int track = 0;
};

/// A named value of an event. Durations are written as microseconds.
struct TraceValue {
  std::string_view name;
  std::variant<std::int64_t, double, std::string_view, Duration> value;
};
using TraceValues = std::initializer_list<TraceValue>;

class TraceWriter {
 public:
  /// `about` goes to the file's otherData.
  TraceWriter(TraceSink sink, const std::vector<std::pair<std::string, std::string>>& about);

  /// Processes and tracks are shown in the order of these calls.
  int add_process(std::string_view name);
  TraceTrack add_track(int process, std::string_view name);

  void slice(TraceTrack track, std::string_view category, std::string_view name, SimTime begin,
             SimTime end, TraceValues values);
  /// A slice that contains others: the slice opened first is closed last.
  void open(TraceTrack track, std::string_view category, std::string_view name, SimTime begin,
            TraceValues values);
  void close(TraceTrack track, SimTime end);
  /// Writes values that hold from `time` on.
  void counter(int process, std::string_view name, SimTime time, TraceValues values);
  /// An arrow from one slice to another. Each is given by a time at which it is the innermost open
  /// slice.
  void arrow(std::string_view category, std::string_view name, TraceTrack from, SimTime leaves,
             TraceTrack to, SimTime arrives);
  /// A stay. Any number of stays may overlap: Perfetto shows those of one name as one stack.
  void stay(int process, std::string_view category, std::string_view name, std::int64_t id,
            SimTime begin, SimTime end, TraceValues values);

  /// Number of events so far, without those that only give names.
  std::int64_t events() const { return events_; }
  /// Closes the text. `left_out` is written to otherData if it is above 0.
  void finish(std::int64_t left_out = 0);

 private:
  void begin_event();
  void end_event();
  void add_name(const char* kind, TraceTrack track, std::string_view name);
  void add_values(TraceValues values);
  void add_text(std::string_view text);
  void flush();

  TraceSink sink_;
  std::string buffer_;
  std::vector<std::pair<std::string, std::string>> about_;
  std::int64_t events_ = 0;
  std::int64_t arrows_ = 0;
  int processes_ = 0;
  int tracks_ = 1000;  // Perfetto uses a process's number where no track has it
  bool first_ = true;
};

/// Tracks of one kind, as many as overlapping slices need: each slice takes the first free track.
/// Slices come in the order of their begin.
class TraceLanes {
 public:
  TraceLanes(TraceWriter& writer, int process, std::string name)
      : writer_(&writer), process_(process), name_(std::move(name)) {}
  /// A track for a slice from `begin` to `end`.
  TraceTrack take(SimTime begin, SimTime end);

 private:
  TraceWriter* writer_;
  int process_;
  std::string name_;
  std::vector<std::pair<TraceTrack, SimTime>> lanes_;  // with the time until which each is taken
};

}  // namespace tiersim
