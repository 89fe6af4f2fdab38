#pragma once
// A bounded FIFO of values between processes.
//
//   Store<Request> inbox(engine, 16);
//   co_await inbox.put(request);                  // waits while it is full
//   const Request request = co_await inbox.get(); // waits while it is empty
#include <cstddef>
#include <limits>
#include <optional>
#include <utility>
#include <vector>

#include "sim/core/engine.hpp"
#include "sim/core/wait_list.hpp"

namespace tiersim {

template <class T>
class Store : public Waitable {
 public:
  /// `capacity` > 0 values; put() never waits without a capacity.
  explicit Store(Engine& engine, std::size_t capacity = std::numeric_limits<std::size_t>::max())
      : Waitable(engine), capacity_(capacity) {
    TS_EXPECTS(capacity > 0, capacity);
  }
  ~Store() { end_users(!getting_.empty() || !putting_.empty()); }

  class Put;
  class Get;
  Put put(T value) { return Put(*this, std::move(value)); }
  Get get() { return Get(*this); }

  std::size_t size() const { return size_; }
  std::size_t capacity() const { return capacity_; }

 private:
  void push_back(T&& value) {
    if (size_ == ring_.size()) grow();
    ring_[(first_ + size_++) & (ring_.size() - 1)].emplace(std::move(value));
  }
  void push_front(T&& value) {
    if (size_ == ring_.size()) grow();
    first_ = (first_ - 1) & (ring_.size() - 1);
    ring_[first_].emplace(std::move(value));
    ++size_;
  }
  T pop_front() {
    std::optional<T>& slot = ring_[first_];
    T value = std::move(*slot);
    slot.reset();
    first_ = (first_ + 1) & (ring_.size() - 1);
    --size_;
    return value;
  }
  void grow() {
    std::vector<std::optional<T>> larger(ring_.empty() ? 8 : 2 * ring_.size());
    for (std::size_t i = 0; i < size_; ++i)
      larger[i] = std::move(ring_[(first_ + i) & (ring_.size() - 1)]);
    ring_ = std::move(larger);
    first_ = 0;
  }
  /// Gives a value to the first waiting process, or puts it back at the front of the line.
  void return_value(T&& value);

  std::size_t capacity_;
  std::vector<std::optional<T>> ring_;  // the size is a power of two
  std::size_t first_ = 0;
  std::size_t size_ = 0;
  WaitList getting_;  // not empty only if the store is empty
  WaitList putting_;  // not empty only if the store is full
};

template <class T>
class [[nodiscard]] Store<T>::Put : public WaitNode {
 public:
  Put(Store& store, T&& value)
      : WaitNode(&Put::abandoned), store_(store), value_(std::move(value)) {}
  bool await_ready() {
    if (!store_.getting_.empty()) {
      auto& get = static_cast<Get&>(store_.getting_.pop());
      get.value_.emplace(std::move(value_));
      WaitList::wake(get);
      return true;
    }
    if (store_.size_ >= store_.capacity_) return false;
    store_.push_back(std::move(value_));
    return true;
  }
  void await_suspend(Process::Handle waiter) {
    waiter.promise().set_waiting(*this);
    store_.putting_.push(*this);
  }
  void await_resume() {
    if (process != nullptr) process->set_running();
  }

 private:
  friend class Store::Get;
  static bool abandoned(WaitNode& node) {
    if (WaitList::is_out(node)) return true;  // the value is in the store
    static_cast<Put&>(node).store_.putting_.remove(node);
    return false;
  }

  Store& store_;
  T value_;
};

template <class T>
class [[nodiscard]] Store<T>::Get : public WaitNode {
 public:
  explicit Get(Store& store) : WaitNode(&Get::abandoned), store_(store) {}
  bool await_ready() {
    if (store_.size_ == 0) return false;
    value_.emplace(store_.pop_front());
    if (!store_.putting_.empty() && store_.size_ < store_.capacity_) {
      auto& put = static_cast<Put&>(store_.putting_.pop());
      store_.push_back(std::move(put.value_));
      WaitList::wake(put);
    }
    return true;
  }
  void await_suspend(Process::Handle waiter) {
    waiter.promise().set_waiting(*this);
    store_.getting_.push(*this);
  }
  T await_resume() {
    if (process != nullptr) process->set_running();
    return std::move(*value_);
  }

 private:
  friend class Store;
  static bool abandoned(WaitNode& node) {
    auto& get = static_cast<Get&>(node);
    if (WaitList::is_out(node)) {
      get.store_.return_value(std::move(*get.value_));
      return true;
    }
    get.store_.getting_.remove(node);
    return false;
  }

  Store& store_;
  std::optional<T> value_;
};

template <class T>
void Store<T>::return_value(T&& value) {
  if (getting_.empty()) return push_front(std::move(value));
  auto& get = static_cast<Get&>(getting_.pop());
  get.value_.emplace(std::move(value));
  WaitList::wake(get);
}

}  // namespace tiersim
