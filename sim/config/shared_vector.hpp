#pragma once
// A vector whose copies share their elements until one of them is changed. Trees of configurations
// are laid over each other and kept many times, and most of their parts stay as the files have
// them.
#include <atomic>
#include <cstddef>
#include <span>
#include <utility>
#include <vector>

namespace tiersim {

/// Copies may belong to several threads; one copy belongs to one thread at a time. T may be
/// incomplete where the member is declared. Owners are counted here and not by a shared_ptr, whose
/// use_count() does not order what a former owner read before what the last one writes.
template <class T>
class SharedVector {
 public:
  SharedVector() = default;
  SharedVector(std::vector<T> elements)  // NOLINT(google-explicit-constructor)
      : shared_(new Shared{.elements = std::move(elements)}) {}
  SharedVector(const SharedVector& other) : shared_(other.shared_) {
    if (shared_ != nullptr) shared_->owners.fetch_add(1, std::memory_order_relaxed);
  }
  SharedVector(SharedVector&& other) noexcept : shared_(std::exchange(other.shared_, nullptr)) {}
  SharedVector& operator=(SharedVector other) noexcept {
    std::swap(shared_, other.shared_);
    return *this;
  }
  ~SharedVector() {
    if (shared_ != nullptr && shared_->owners.fetch_sub(1, std::memory_order_acq_rel) == 1)
      delete shared_;
  }

  const std::vector<T>& get() const {
    static const std::vector<T> none;
    return shared_ != nullptr ? shared_->elements : none;
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
    if (shared_ == nullptr)
      shared_ = new Shared{};
    else if (shared_->owners.load(std::memory_order_acquire) > 1)
      *this = SharedVector(std::vector<T>(shared_->elements));
    return shared_->elements;
  }

 private:
  struct Shared {
    std::atomic<std::size_t> owners = 1;
    std::vector<T> elements = {};
  };

  Shared* shared_ = nullptr;
};

}  // namespace tiersim
