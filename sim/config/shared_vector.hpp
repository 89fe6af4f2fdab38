#pragma once
// A vector whose copies share their elements until one of them is changed. Trees of configurations
// are laid over each other and kept many times, and most of their parts stay as the files have
// them.
#include <atomic>
#include <cstddef>
#include <memory>
#include <span>
#include <utility>
#include <vector>

namespace tiersim {

/// Copies may belong to several threads; one copy belongs to one thread at a time. T may be
/// incomplete where the member is declared.
template <class T>
class SharedVector {
 public:
  SharedVector() = default;
  SharedVector(std::vector<T> elements)  // NOLINT(google-explicit-constructor)
      : elements_(std::make_shared<std::vector<T>>(std::move(elements))) {}

  const std::vector<T>& get() const {
    static const std::vector<T> kNone;
    return elements_ ? *elements_ : kNone;
  }
  auto begin() const { return get().begin(); }
  auto end() const { return get().end(); }
  std::size_t size() const { return get().size(); }
  bool empty() const { return get().empty(); }
  const T& operator[](std::size_t index) const { return get()[index]; }

  /// The elements of this copy alone, to change them. They last until the vector is copied.
  std::span<T> each() {
    if (empty()) return {};
    return edit();
  }
  /// The same, to add and to remove elements.
  std::vector<T>& edit() {
    if (!elements_) {
      elements_ = std::make_shared<std::vector<T>>();
    } else if (elements_.use_count() > 1) {
      elements_ = std::make_shared<std::vector<T>>(*elements_);
    } else {
      // Another thread may just have released its copy: what it read comes before what is written.
      std::atomic_thread_fence(std::memory_order_acquire);
    }
    return *elements_;
  }

 private:
  std::shared_ptr<std::vector<T>> elements_;
};

}  // namespace tiersim
