#pragma once
// Nodes of one type, taken and given back in any order without allocation in the steady state.
// Their addresses stay valid as long as the pool, so that a stale token can still look at its node.
#include <array>
#include <cstddef>
#include <memory>
#include <vector>

namespace tiersim {

/// `Node` is default constructible and has a member `Node* next_free`, which the pool uses while
/// the node is free. The other members of a node that was given back keep their values.
template <class Node>
class NodePool {
 public:
  Node& take() {
    if (free_ == nullptr) grow();
    Node& node = *free_;
    free_ = node.next_free;
    return node;
  }
  void give_back(Node& node) {
    node.next_free = free_;
    free_ = &node;
  }
  /// Calls `function` for every node, taken or free.
  template <class Function>
  void for_each(Function&& function) {
    for (const auto& slab : slabs_)
      for (Node& node : *slab) function(node);
  }

 private:
  using Slab = std::array<Node, 64>;

  [[gnu::noinline]] void grow() {
    slabs_.push_back(std::make_unique<Slab>());
    Slab& slab = *slabs_.back();
    for (std::size_t i = slab.size(); i-- > 0;) give_back(slab[i]);
  }

  Node* free_ = nullptr;
  std::vector<std::unique_ptr<Slab>> slabs_;
};

}  // namespace tiersim
