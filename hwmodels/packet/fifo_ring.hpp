#pragma once
// A queue of packets, in buffers or in flight, that allocates only while it grows.
#include <cstddef>
#include <utility>
#include <vector>

#include "sim/base/check.hpp"

namespace tiersim {

template <class T>
class FifoRing {
 public:
  bool empty() const { return count_ == 0; }
  std::size_t size() const { return count_; }
  void push(const T& value) {
    if (count_ == slots_.size()) grow();
    slots_[(first_ + count_) & (slots_.size() - 1)] = value;
    ++count_;
  }
  /// Precondition: !empty().
  T& front() {
    TS_EXPECTS(count_ > 0, count_);
    return slots_[first_];
  }
  const T& front() const {
    TS_EXPECTS(count_ > 0, count_);
    return slots_[first_];
  }
  /// The element `position` < size() places behind the first.
  T& operator[](std::size_t position) {
    TS_EXPECTS(position < count_, position, count_);
    return slots_[(first_ + position) & (slots_.size() - 1)];
  }
  T pop() {
    TS_EXPECTS(count_ > 0, count_);
    const T value = slots_[first_];
    first_ = (first_ + 1) & (slots_.size() - 1);
    --count_;
    return value;
  }

 private:
  void grow() {
    std::vector<T> larger(slots_.empty() ? 8 : 2 * slots_.size());
    for (std::size_t i = 0; i < count_; ++i) larger[i] = slots_[(first_ + i) & (slots_.size() - 1)];
    slots_ = std::move(larger);
    first_ = 0;
  }

  std::vector<T> slots_;  // its size is a power of two, so that a position is a mask
  std::size_t first_ = 0;
  std::size_t count_ = 0;
};

}  // namespace tiersim
