#include "sim/core/priority_resource.hpp"

#include <algorithm>

namespace tiersim {

PriorityResource::PriorityResource(Engine& engine, std::int64_t servers)
    : Waitable(engine), servers_(servers), free_(servers) {
  TS_EXPECTS(servers > 0, servers);
}

void PriorityResource::release() {
  if (heap_.empty()) {
    TS_EXPECTS(free_ < servers_, free_, servers_);
    ++free_;
    return;
  }
  std::pop_heap(heap_.begin(), heap_.end());
  WaitNode& node = *heap_.back().node;
  heap_.pop_back();
  WaitList::wake(node);
}

void PriorityResource::wait(WaitNode& node, std::int64_t priority) {
  heap_.push_back({priority, next_order_++, &node});
  std::push_heap(heap_.begin(), heap_.end());
}

bool PriorityResource::abandon(WaitNode& node) {
  const auto found = std::find_if(heap_.begin(), heap_.end(),
                                  [&](const Waiter& waiter) { return waiter.node == &node; });
  if (found == heap_.end()) {  // it was granted a server
    release();
    return true;
  }
  *found = heap_.back();
  heap_.pop_back();
  std::make_heap(heap_.begin(), heap_.end());
  return false;
}

}  // namespace tiersim
