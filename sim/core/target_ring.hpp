#pragma once
// FIFO of the actions that are due at the present instant. It grows by doubling and never shrinks.
#include <algorithm>
#include <cstddef>
#include <memory>
#include <utility>

#include "sim/core/event.hpp"

namespace tiersim {

/// A window that moves to the right through an array. At the end of the array it goes back to the
/// start, so that neither a push nor a pop computes a position.
class TargetRing {
 public:
  bool empty() const { return first_ == last_; }
  void push(Target target) {
    if (last_ == end_) [[unlikely]]
      return push_into_full(target);
    *last_++ = target;
  }
  /// Requires !empty().
  Target pop() { return *first_++; }

 private:
  static constexpr std::size_t kInitialSize = 64;

  // Never inlined, so that the functions that push keep nothing in callee-saved registers for it.
  /// Moves at most as many actions as were pushed since the last time.
  [[gnu::noinline]] void push_into_full(Target target) {
    const auto size = static_cast<std::size_t>(end_ - slots_.get());
    const auto count = static_cast<std::size_t>(last_ - first_);
    if (2 * count > size) {
      auto larger = std::make_unique<Target[]>(2 * size);
      std::copy(first_, last_, larger.get());
      slots_ = std::move(larger);
      end_ = slots_.get() + 2 * size;
    } else {
      std::copy(first_, last_, slots_.get());
    }
    first_ = slots_.get();
    last_ = first_ + count;
    *last_++ = target;
  }

  std::unique_ptr<Target[]> slots_ = std::make_unique<Target[]>(kInitialSize);
  Target* first_ = slots_.get();
  Target* last_ = slots_.get();
  Target* end_ = slots_.get() + kInitialSize;
};

}  // namespace tiersim
