#pragma once
// FIFO of the actions that are due at the present instant. It grows by doubling and never shrinks.
#include <cstddef>
#include <memory>
#include <utility>

#include "sim/core/event.hpp"

namespace tiersim {

class TargetRing {
 public:
  bool empty() const { return first_ == last_; }
  void push(Target target) {
    if (last_ - first_ > mask_) [[unlikely]]
      return push_into_full(target);
    slots_[last_++ & mask_] = target;
  }
  /// Requires !empty().
  Target pop() { return slots_[first_++ & mask_]; }

 private:
  static constexpr std::size_t kInitialSize = 64;  // a power of two, like every later size

  void push_into_full(Target target) {
    const std::size_t count = last_ - first_;
    auto larger = std::make_unique<Target[]>(2 * (mask_ + 1));
    for (std::size_t i = 0; i < count; ++i) larger[i] = slots_[(first_ + i) & mask_];
    slots_ = std::move(larger);
    mask_ = 2 * mask_ + 1;
    first_ = 0;
    last_ = count;
    slots_[last_++] = target;
  }

  std::unique_ptr<Target[]> slots_ = std::make_unique<Target[]>(kInitialSize);
  std::size_t mask_ = kInitialSize - 1;
  std::size_t first_ = 0;  // both only count up; the low bits are the position
  std::size_t last_ = 0;
};

}  // namespace tiersim
