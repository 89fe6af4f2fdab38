#pragma once
// The discrete-event engine: a clock, the pending events, and the processes that wait for them.
//
//   Engine engine;
//   engine.call_after(5ns, [&] { ++count; });            // a small callable
//   engine.schedule(engine.now() + 5ns, handler, 42);    // handler.on_event(engine, 42)
//   engine.spawn(worker(engine));                        // a process (process.hpp)
//   engine.run();
//
// Order is a contract: events happen by (time, lane, order of scheduling) and nothing else, so the
// same program gives the same result everywhere. Time never goes back, and scheduling for the past
// is a fault. One engine belongs to one thread at a time; engines share nothing.
//
// The path of an event allocates nothing once the pools have grown to the size that the model
// needs. Only users of cancellation and of lanes pay for them.
//
// Lifetime. Resources and models that processes use must live as long as those processes;
// end_processes() ends the processes early. The engine's destructor ends the remaining ones, the
// newest first.
#include <cstddef>
#include <cstdint>
#include <exception>
#include <limits>
#include <memory>
#include <type_traits>
#include <utility>
#include <vector>

#include "sim/base/check.hpp"
#include "sim/base/units.hpp"
#include "sim/core/call_node.hpp"
#include "sim/core/event.hpp"
#include "sim/core/event_queue.hpp"
#include "sim/core/node_pool.hpp"
#include "sim/core/process.hpp"
#include "sim/core/target_ring.hpp"

namespace tiersim {

class DelayAwaiter;
class LanedDelayAwaiter;

class Engine {
 public:
  Engine();
  ~Engine();
  Engine(const Engine&) = delete;
  Engine& operator=(const Engine&) = delete;

  SimTime now() const { return SimTime(Duration(static_cast<std::int64_t>(now_))); }
  /// Number of events so far: the measure of work that tests may gate on.
  std::uint64_t events() const { return events_; }

  /// Runs until no event is pending. now() is then the time of the last event that was not
  /// cancelled. An exception from an event or a spawned process passes through run() unchanged.
  void run();
  /// Runs every event up to and including `end`, to which now() is then set. Requires `end` >=
  /// now().
  void run_until(SimTime end);

  // Events. All require `when` >= now(). An event for now() happens after those of the same lane
  // that are already due.
  void schedule(SimTime when, EventHandler& handler, std::uint64_t payload = 0,
                Lane lane = Lane::normal);
  /// `function` is called with the engine or with nothing. Its captures are at most
  /// CallNode::kCaptureSize bytes: keep larger state in an object and capture a reference.
  template <class Function>
  void call_at(SimTime when, Function&& function, Lane lane = Lane::normal);
  template <class Function>
  void call_after(Duration delay, Function&& function, Lane lane = Lane::normal) {
    call_at(after(delay), std::forward<Function>(function), lane);
  }

  // Cancellable events. A cancelled event is skipped when its time comes.
  Token schedule_cancellable(SimTime when, EventHandler& handler, std::uint64_t payload = 0,
                             Lane lane = Lane::normal);
  template <class Function>
  Token call_at_cancellable(SimTime when, Function&& function, Lane lane = Lane::normal);
  template <class Function>
  Token call_after_cancellable(Duration delay, Function&& function, Lane lane = Lane::normal) {
    return call_at_cancellable(after(delay), std::forward<Function>(function), lane);
  }
  /// Returns true where the event was still pending. Any token is valid, also that of a past event.
  bool cancel(Token token);

  // Processes.
  /// Starts `process` at this instant, after the events that are already due. The engine takes
  /// ownership.
  ProcessRef spawn(Process process);
  bool alive(ProcessRef process) const { return process.alive(); }
  /// Ends a spawned process where it waits: destroys its local variables now and wakes the
  /// processes that joined it. Returns true where it was alive. The process must not be running,
  /// nor wait for an awaitable that the engine does not know (one that sets no WaitNode).
  bool cancel(ProcessRef process);
  /// Ends every process. Must not be called while run() is active.
  void end_processes();
  /// For destructors of objects that processes use: ends all remaining processes, unless this is
  /// already under way.
  void end_processes_before_model();

  /// co_await engine.delay(d): `d` >= 0. A delay of zero lets the events that are due now go first.
  DelayAwaiter delay(Duration duration);
  /// co_await engine.until(t): t >= now().
  DelayAwaiter until(SimTime when);
  LanedDelayAwaiter until(SimTime when, Lane lane);

  // For authors of awaitables.
  /// Resumes `process` at this instant, after the events that are already due.
  void wake(ProcessPromise& process, Lane lane = Lane::normal) {
    push_due(target_of(process), lane);
  }
  /// The same at `when` >= now(), in picoseconds.
  void resume_at(std::uint64_t when, ProcessPromise& process, Lane lane);
  /// Wakes `node` at the end of `process`, which must be alive.
  static void add_joiner(ProcessRef process, WaitNode& node);
  /// Returns true where the node was still waiting.
  static bool remove_joiner(ProcessRef process, WaitNode& node);

 private:
  friend class ProcessPromise;
  class KeptFrames;
  static constexpr std::uint64_t kNever = std::numeric_limits<std::uint64_t>::max();

  static Target target_of(ProcessPromise& process) {
    return Target(Target::Kind::process, process.handle().address());
  }
  static std::uint64_t ticks(SimTime when) {
    return static_cast<std::uint64_t>(when.time_since_epoch().count());
  }
  SimTime after(Duration delay) const {
    TS_EXPECTS(delay.count() >= 0, delay);
    return now() + delay;
  }
  void push(std::uint64_t when, Target target, Lane lane);
  void push_laned(std::uint64_t when, Target target, Lane lane);
  void push_due(Target target, Lane lane) {
    if (lane == Lane::normal) return due_.push(target);
    ++unusual_;
    (lane == Lane::urgent ? urgent_ : late_).push(target);
  }
  template <class Function>
  CallNode& make_call(SimTime when, Function&& function, Lane lane);

  void run_to(std::uint64_t end);
  std::uint64_t step_unusual(std::uint64_t instant, std::uint64_t end);
  void step_in_instant(std::uint64_t instant);
  void gather_instant(Event first);
  void happen(Target target, std::uint64_t time);
  void happen_tagged(Target target, std::uint64_t time);

  // engine_processes.cpp
  void end_of(ProcessPromise& process) noexcept;
  WaitNode* retire(ProcessPromise& process) noexcept;
  void wake_joiners(WaitNode* latest);
  void destroy_process(ProcessPromise& process);
  void destroy_frame(ProcessPromise& process);
  void keep_frame(ProcessPromise& process);
  void fail(std::exception_ptr error) noexcept;

  std::uint64_t now_ = 0;
  std::uint64_t events_ = 0;
  /// Events that need a closer look: those of another lane than `normal` or of an ended process.
  std::size_t unusual_ = 0;
  TargetRing due_;  // events due now that were scheduled too late for the queue
  EventQueue queue_;
  TargetRing urgent_, late_;  // like due_, for the other lanes
  bool running_ = false;
  bool ending_ = false;

  NodePool<HandlerNode> handler_nodes_;
  NodePool<CallNode> call_nodes_;
  NodePool<LanedNode> laned_nodes_;
  NodePool<ProcessSlot> slots_;
  std::uint64_t next_id_ = 1;
  std::unique_ptr<KeptFrames> kept_frames_;
  std::exception_ptr failure_;
};

inline void Engine::push(std::uint64_t when, Target target, Lane lane) {
  if (when == now_) return push_due(target, lane);
  if (lane == Lane::normal) return queue_.push({when, target}, now_);
  push_laned(when, target, lane);
}

inline void Engine::schedule(SimTime when, EventHandler& handler, std::uint64_t payload,
                             Lane lane) {
  TS_EXPECTS(when >= now(), when, now_);
  if (payload == 0) return push(ticks(when), Target(Target::Kind::handler, &handler), lane);
  HandlerNode& node = handler_nodes_.take();
  node.handler = &handler;
  node.payload = payload;
  push(ticks(when), Target(Target::Kind::handler_node, &node), lane);
}

template <class Function>
CallNode& Engine::make_call(SimTime when, Function&& function, Lane lane) {
  TS_EXPECTS(when >= now(), when, now_);
  CallNode& node = call_nodes_.take();
  node.set(std::forward<Function>(function));
  push(ticks(when), Target(Target::Kind::call_node, &node), lane);
  return node;
}
template <class Function>
void Engine::call_at(SimTime when, Function&& function, Lane lane) {
  make_call(when, std::forward<Function>(function), lane);
}
template <class Function>
Token Engine::call_at_cancellable(SimTime when, Function&& function, Lane lane) {
  return Token(make_call(when, std::forward<Function>(function), lane));
}
inline Token Engine::schedule_cancellable(SimTime when, EventHandler& handler,
                                          std::uint64_t payload, Lane lane) {
  return call_at_cancellable(
      when, [&handler, payload](Engine& engine) { handler.on_event(engine, payload); }, lane);
}

}  // namespace tiersim

#include "sim/core/process_awaiters.hpp"  // IWYU pragma: export
