#pragma once
// Model card: credit_calendar
//   Models    the sender's count of a receiver's buffer, where the times of credit returns are
//             known in advance, so that no waiter needs an event.
//   Equation  issued = returned + held, 0 <= held <= limit; free at t = limit - issued + returns
//             up to t.
//   Ignores   the way of a return: the caller of give() states its arrival.
//   Valid     one sender; takes in the order of time.
//   Source    definition.
//   Checked   tests/unit/packet/nvlink_fabric_test.cpp
#include <cstdint>

#include "hwmodels/packet/nvlink/ring_queue.hpp"
#include "sim/base/units.hpp"

namespace tiersim {

class CreditCalendar {
 public:
  /// Stands for an instant that never comes.
  static constexpr SimTime kNever = SimTime::max();

  /// limit 0: no limit.
  explicit CreditCalendar(std::int64_t limit = 0) : limit_(limit), free_(limit) {}

  /// The first instant at which `count` credits are free, by the known returns.
  SimTime earliest(std::int64_t count) const {
    std::int64_t free = free_;
    if (limit_ == 0 || free >= count) return SimTime{};
    for (std::size_t i = 0; i < returns_.size(); ++i) {
      free += returns_[i].count;
      if (free >= count) return returns_[i].when;
    }
    return kNever;
  }
  /// Takes `count` credits, which must be free at `now`.
  void take(SimTime now, std::int64_t count) {
    if (limit_ == 0) return;
    for (; !returns_.empty() && returns_.front().when <= now; returns_.pop()) {
      free_ += returns_.front().count;
      returned_ += returns_.front().count;
    }
    TS_INVARIANT(free_ >= count, free_, count);
    free_ -= count;
    issued_ += count;
  }
  /// Returns `count` credits as of `when`.
  void give(SimTime when, std::int64_t count) {
    if (limit_ == 0) return;
    returns_.insert_sorted({when, count},
                           [](const Return& a, const Return& b) { return a.when < b.when; });
    promised_ += count;
    TS_INVARIANT(promised_ <= issued_, promised_, issued_);
  }

  std::int64_t limit() const { return limit_; }
  std::int64_t issued() const { return issued_; }
  /// returned(): credits whose return has arrived; promised(): also those still on their way back.
  std::int64_t returned() const { return returned_; }
  std::int64_t promised() const { return promised_; }

 private:
  struct Return {
    SimTime when{};
    std::int64_t count = 0;
  };

  std::int64_t limit_;
  std::int64_t free_;
  std::int64_t issued_ = 0;
  std::int64_t returned_ = 0;
  std::int64_t promised_ = 0;
  RingQueue<Return> returns_;  // by time
};

}  // namespace tiersim
