#pragma once
// Synchronisation on one event.
//
//   Trigger loaded(engine);
//   co_await loaded.wait();
//   loaded.fire();
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
  void await_resume() const {}

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
    waiting_.wake_all(engine());
  }
  bool fired() const { return fired_; }

 private:
  WaitList waiting_;
  bool fired_ = false;
};

}  // namespace tiersim
