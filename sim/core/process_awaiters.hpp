#pragma once
// The awaiters behind `co_await` of a time, a process and a ProcessRef. Part of engine.hpp.
#include "sim/core/engine.hpp"
#include "sim/core/process.hpp"

namespace tiersim {

/// engine.delay(), engine.until(): always suspends, since another event may be due at this instant.
class [[nodiscard]] DelayAwaiter {
 public:
  explicit DelayAwaiter(std::uint64_t when) : when_(when) {}
  bool await_ready() const { return false; }
  void await_suspend(Process::Handle waiter) {
    const std::uint64_t when = when_;
    process_ = &waiter.promise();
    process_->set_queued();
    process_->engine().resume_at(when, *process_, Lane::normal);
  }
  void await_resume() const { process_->set_running(); }

 private:
  // The linter takes members of a nameless union for public:
  // NOLINTBEGIN(readability-identifier-naming)
  union {                      // so that the frame of a small process fits into two cache lines
    std::uint64_t when_;       // until the process suspends
    ProcessPromise* process_;  // from then on
  };
  // NOLINTEND(readability-identifier-naming)
};

/// The same in another lane.
class [[nodiscard]] LanedDelayAwaiter {
 public:
  LanedDelayAwaiter(std::uint64_t when, Lane lane) : when_(when), lane_(lane) {}
  bool await_ready() const { return false; }
  void await_suspend(Process::Handle waiter) {
    process_ = &waiter.promise();
    process_->set_queued();
    process_->engine().resume_at(when_, *process_, lane_);
  }
  void await_resume() const { process_->set_running(); }

 private:
  std::uint64_t when_;
  ProcessPromise* process_ = nullptr;
  Lane lane_;
};

inline DelayAwaiter Engine::delay(Duration duration) {
  const std::uint64_t when = now_ + static_cast<std::uint64_t>(duration.count());
  // Both are below 2^63: the duration is not negative and the time is in range.
  TS_EXPECTS(((static_cast<std::uint64_t>(duration.count()) | when) >> 63U) == 0, duration, now_);
  return DelayAwaiter(when);
}
inline DelayAwaiter Engine::until(SimTime when) {
  TS_EXPECTS(when >= now(), when, now_);
  return DelayAwaiter(ticks(when));
}
inline LanedDelayAwaiter Engine::until(SimTime when, Lane lane) {
  TS_EXPECTS(when >= now(), when, now_);
  return {ticks(when), lane};
}

inline void Engine::resume_at(std::uint64_t when, ProcessPromise& process, Lane lane) {
  const Target target = target_of(process);
  if (when == now_) {
    ring(lane).push(target);
    ++in_rings_;
  } else if (lane == Lane::normal) {
    queue_.push({when, target}, now_);
  } else {
    push_laned(when, target, lane);
  }
}

/// Runs a process as a part of the awaiting one. If it ends without ever waiting, the caller goes
/// on without having been suspended, so that no stack grows in a loop of such calls.
class [[nodiscard]] Process::Call : public WaitNode, Completion {
 public:
  explicit Call(Handle child)
      : WaitNode(&Call::abandoned), Completion(&Call::child_ended), child_(child) {}
  bool await_ready() const { return false; }
  bool await_suspend(Handle waiter) {
    waiter.promise().set_waiting(*this);
    child_.promise().attach(waiter.promise().engine(), *this);
    starting_ = true;
    child_.resume();
    starting_ = false;
    return !child_.done();
  }
  void await_resume() {
    process->set_running();
    if (error) std::rethrow_exception(std::move(error));
  }

 private:
  static std::coroutine_handle<> child_ended(Completion& completion) noexcept {
    auto& call = static_cast<Call&>(completion);
    if (call.starting_) return std::noop_coroutine();
    return call.process->handle();
  }
  static bool abandoned(WaitNode& node) {
    static_cast<Call&>(node).child_.promise().withdraw();
    return false;
  }

  Handle child_;
  bool starting_ = false;
};

inline Process::Call Process::operator co_await() const {
  TS_EXPECTS(handle_);
  return Call(handle_);
}

/// Waits for the end of a spawned process.
class [[nodiscard]] ProcessRef::Join : public WaitNode {
 public:
  explicit Join(ProcessRef ref) : WaitNode(&Join::abandoned), ref_(ref) {}
  bool await_ready() const { return false; }
  bool await_suspend(Process::Handle waiter) {
    Engine& engine = waiter.promise().engine();
    if (!engine.alive(ref_)) return false;
    waiter.promise().set_waiting(*this);
    engine.add_joiner(ref_, *this);
    return true;
  }
  void await_resume() {
    if (process != nullptr) process->set_running();
  }

 private:
  static bool abandoned(WaitNode& node) {
    auto& join = static_cast<Join&>(node);
    return !join.process->engine().remove_joiner(join.ref_, join);
  }

  ProcessRef ref_;
};

inline ProcessRef::Join ProcessRef::operator co_await() const {
  return Join(*this);
}

}  // namespace tiersim
