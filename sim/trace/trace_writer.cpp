#include "sim/trace/trace_writer.hpp"

#include <algorithm>
#include <iterator>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

namespace tiersim {
namespace {

constexpr std::size_t kBuffer = std::size_t{1} << 16U;

// Exact: 1 us is 10^6 ps.
struct Microseconds {
  explicit Microseconds(Duration time) : whole(time.count() / kUnit), rest(time.count() % kUnit) {}
  explicit Microseconds(SimTime time) : Microseconds(time.time_since_epoch()) {}
  static constexpr std::int64_t kUnit = 1'000'000;
  std::int64_t whole;
  std::int64_t rest;
};

template <class... Values>
void append(std::string& out, fmt::format_string<Values...> format, Values&&... values) {
  fmt::format_to(std::back_inserter(out), format, std::forward<Values>(values)...);
}

}  // namespace

TraceWriter::TraceWriter(TraceSink sink,
                         const std::vector<std::pair<std::string, std::string>>& about)
    : sink_(std::move(sink)), about_(about) {
  buffer_ = "{\"displayTimeUnit\": \"ns\", \"traceEvents\": [";
}

void TraceWriter::flush() {
  sink_(buffer_);
  buffer_.clear();
}

void TraceWriter::begin_event() {
  buffer_ += first_ ? "\n{" : ",\n{";
  first_ = false;
}

void TraceWriter::end_event() {
  buffer_ += '}';
  if (buffer_.size() >= kBuffer) flush();
}

// Names come from configurations, so they may hold any character.
void TraceWriter::add_text(std::string_view text) {
  const auto plain = [](char c) { return c >= ' ' && c < '\x7f' && c != '"' && c != '\\'; };
  if (std::ranges::all_of(text, plain))
    append(buffer_, "\"{}\"", text);
  else
    buffer_ += nlohmann::json(text).dump(-1, ' ', true, nlohmann::json::error_handler_t::replace);
}

void TraceWriter::add_values(TraceValues values) {
  if (values.size() == 0) return;
  buffer_ += ", \"args\": {";
  bool first = true;
  for (const auto& [name, value] : values) {
    append(buffer_, "{}\"{}\": ", first ? "" : ", ", name);
    first = false;
    if (const auto* whole = std::get_if<std::int64_t>(&value)) append(buffer_, "{}", *whole);
    if (const auto* real = std::get_if<double>(&value)) append(buffer_, "{}", *real);
    if (const auto* text = std::get_if<std::string_view>(&value)) add_text(*text);
    if (const auto* time = std::get_if<Duration>(&value)) {
      const Microseconds us(*time);
      append(buffer_, "{}.{:06}", us.whole, us.rest);
    }
  }
  buffer_ += '}';
}

void TraceWriter::add_name(const char* kind, TraceTrack track, std::string_view name) {
  const auto start = [&](const char* what) {
    begin_event();
    append(buffer_, R"("ph": "M", "pid": {}, )", track.process);
    if (track.track > 0) append(buffer_, R"("tid": {}, )", track.track);
    append(buffer_, R"("name": "{}_{}", "args": {{)", kind, what);
  };
  start("name");
  buffer_ += "\"name\": ";
  add_text(name);
  buffer_ += '}';
  end_event();
  start("sort_index");
  append(buffer_, "\"sort_index\": {}}}", track.track > 0 ? track.track : track.process);
  end_event();
}

int TraceWriter::add_process(std::string_view name) {
  add_name("process", {++processes_, 0}, name);
  return processes_;
}

TraceTrack TraceWriter::add_track(int process, std::string_view name) {
  const TraceTrack track{process, ++tracks_};
  add_name("thread", track, name);
  return track;
}

void TraceWriter::slice(TraceTrack track, std::string_view category, std::string_view name,
                        SimTime begin, SimTime end, TraceValues values) {
  TS_EXPECTS(begin <= end, begin.time_since_epoch().count(), end.time_since_epoch().count());
  ++events_;
  const Microseconds at(begin);
  const Microseconds for_time(end - begin);
  begin_event();
  append(
      buffer_,
      R"("ph": "X", "pid": {}, "tid": {}, "ts": {}.{:06}, "dur": {}.{:06}, "cat": "{}", "name": )",
      track.process, track.track, at.whole, at.rest, for_time.whole, for_time.rest, category);
  add_text(name);
  add_values(values);
  end_event();
}

void TraceWriter::open(TraceTrack track, std::string_view category, std::string_view name,
                       SimTime begin, TraceValues values) {
  ++events_;
  const Microseconds at(begin);
  begin_event();
  append(buffer_, R"("ph": "B", "pid": {}, "tid": {}, "ts": {}.{:06}, "cat": "{}", "name": )",
         track.process, track.track, at.whole, at.rest, category);
  add_text(name);
  add_values(values);
  end_event();
}

void TraceWriter::close(TraceTrack track, SimTime end) {
  ++events_;
  const Microseconds at(end);
  begin_event();
  append(buffer_, R"("ph": "E", "pid": {}, "tid": {}, "ts": {}.{:06})", track.process, track.track,
         at.whole, at.rest);
  end_event();
}

void TraceWriter::counter(int process, std::string_view name, SimTime time, TraceValues values) {
  ++events_;
  const Microseconds at(time);
  begin_event();
  append(buffer_, R"("ph": "C", "pid": {}, "ts": {}.{:06}, "name": )", process, at.whole, at.rest);
  add_text(name);
  add_values(values);
  end_event();
}

void TraceWriter::arrow(std::string_view category, std::string_view name, TraceTrack from,
                        SimTime leaves, TraceTrack to, SimTime arrives) {
  ++arrows_;
  const auto half = [&](const char* phase, TraceTrack track, SimTime time) {
    ++events_;
    const Microseconds at(time);
    begin_event();
    append(buffer_,
           R"("ph": {}, "id": {}, "pid": {}, "tid": {}, "ts": {}.{:06}, "cat": "{}", "name": "{}")",
           phase, arrows_, track.process, track.track, at.whole, at.rest, category, name);
    end_event();
  };
  half(R"("s")", from, leaves);
  half(R"("f", "bp": "e")", to, arrives);
}

void TraceWriter::stay(int process, std::string_view category, std::string_view name,
                       std::int64_t id, SimTime begin, SimTime end, TraceValues values) {
  const auto half = [&](const char* phase, SimTime time, TraceValues with) {
    ++events_;
    const Microseconds at(time);
    begin_event();
    append(buffer_,
           R"("ph": "{}", "id": "{}", "pid": {}, "ts": {}.{:06}, "cat": "{}", "name": "{}")", phase,
           id, process, at.whole, at.rest, category, name);
    add_values(with);
    end_event();
  };
  half("b", begin, values);
  half("e", end, {});
}

void TraceWriter::finish(std::int64_t left_out) {
  buffer_ += "\n], \"otherData\": {";
  if (left_out > 0) about_.emplace_back("left_out_events", std::to_string(left_out));
  for (std::size_t i = 0; i < about_.size(); ++i) {
    if (i > 0) buffer_ += ", ";
    add_text(about_[i].first);
    buffer_ += ": ";
    add_text(about_[i].second);
  }
  buffer_ += "}}\n";
  flush();
}

TraceTrack TraceLanes::take(SimTime begin, SimTime end) {
  const auto free =
      std::ranges::find_if(lanes_, [&](const auto& lane) { return lane.second <= begin; });
  if (free != lanes_.end()) {
    free->second = end;
    return free->first;
  }
  const std::string name =
      lanes_.empty() ? name_ : fmt::format("{} ({})", name_, lanes_.size() + 1);
  lanes_.emplace_back(writer_->add_track(process_, name), end);
  return lanes_.back().first;
}

}  // namespace tiersim
