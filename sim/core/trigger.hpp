#pragma once
// Synchronisation on one event, or on a number of events that must all have happened.
//
//   Trigger loaded(engine);                    WaitGroup parts(engine, 3);
//   co_await loaded.wait();                    co_await parts.wait();   // until done() three times
//   loaded.fire();                             parts.done();
#include <cstdint>

#include "sim/core/engine.hpp"
#include "sim/core/wait_list.hpp"

namespace tiersim {

/// Waits in `list` until woken, or not at all if `ready`. Part of the types below.
class [[nodiscard]] ListWait : public WaitNode {
 public:
  ListWait(WaitList& list, bool ready)
      : WaitNode(&ListWait::abandoned), list_(list), ready_(ready) {}
  bool await_ready() const { return ready_; }
  void await_suspend(Process::Handle waiter) {
    waiter.promise().set_waiting(*this);
    list_.push(*this);
  }
  void await_resume() {
    if (process != nullptr) process->set_running();
  }

 private:
  static bool abandoned(WaitNode& node) {
    if (WaitList::is_out(node)) return true;
    static_cast<ListWait&>(node).list_.remove(node);
    return false;
  }

  WaitList& list_;
  bool ready_;
};

/// One shot, any number of waiters, woken in the order in which they came.
class Trigger : public Waitable {
 public:
  using Waitable::Waitable;
  ~Trigger() { end_users(!waiting_.empty()); }

  ListWait wait() { return {waiting_, fired_}; }
  /// Wakes all waiters; later ones do not wait. Firing again has no effect.
  void fire() {
    fired_ = true;
    waiting_.wake_all();
  }
  bool fired() const { return fired_; }

 private:
  WaitList waiting_;
  bool fired_ = false;
};

/// Fires whenever its count reaches zero.
class WaitGroup : public Waitable {
 public:
  explicit WaitGroup(Engine& engine, std::int64_t count = 0) : Waitable(engine), count_(count) {
    TS_EXPECTS(count >= 0, count);
  }
  ~WaitGroup() { end_users(!waiting_.empty()); }

  void add(std::int64_t things = 1) {
    TS_EXPECTS(things >= 0, things);
    count_ += things;
  }
  void done() {
    TS_EXPECTS(count_ > 0, count_);
    if (--count_ == 0) waiting_.wake_all();
  }
  /// Does not wait if the count is zero.
  ListWait wait() { return {waiting_, count_ == 0}; }
  std::int64_t count() const { return count_; }

 private:
  WaitList waiting_;
  std::int64_t count_;
};

}  // namespace tiersim
