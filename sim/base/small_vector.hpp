#pragma once
// A list that usually has a few elements, which then need no memory of their own. Steps have
// thousands of such lists.
#include <algorithm>
#include <array>
#include <cstddef>
#include <initializer_list>
#include <type_traits>
#include <utility>
#include <vector>

namespace tiersim {

/// Up to N elements lie in the object itself, more of them in a vector. A list that was moved from
/// has some elements or none.
template <class T, std::size_t N>
class SmallVector {
  static_assert(std::is_trivially_copyable_v<T>);

 public:
  using value_type = T;
  using iterator = T*;
  using const_iterator = const T*;

  SmallVector() = default;
  SmallVector(std::initializer_list<T> elements) {  // NOLINT(google-explicit-constructor)
    for (const T& element : elements) push_back(element);
  }

  std::size_t size() const { return many_.empty() ? few_count_ : many_.size(); }
  bool empty() const { return size() == 0; }
  T* data() { return many_.empty() ? few_.data() : many_.data(); }
  const T* data() const { return many_.empty() ? few_.data() : many_.data(); }
  T* begin() { return data(); }
  T* end() { return data() + size(); }
  const T* begin() const { return data(); }
  const T* end() const { return data() + size(); }
  T& operator[](std::size_t index) { return data()[index]; }
  const T& operator[](std::size_t index) const { return data()[index]; }
  T& front() { return *data(); }
  const T& front() const { return *data(); }
  T& back() { return *(end() - 1); }
  const T& back() const { return *(end() - 1); }

  void push_back(const T& element) {
    if (many_.empty() && few_count_ < N) {
      few_[few_count_++] = element;
      return;
    }
    const T added = element;  // may be one of these
    if (many_.empty()) {
      many_.reserve(2 * N);
      many_.assign(few_.begin(), few_.end());
    }
    many_.push_back(added);
  }

  /// Removes all equal elements.
  void erase(const T& element) {
    const auto left = static_cast<std::size_t>(std::remove(begin(), end(), element) - begin());
    if (many_.empty()) {
      few_count_ = left;
      return;
    }
    many_.resize(left);
    if (left == 0) few_count_ = 0;
  }

  friend bool operator==(const SmallVector& a, const SmallVector& b) {
    return std::equal(a.begin(), a.end(), b.begin(), b.end());
  }

 private:
  std::array<T, N> few_{};
  std::size_t few_count_ = 0;
  std::vector<T> many_;  // all elements, where they are more than N
};

}  // namespace tiersim
