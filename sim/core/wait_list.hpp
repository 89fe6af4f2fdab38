#pragma once
// FIFO of waiting processes, linked through their awaiters.
#include "sim/core/engine.hpp"

namespace tiersim {

class WaitList {
 public:
  WaitList() = default;
  WaitList(const WaitList&) = delete;
  WaitList& operator=(const WaitList&) = delete;

  bool empty() const { return first_ == nullptr; }
  WaitNode& front() { return *first_; }
  void push(WaitNode& node) {
    node.next = nullptr;
    *end_ = &node;
    end_ = &node.next;
  }
  /// Removes the first; requires !empty(). It then is_out() of any list.
  WaitNode& pop() {
    WaitNode& node = *first_;
    first_ = node.next;
    if (first_ == nullptr) end_ = &first_;
    node.next = &node;
    return node;
  }
  /// True where pop() removed the node, so that the process was granted what it waited for.
  static bool is_out(const WaitNode& node) { return node.next == &node; }
  /// Removes `node` from its place in this list by a linear search, which only cancellation needs.
  void remove(WaitNode& node) {
    WaitNode** link = &first_;
    while (*link != &node) link = &(*link)->next;
    *link = node.next;
    if (end_ == &node.next) end_ = link;
  }
  /// Removes all nodes and resumes them in order, after the events that are already due.
  void wake_all(Engine& engine) {
    while (!empty()) engine.wake(*pop().process);
  }

 private:
  WaitNode* first_ = nullptr;
  WaitNode** end_ = &first_;  // where the next node is linked, so that a push has no branch
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
