#pragma once
// Servers that are granted to the waiting process with the lowest priority number, and to the first
// among equals. There is no preemption: a process keeps its server until it releases it.
#include <cstdint>
#include <vector>

#include "sim/core/engine.hpp"
#include "sim/core/wait_list.hpp"

namespace tiersim {

class PriorityResource : public Waitable {
 public:
  /// `servers` > 0.
  PriorityResource(Engine& engine, std::int64_t servers);
  ~PriorityResource() { end_users(!heap_.empty()); }

  class Acquire;
  /// co_await resource.acquire(priority)
  Acquire acquire(std::int64_t priority);
  void release();

  std::int64_t servers() const { return servers_; }
  std::int64_t in_use() const { return servers_ - free_; }

 private:
  struct Waiter {
    std::int64_t priority;
    std::uint64_t order;
    WaitNode* node;
    /// For std::push_heap, whose greatest element is served next.
    friend bool operator<(const Waiter& a, const Waiter& b) {
      return a.priority != b.priority ? a.priority > b.priority : a.order > b.order;
    }
  };
  void wait(WaitNode& node, std::int64_t priority);
  bool abandon(WaitNode& node);

  std::int64_t servers_;
  std::int64_t free_;
  std::vector<Waiter> heap_;
  std::uint64_t next_order_ = 0;
};

class [[nodiscard]] PriorityResource::Acquire : public WaitNode {
 public:
  Acquire(PriorityResource& resource, std::int64_t priority)
      : WaitNode(&Acquire::abandoned), resource_(resource), priority_(priority) {}
  bool await_ready() {
    if (resource_.free_ == 0) return false;
    --resource_.free_;
    return true;
  }
  void await_suspend(Process::Handle waiter) {
    waiter.promise().set_waiting(*this);
    resource_.wait(*this, priority_);
  }
  void await_resume() {
    if (process != nullptr) process->set_running();
  }

 private:
  static bool abandoned(WaitNode& node) {
    return static_cast<Acquire&>(node).resource_.abandon(node);
  }

  PriorityResource& resource_;
  std::int64_t priority_;
};

inline PriorityResource::Acquire PriorityResource::acquire(std::int64_t priority) {
  return {*this, priority};
}

}  // namespace tiersim
