#pragma once
// The awaiters behind `co_await` of a time, a process and a ProcessRef. Part of engine.hpp.
#include "sim/core/engine.hpp"
#include "sim/core/process.hpp"

namespace tiersim {

/// engine.delay(), engine.until(): always suspends, since another event may be due at this instant.
class [[nodiscard]] DelayAwaiter {
 public:
  DelayAwaiter(Engine& engine, std::uint64_t when) : engine_(engine), when_(when) {}
  bool await_ready() const { return false; }
  void await_suspend(Process::Handle waiter) const {
    ProcessPromise& process = waiter.promise();
    process.set_queued();
    engine_.resume_at(when_, process, Lane::normal);
  }
  void await_resume() const {}

 private:
  Engine& engine_;  // that of the process, which could only be loaded after its frame
  std::uint64_t when_;
};

/// The same in another lane.
class [[nodiscard]] LanedDelayAwaiter {
 public:
  LanedDelayAwaiter(std::uint64_t when, Lane lane) : when_(when), lane_(lane) {}
  bool await_ready() const { return false; }
  void await_suspend(Process::Handle waiter) const {
    ProcessPromise& process = waiter.promise();
    process.set_queued();
    process.engine().resume_at(when_, process, lane_);
  }
  void await_resume() const {}

 private:
  std::uint64_t when_;
  Lane lane_;
};

inline DelayAwaiter Engine::delay(Duration duration) {
  const std::uint64_t when = now_ + static_cast<std::uint64_t>(duration.count());
  // Both are below 2^63: the duration is not negative and the time is in range.
  TS_EXPECTS(((static_cast<std::uint64_t>(duration.count()) | when) >> 63U) == 0, duration, now_);
  return {*this, when};
}
inline DelayAwaiter Engine::until(SimTime when) {
  TS_EXPECTS(when >= now(), when, now_);
  return {*this, ticks(when)};
}
inline LanedDelayAwaiter Engine::until(SimTime when, Lane lane) {
  TS_EXPECTS(when >= now(), when, now_);
  return {ticks(when), lane};
}

inline void Engine::resume_at(std::uint64_t when, ProcessPromise& process, Lane lane) {
  push(when, target_of(process), lane);
}

inline ProcessRef Engine::spawn(Process process) {
  const Process::Handle handle = process.release();
  TS_EXPECTS(handle);
  ProcessPromise& promise = handle.promise();
  TS_EXPECTS(promise.fresh());
  ProcessSlot& slot = slots_.take();
  slot.process = &promise;
  slot.id = next_id_++;
  promise.engine_ = this;
  promise.owner_ = reinterpret_cast<std::uintptr_t>(&slot) + ProcessPromise::kSpawned;
  promise.set_queued();
  due_.push(target_of(promise));
  return ProcessRef(slot);
}
/// Frees the entry of a process that ends; returns its joiners, the latest first.
inline WaitNode* Engine::retire(ProcessPromise& process) noexcept {
  ProcessSlot& slot = process.slot();
  slot.id = 0;
  slots_.give_back(slot);
  return std::exchange(slot.joiners, nullptr);
}
inline void Engine::end_of(ProcessPromise& process) noexcept {
  WaitNode* const joiners = retire(process);
  if (joiners != nullptr) [[unlikely]]
    wake_joiners(joiners);
}
inline void ProcessPromise::end_spawned() noexcept {
  engine_->end_of(*this);
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
    child_.promise().set_running();
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
    if (!ref_.alive()) return false;
    waiter.promise().set_waiting(*this);
    Engine::add_joiner(ref_, *this);
    return true;
  }
  void await_resume() const {}

 private:
  static bool abandoned(WaitNode& node) {
    auto& join = static_cast<Join&>(node);
    return !Engine::remove_joiner(join.ref_, join);
  }

  ProcessRef ref_;
};

inline ProcessRef::Join ProcessRef::operator co_await() const {
  return Join(*this);
}

}  // namespace tiersim
