#include "workloads/sessions/traced_source.hpp"

#include <deque>
#include <optional>
#include <unordered_map>
#include <utility>

#include <fmt/format.h>

#include "sim/base/check.hpp"
#include "workloads/serving/name_hash.hpp"
#include "workloads/sessions/prompt_names.hpp"

namespace tiersim {
namespace {

// A session under way.
struct LiveSession {
  std::int64_t number = 0;                // in the order of their begins
  std::int64_t left = 1;                  // turns that were not sent
  std::int32_t turn = 0;                  // next one
  std::deque<RecordedRequest> read = {};  // turns that were read ahead
  std::optional<Int128> end = {};         // recorded, of the last turn that was sent
  PromptNames prompt;
};

class TracedSource final : public RequestSource {
 public:
  TracedSource(const WorkloadConfig& config, const TracedTurns& turns, const TraceFileState& state,
               std::unique_ptr<RequestSource> starts)
      : path_(config.trace->requests.source),
        block_(config.prefix_block),
        replay_(*config.trace),
        max_pause_(config.trace->max_pause),
        requests_(config.trace->requests.value),
        turns_(turns),
        state_(state),
        begins_(std::move(starts)),
        mistakes_(path_),
        reader_(TraceLines(path_), config.trace->format, mistakes_) {}

  std::optional<Request> next() override {
    if (!begins_) return begin(std::nullopt);
    const auto start = begins_->next();
    if (!start) return std::nullopt;
    return begin(start->arrival);
  }

  void after_completion(const Request& ended, SimTime now, std::vector<Request>& out) override {
    const auto at = keys_.find(ended.session.session);
    TS_EXPECTS(at != keys_.end(), ended.session.session);
    LiveSession& session = live_.at(at->second);
    if (session.left == 0) {
      live_.erase(at->second);
      keys_.erase(at);
      end_of(ended, now, out);
      return;
    }
    while (session.read.empty() && lines_ < requests_) read_line();
    if (session.read.empty()) fail();
    const RecordedRequest turn = std::move(session.read.front());
    session.read.pop_front();
    Int128 pause = turn.pause.value_or(0);
    if (!turn.pause && session.end) pause = std::max<Int128>(0, turn.time - *session.end);
    if (max_pause_) pause = std::min<Int128>(pause, max_pause_->count());
    const Int128 arrival = Int128{now.time_since_epoch().count()} + pause;
    if (arrival > Int128{Duration::max().count()}) throw UnitOverflow();
    out.push_back(send(session, turn, SimTime(Duration(static_cast<std::int64_t>(arrival)))));
  }

 private:
  // A request that names no session is one of its own; its line makes the key.
  static std::uint64_t key_of(const RecordedRequest& request) {
    return request.session.value_or(chained(1, static_cast<std::uint64_t>(request.line)));
  }

  // The first turn of the next session, at this time or at that of the trace.
  std::optional<Request> begin(std::optional<SimTime> at) {
    while (starts_.empty() && lines_ < requests_) read_line();
    if (starts_.empty()) return std::nullopt;
    const RecordedRequest first = std::move(starts_.front());
    starts_.pop_front();
    if (begun_ == 0) first_time_ = first.time;
    const Int128 since = first.time - first_time_;
    if (since < 0 || first.is_timed == at.has_value()) fail();
    const std::uint64_t key = key_of(first);
    LiveSession& session = live_.at(key);
    session.number = begun_++;
    keys_.emplace(session.number, key);
    return send(session, first, at ? *at : replay_.at(Duration(static_cast<std::int64_t>(since))));
  }

  // The sessions that begin because one has ended.
  void end_of(const Request& ended, SimTime now, std::vector<Request>& out) {
    if (!begins_) return;
    std::vector<Request> starts;
    begins_->after_completion(ended, now, starts);
    for (const Request& start : starts)
      if (auto first = begin(start.arrival)) out.push_back(*std::move(first));
  }

  // Reads a line into the session that it belongs to.
  void read_line() {
    RecordedRequest request;
    if (!reader_.next(request) || mistakes_.any()) fail();
    ++lines_;
    if (lines_ == requests_ && state_of(path_) != state_) fail();
    const std::uint64_t key = key_of(request);
    if (const auto at = live_.find(key); at != live_.end()) {
      at->second.read.push_back(std::move(request));
      return;
    }
    const auto turns = turns_.find(key);
    if (request.session && turns == turns_.end()) fail();
    live_.emplace(key, LiveSession{.left = request.session ? turns->second : 1,
                                   .prompt = PromptNames(block_)});
    starts_.push_back(std::move(request));
  }

  Request send(LiveSession& session, const RecordedRequest& recorded, SimTime arrival) {
    const bool named = !recorded.adds && !recorded.prefix.empty();
    const auto text = [&](std::uint64_t part) {
      return chained(chained(chained(2, static_cast<std::uint64_t>(session.number)),
                             static_cast<std::uint64_t>(session.turn)),
                     part);
    };
    PromptNames& prompt = session.prompt;
    std::int64_t added = recorded.input_tokens;
    if (!recorded.adds) {
      if (recorded.input_tokens <= prompt.tokens()) prompt = PromptNames(block_);
      added -= prompt.tokens();
    }
    // The blocks that a turn adds have numbers of their own; the last one may be shorter.
    if (recorded.adds)
      for (const std::uint64_t id : recorded.prefix) {
        const std::int64_t tokens = std::min(added, block_);
        prompt.append(chained(3, id), tokens);
        added -= tokens;
      }
    prompt.append(text(0), added);
    Request out{.id = made_++,
                .arrival = arrival,
                .input_tokens = prompt.tokens(),
                .output_tokens = recorded.output_tokens};
    prompt.append(text(1), recorded.output_tokens);
    out.prefix = named ? recorded.prefix : prompt.names();
    out.named_tokens = named ? 0 : prompt.tokens();
    --session.left;
    out.session = {.session = session.number,
                   .turn = session.turn++,
                   .end = session.left == 0 ? SessionEnd::done : SessionEnd::none,
                   // A trace does not say what a session waits for, and agents call tools.
                   .pause = session.left == 0 ? SessionPause::none : SessionPause::tool};
    session.end = recorded.end;
    return out;
  }

  [[noreturn]] void fail() const {
    throw SourceFailure(fmt::format("the trace '{}' changed while it was replayed", path_));
  }

  std::string path_;
  std::int64_t block_;
  Replay replay_;
  std::optional<Duration> max_pause_;
  std::int64_t requests_;
  TracedTurns turns_;
  TraceFileState state_;
  std::unique_ptr<RequestSource> begins_;  // null: the trace has the times
  TraceMistakes mistakes_;
  TraceReader reader_;
  std::deque<RecordedRequest> starts_;                    // first turns that were read ahead
  std::unordered_map<std::uint64_t, LiveSession> live_;   // by key; for lookup only
  std::unordered_map<std::int64_t, std::uint64_t> keys_;  // by number
  Int128 first_time_ = 0;
  std::int64_t lines_ = 0;
  std::int64_t begun_ = 0;
  std::int64_t made_ = 0;
};

}  // namespace

std::unique_ptr<RequestSource> make_traced_sessions(const WorkloadConfig& config,
                                                    const TracedTurns& turns,
                                                    const TraceFileState& state,
                                                    std::unique_ptr<RequestSource> starts) {
  TS_EXPECTS(config.trace.has_value());
  return std::make_unique<TracedSource>(config, turns, state, std::move(starts));
}

}  // namespace tiersim
