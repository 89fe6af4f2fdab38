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
  /// Takes the first; !empty(). It then is_out() of any list.
  WaitNode& pop() {
    WaitNode& node = *first_;
    first_ = node.next;
    node.next = &node;
    return node;
  }
  /// Whether pop() took the node, so that what it waited for is granted.
  static bool is_out(const WaitNode& node) { return node.next == &node; }
  /// Takes `node` out from wherever it is in this list: a walk, which only cancellation pays.
  void remove(WaitNode& node) {
    WaitNode* before = nullptr;
    for (WaitNode* at = first_; at != &node; at = at->next) before = at;
    (before == nullptr ? first_ : before->next) = node.next;
    if (last_ == &node) last_ = before;
  }
  /// Takes all out and resumes them in order, after what is due already.
  void wake_all() {
    while (!empty()) wake(pop());
  }
  static void wake(WaitNode& node) { node.process->engine().wake(*node.process); }

 private:
  WaitNode* first_ = nullptr;
  WaitNode* last_ = nullptr;
};

/// Base of what processes wait for. Frames that are still suspended when such an object goes would
/// later touch it, so a simulation that stopped in its middle ends them then.
class Waitable {
 public:
  explicit Waitable(Engine& engine) : engine_(engine) {}
  Waitable(const Waitable&) = delete;
  Waitable& operator=(const Waitable&) = delete;

  Engine& engine() const { return engine_; }

 protected:
  ~Waitable() = default;
  /// For destructors. In use while the engine runs is a fault: a process would hang for ever.
  void end_users(bool in_use) {
    if (in_use) engine_.end_processes_before_model();
  }

 private:
  Engine& engine_;
};

}  // namespace tiersim
