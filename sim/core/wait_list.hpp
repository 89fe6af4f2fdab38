#pragma once
// FIFO of waiting processes, linked through their awaiters.
#include "sim/core/engine.hpp"

namespace tiersim {

class WaitList {
 public:
  bool empty() const { return first_ == nullptr; }
  WaitNode& front() { return *first_; }
  void push(WaitNode& node) {
    node.next = nullptr;
    (first_ == nullptr ? first_ : last_->next) = &node;
    last_ = &node;
  }
  /// Removes the first; requires !empty(). It then is_out() of any list.
  WaitNode& pop() {
    WaitNode& node = *first_;
    first_ = node.next;
    node.next = &node;
    return node;
  }
  /// True where pop() removed the node, so that the process was granted what it waited for.
  static bool is_out(const WaitNode& node) { return node.next == &node; }
  /// Removes `node` from its place in this list by a linear search, which only cancellation needs.
  void remove(WaitNode& node) {
    WaitNode* before = nullptr;
    for (WaitNode* at = first_; at != &node; at = at->next) before = at;
    (before == nullptr ? first_ : before->next) = node.next;
    if (last_ == &node) last_ = before;
  }
  /// Removes all nodes and resumes them in order, after the events that are already due.
  void wake_all() {
    while (!empty()) wake(pop());
  }
  static void wake(WaitNode& node) { node.process->engine().wake(*node.process); }

 private:
  WaitNode* first_ = nullptr;
  WaitNode* last_ = nullptr;
};

/// Base of the objects that processes wait for. A frame that is still suspended when such an object
/// is destroyed would later touch it, so the destructors end all processes of an unfinished
/// simulation.
class Waitable {
 public:
  explicit Waitable(Engine& engine) : engine_(engine) {}
  Waitable(const Waitable&) = delete;
  Waitable& operator=(const Waitable&) = delete;

  Engine& engine() const { return engine_; }

 protected:
  ~Waitable() = default;
  /// For destructors. `in_use` while the engine runs is a fault: a process would wait for ever.
  void end_users(bool in_use) {
    if (in_use) engine_.end_processes_before_model();
  }

 private:
  Engine& engine_;
};

}  // namespace tiersim
