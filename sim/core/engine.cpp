#include "sim/core/engine.hpp"

#include <coroutine>
#include <limits>
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
  run_to(std::numeric_limits<std::uint64_t>::max());
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
  std::coroutine_handle<>::from_address(target.object()).resume();
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
  instant_ = now_;
  for (;;) {
    if (in_rings_ != 0) {
      TargetRing& normal = ring(Lane::normal);
      if (unusual_ != 0 || normal.empty() || !ring(Lane::urgent).empty() ||
          queue_.next_is_at(instant_)) [[unlikely]] {
        step_in_instant();
      } else {
        --in_rings_;
        happen(normal.pop(), instant_);
      }
      continue;
    }
    const Event* const next = queue_.next();
    if (next == nullptr || next->time > end) return;
    const std::uint64_t time = next->time;
    const Target target = next->target;
    queue_.pop();
    instant_ = time;
    if (unusual_ != 0) [[unlikely]] {
      gather_instant({time, target});
    } else {
      happen(target, time);
    }
  }
}

void Engine::step_in_instant() {
  Target target;
  TargetRing& urgent = ring(Lane::urgent);
  if (urgent.empty() && queue_.next_is_at(instant_)) {
    target = queue_.next()->target;
    queue_.pop();
  } else {
    TargetRing& normal = ring(Lane::normal);
    target = (!urgent.empty() ? urgent : !normal.empty() ? normal : ring(Lane::late)).pop();
    --in_rings_;
  }
  if (unusual_ != 0 && kept_frames_->release(target)) {
    --unusual_;
    return;
  }
  happen(target, instant_);
}

// Moves all events of the instant to the rings, each to its lane. The rings are empty before.
void Engine::gather_instant(Event first) {
  for (Event event = first;;) {
    if (event.target.kind() == Target::Kind::laned_node) {
      auto& node = *static_cast<LanedNode*>(event.target.object());
      --unusual_;
      ring(node.lane).push(node.target);
      laned_nodes_.give_back(node);
      ++in_rings_;
    } else {
      ring(Lane::normal).push(event.target);
      ++in_rings_;
    }
    if (!queue_.next_is_at(first.time)) break;
    event = *queue_.next();
    queue_.pop();
  }
}

}  // namespace tiersim
