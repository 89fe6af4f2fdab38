#pragma once
// Model card: ring_queue
//   Models    a queue in one block of memory that grows to its largest content, so that a packet
//             costs no allocation once a model has warmed up.
//   Equation  first in, first out; insert_sorted assumes that entries come nearly in order.
//   Ignores   iteration; several ends.
//   Valid     entries that are cheap to copy.
//   Source    definition.
//   Checked   tests/unit/packet/nvlink_fabric_test.cpp, by the fabric that is made of it
#include <cstddef>
#include <vector>

#include "sim/base/check.hpp"

namespace tiersim {

template <class T>
class RingQueue {
 public:
  bool empty() const { return size_ == 0; }
  std::size_t size() const { return size_; }
  const T& operator[](std::size_t i) const { return slots_[(first_ + i) & (slots_.size() - 1)]; }
  T& operator[](std::size_t i) { return slots_[(first_ + i) & (slots_.size() - 1)]; }
  const T& front() const { return slots_[first_]; }
  T& front() { return slots_[first_]; }

  void push(const T& value) {
    if (size_ == slots_.size()) grow();
    ++size_;
    (*this)[size_ - 1] = value;
  }
  void pop() {
    TS_EXPECTS(size_ > 0, size_);
    first_ = (first_ + 1) & (slots_.size() - 1);
    --size_;
  }
  /// Inserts `value` behind all elements that `before(value, element)` does not put it before.
  template <class Before>
  void insert_sorted(const T& value, Before&& before) {
    push(value);
    for (std::size_t i = size_ - 1; i > 0 && before(value, (*this)[i - 1]); --i) {
      (*this)[i] = (*this)[i - 1];
      (*this)[i - 1] = value;
    }
  }

 private:
  void grow() {
    std::vector<T> larger(slots_.empty() ? 4 : 2 * slots_.size());
    for (std::size_t i = 0; i < size_; ++i) larger[i] = (*this)[i];
    slots_ = std::move(larger);
    first_ = 0;
  }

  std::vector<T> slots_;  // a power of two
  std::size_t first_ = 0;
  std::size_t size_ = 0;
};

}  // namespace tiersim
