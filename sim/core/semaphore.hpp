#pragma once
// A count of units, of which a process takes any number, first come first served: small requests do
// not overtake a large one at the head of the line.
//
//   Semaphore credits(engine, 64);
//   co_await credits.acquire(3);
//   credits.release(3);
#include <cstdint>

#include "sim/core/engine.hpp"
#include "sim/core/wait_list.hpp"

namespace tiersim {

class Semaphore : public Waitable {
 public:
  /// Starts with `count` >= 0 units; release() may exceed that number.
  Semaphore(Engine& engine, std::int64_t count) : Waitable(engine), count_(count) {
    TS_EXPECTS(count >= 0, count);
  }
  ~Semaphore() { end_users(!waiting_.empty()); }

  class Acquire;
  /// co_await semaphore.acquire(n), n > 0.
  Acquire acquire(std::int64_t units = 1);
  bool try_acquire(std::int64_t units = 1) {
    if (!waiting_.empty() || count_ < units) return false;
    count_ -= units;
    return true;
  }
  /// Wakes the processes at the head of the line that now have enough units.
  void release(std::int64_t units = 1);

  std::int64_t count() const { return count_; }

 private:
  void grant();

  std::int64_t count_;
  WaitList waiting_;
};

class [[nodiscard]] Semaphore::Acquire : public WaitNode {
 public:
  Acquire(Semaphore& semaphore, std::int64_t units)
      : WaitNode(&Acquire::abandoned), semaphore_(semaphore), units_(units) {
    TS_EXPECTS(units > 0, units);
  }
  bool await_ready() { return semaphore_.try_acquire(units_); }
  void await_suspend(Process::Handle waiter) {
    waiter.promise().set_waiting(*this);
    semaphore_.waiting_.push(*this);
  }
  void await_resume() const {}

 private:
  friend class Semaphore;
  static bool abandoned(WaitNode& node) {
    auto& acquire = static_cast<Acquire&>(node);
    if (WaitList::is_out(node)) {
      acquire.semaphore_.release(acquire.units_);
      return true;
    }
    acquire.semaphore_.waiting_.remove(node);
    acquire.semaphore_.grant();  // the next in line may now have enough
    return false;
  }

  Semaphore& semaphore_;
  std::int64_t units_;
};

inline Semaphore::Acquire Semaphore::acquire(std::int64_t units) {
  return {*this, units};
}
inline void Semaphore::release(std::int64_t units) {
  TS_EXPECTS(units > 0, units);
  count_ += units;
  grant();
}
inline void Semaphore::grant() {
  while (!waiting_.empty()) {
    const std::int64_t units = static_cast<Acquire&>(waiting_.front()).units_;
    if (units > count_) return;
    count_ -= units;
    engine().wake(*waiting_.pop().process);
  }
}

}  // namespace tiersim
