#include "sim/core/engine.hpp"

#include <coroutine>
#include <utility>

#include "sim/core/kept_frames.hpp"

namespace tiersim {

Engine::Engine() : kept_frames_(std::make_unique<KeptFrames>()) {
  FramePool::register_thread();
}

Engine::~Engine() {
  end_processes();
  call_nodes_.for_each([](CallNode& node) {
    if (node.pending()) node.finish(nullptr);
  });
}

void Engine::run() {
  run_to(kNever);
}

void Engine::run_until(SimTime end) {
  TS_EXPECTS(end >= now(), end, now_);
  run_to(ticks(end));
  now_ = ticks(end);
}

void Engine::push_laned(std::uint64_t when, Target target, Lane lane) {
  LanedNode& node = laned_nodes_.take();
  node.target = target;
  node.lane = lane;
  ++unusual_;
  queue_.push({when, Target(Target::Kind::laned_node, &node)}, now_);
}

bool Engine::cancel(Token token) {
  if (!token.pending()) return false;
  token.node_->finish(nullptr);  // the node returns to the pool at the time of its event
  return true;
}

inline void Engine::happen(Target target, std::uint64_t time) {
  if (!target.is_process()) return happen_tagged(target, time);
  now_ = time;
  ++events_;
  const auto process = Process::Handle::from_address(target.frame());
  process.promise().set_running();
  process.resume();
}

void Engine::happen_tagged(Target target, std::uint64_t time) {
  void* const object = target.object();
  if (target.kind() == Target::Kind::call_node) {
    auto& node = *static_cast<CallNode*>(object);
    call_nodes_.give_back(node);  // only its first member changes
    if (!node.pending()) return;  // cancelled: time does not advance for it
    now_ = time;
    ++events_;
    return node.finish(this);
  }
  now_ = time;
  ++events_;
  if (target.kind() == Target::Kind::handler)
    return static_cast<EventHandler*>(object)->on_event(*this, 0);
  TS_INVARIANT(target.kind() == Target::Kind::handler_node, target.kind());
  auto& node = *static_cast<HandlerNode*>(object);
  handler_nodes_.give_back(node);
  node.handler->on_event(*this, node.payload);
}

// The order within an instant: the urgent lane, then the queue's events of this instant (scheduled
// before the instant began), then the events scheduled since.
void Engine::run_to(std::uint64_t end) {
  TS_EXPECTS(!running_);
  struct Running {
    explicit Running(bool& is_running) : flag(is_running) { flag = true; }
    ~Running() { flag = false; }
    Running(const Running&) = delete;
    Running& operator=(const Running&) = delete;
    bool& flag;
  } const running(running_);
  // The instant of the events in the rings: now_, or about to become it.
  std::uint64_t instant = now_;
  for (;;) {
    if (unusual_ != 0) [[unlikely]] {
      const std::uint64_t next = step_unusual(instant, end);
      if (next == kNever) return;
      instant = next;
    } else if (due_.empty()) {
      if (!queue_.has_next()) return;
      const Event event = queue_.front();
      if (event.time > end) return;
      queue_.pop();
      instant = event.time;
      happen(event.target, instant);
    } else if (queue_.next_is_at(instant)) [[unlikely]] {
      step_in_instant(instant);
    } else {
      // The queue gets no more events of this instant.
      do {
        happen(due_.pop(), instant);
      } while (!due_.empty() && unusual_ == 0);
    }
  }
}

/// One event of any lane, or the move to the instant of the next. Returns the instant, or kNever
/// where no event is due by `end`.
std::uint64_t Engine::step_unusual(std::uint64_t instant, std::uint64_t end) {
  if (!urgent_.empty() || !due_.empty() || !late_.empty()) {
    step_in_instant(instant);
    return instant;
  }
  if (!queue_.has_next()) return kNever;
  const Event event = queue_.front();
  if (event.time > end) return kNever;
  queue_.pop();
  gather_instant(event);
  return event.time;
}

void Engine::step_in_instant(std::uint64_t instant) {
  Target target;
  if (!urgent_.empty()) {
    target = urgent_.pop();
    --unusual_;
  } else if (queue_.next_is_at(instant)) {
    target = queue_.front().target;
    queue_.pop();
  } else if (!due_.empty()) {
    target = due_.pop();
  } else {
    target = late_.pop();
    --unusual_;
  }
  if (unusual_ != 0 && kept_frames_->release(target)) {
    --unusual_;
    return;
  }
  happen(target, instant);
}

// Moves all events of the instant to the rings, each to its lane. The rings are empty before.
void Engine::gather_instant(Event first) {
  for (Event event = first;;) {
    if (event.target.kind() == Target::Kind::laned_node) {
      auto& node = *static_cast<LanedNode*>(event.target.object());
      --unusual_;
      push_due(node.target, node.lane);
      laned_nodes_.give_back(node);
    } else {
      due_.push(event.target);
    }
    if (!queue_.next_is_at(first.time)) break;
    event = queue_.front();
    queue_.pop();
  }
}

}  // namespace tiersim
