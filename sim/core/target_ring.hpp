#pragma once
// FIFO of what is to be done at the present instant. Grows by doubling and never shrinks.
#include <cstddef>
#include <vector>

#include "sim/core/event.hpp"

namespace tiersim {

class TargetRing {
 public:
  bool empty() const { return first_ == last_; }
  void push(Target target) {
    if (last_ - first_ == slots_.size()) grow();
    slots_[last_++ & (slots_.size() - 1)] = target;
  }
  /// !empty().
  Target pop() { return slots_[first_++ & (slots_.size() - 1)]; }

 private:
  static constexpr std::size_t kInitialSize = 64;  // a power of two, like every later size

  void grow() {
    std::vector<Target> larger(slots_.empty() ? kInitialSize : 2 * slots_.size());
    const std::size_t count = last_ - first_;
    for (std::size_t i = 0; i < count; ++i) larger[i] = slots_[(first_ + i) & (slots_.size() - 1)];
    slots_.swap(larger);
    first_ = 0;
    last_ = count;
  }

  std::vector<Target> slots_;
  std::size_t first_ = 0;  // both count up for ever; the low bits are the position
  std::size_t last_ = 0;
};

}  // namespace tiersim
