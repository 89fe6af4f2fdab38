#pragma once
// A reusable barrier that a fixed number of processes pass together.
//
//   Barrier step(engine, 8);
//   co_await step.arrive();   // returns when eight have arrived; the last one does not wait
#include <cstdint>

#include "sim/core/engine.hpp"
#include "sim/core/wait_list.hpp"

namespace tiersim {

class Barrier : public Waitable {
 public:
  /// `parties` > 0.
  Barrier(Engine& engine, std::int64_t parties) : Waitable(engine), parties_(parties) {
    TS_EXPECTS(parties > 0, parties);
  }
  ~Barrier() { end_users(!waiting_.empty()); }

  class Arrive;
  Arrive arrive();
  /// Number of processes that wait for the others.
  std::int64_t arrived() const { return arrived_; }

 private:
  std::int64_t parties_;
  std::int64_t arrived_ = 0;
  WaitList waiting_;
};

class [[nodiscard]] Barrier::Arrive : public WaitNode {
 public:
  explicit Arrive(Barrier& barrier) : WaitNode(&Arrive::abandoned), barrier_(barrier) {}
  bool await_ready() {
    if (barrier_.arrived_ + 1 < barrier_.parties_) return false;
    barrier_.arrived_ = 0;
    barrier_.waiting_.wake_all();
    return true;
  }
  void await_suspend(Process::Handle waiter) {
    waiter.promise().set_waiting(*this);
    ++barrier_.arrived_;
    barrier_.waiting_.push(*this);
  }
  void await_resume() {
    if (process != nullptr) process->set_running();
  }

 private:
  static bool abandoned(WaitNode& node) {
    if (WaitList::is_out(node)) return true;
    Barrier& barrier = static_cast<Arrive&>(node).barrier_;
    barrier.waiting_.remove(node);
    --barrier.arrived_;
    return false;
  }

  Barrier& barrier_;
};

inline Barrier::Arrive Barrier::arrive() {
  return Arrive(*this);
}

}  // namespace tiersim
