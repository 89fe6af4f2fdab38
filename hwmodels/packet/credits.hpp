#pragma once
// Model card: credits
//   Models    credit-based flow control: a sender takes credits before it sends; the receiver
//             returns them when its buffer is free again and the return has travelled.
//   Equation  issued = returned + held, 0 <= held <= limit.
//   Ignores   the way of the return; the caller delays give().
//   Valid     any unit (packets, 16 B of data, flits), as long as both ends use the same.
//   Source    definition; PCI Express base specification, flow control; CXL, link layer credits.
//   Checked   tests/unit/packet/credits_test.cpp
#include <cstdint>
#include <limits>
#include <vector>

#include "sim/base/check.hpp"
#include "sim/core/engine.hpp"

namespace tiersim {

/// The sender's count of a receiver's buffer; one object for each class of credit.
///   if (!headers.take(1)) headers.wait(1, *this, packet);  // on_event() when it holds them
///   ...
///   headers.give(engine, 1);
class Credits {
 public:
  /// A receiver that advertises no limit.
  static constexpr std::int64_t kUnlimited = std::numeric_limits<std::int64_t>::max();

  /// Precondition: limit > 0.
  explicit Credits(std::int64_t limit) : limit_(limit) { TS_EXPECTS(limit > 0, limit); }

  /// True where take() would succeed: enough credits are free and no earlier waiter is queued.
  bool can_take(std::int64_t count) const { return waiting_ == 0 && count <= available(); }
  bool take(std::int64_t count) {
    if (!can_take(count)) return false;
    issue(count);
    return true;
  }
  /// Appends `handler` to the queue; at its on_event(payload) it holds the credits. Precondition:
  /// `count` <= limit, as more could never be granted.
  void wait(std::int64_t count, EventHandler& handler, std::uint64_t payload = 0) {
    TS_EXPECTS(count <= limit_, count, limit_);
    if (waiting_ == waiters_.size()) grow();
    waiters_[(first_ + waiting_) % waiters_.size()] = {&handler, payload, count};
    ++waiting_;
  }
  /// Returns `count` of the held credits. Those of the first waiters whose requests now fit get
  /// them at this instant.
  void give(Engine& engine, std::int64_t count) {
    TS_EXPECTS(count >= 0 && count <= held(), count, held());
    returned_ += count;
    while (waiting_ > 0 && waiters_[first_].count <= available()) {
      const Waiter waiter = waiters_[first_];
      first_ = (first_ + 1) % waiters_.size();
      --waiting_;
      issue(waiter.count);
      engine.schedule(engine.now(), *waiter.handler, waiter.payload);
    }
  }

  std::int64_t limit() const { return limit_; }
  std::int64_t issued() const { return issued_; }
  std::int64_t returned() const { return returned_; }
  std::int64_t held() const { return issued_ - returned_; }
  std::int64_t available() const { return limit_ - held(); }
  std::int64_t most_held() const { return most_held_; }
  std::size_t waiting() const { return waiting_; }

 private:
  struct Waiter {
    EventHandler* handler = nullptr;
    std::uint64_t payload = 0;
    std::int64_t count = 0;
  };

  void issue(std::int64_t count) {
    TS_EXPECTS(count >= 0, count);
    issued_ += count;
    if (held() > most_held_) most_held_ = held();
  }
  void grow() {
    std::vector<Waiter> larger(waiters_.empty() ? 8 : 2 * waiters_.size());
    for (std::size_t i = 0; i < waiting_; ++i) larger[i] = waiters_[(first_ + i) % waiters_.size()];
    waiters_ = std::move(larger);
    first_ = 0;
  }

  std::int64_t limit_;
  std::int64_t issued_ = 0;
  std::int64_t returned_ = 0;
  std::int64_t most_held_ = 0;
  std::vector<Waiter> waiters_;  // a ring
  std::size_t first_ = 0;
  std::size_t waiting_ = 0;
};

}  // namespace tiersim
