#pragma once
// A policy that keeps its entries in the order of a key of each: that with the least one leaves.
#include <cstddef>
#include <cstdint>
#include <utility>
#include <vector>

#include "workloads/eviction/place_heap.hpp"

namespace tiersim {

/// `State` is what the policy remembers of an entry, with operator<, and a member `turn` that makes
/// it unique.
template <class State>
class PlaceOrder : public EvictionPolicy {
 public:
  void hold(Place place) override { heap_.erase(place); }
  void release(Place place, const Visit& /*visit*/) override { heap_.push(place, state(place)); }
  void remove(Place place) override {
    if (heap_.contains(place)) heap_.erase(place);
  }
  void evict(const Visit* /*incoming*/, std::vector<Place>& out) override {
    if (heap_.empty()) return;
    const Place place = heap_.top();
    heap_.erase(place);
    out.push_back(place);
  }

 protected:
  State& state(Place place) {
    if (states_.size() <= static_cast<std::size_t>(place))
      states_.resize(static_cast<std::size_t>(place) + 1);
    return states_[static_cast<std::size_t>(place)];
  }
  /// The entry has this state now.
  void put(Place place, const State& now) {
    state(place) = now;
    heap_.push(place, now);
  }
  /// The same for an entry of the cache, which may be held.
  void change(Place place, const State& now) {
    state(place) = now;
    if (!heap_.contains(place)) return;
    heap_.erase(place);
    heap_.push(place, now);
  }
  const PlaceHeap<State>& heap() const { return heap_; }
  std::int64_t next_turn() { return ++turn_; }

 private:
  PlaceHeap<State> heap_;
  std::vector<State> states_;  // by place
  std::int64_t turn_ = 0;
};

}  // namespace tiersim
