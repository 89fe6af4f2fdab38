#pragma once
// Places in the order of a key that may change: a binary heap that knows where each place stands.
#include <cstddef>
#include <cstdint>
#include <utility>
#include <vector>

#include "sim/base/check.hpp"
#include "workloads/eviction/eviction_policy.hpp"

namespace tiersim {

/// Key orders strictly by `<`; the place with the least key is on top.
template <class Key>
class PlaceHeap {
 public:
  bool empty() const { return heap_.empty(); }
  Place top() const { return heap_.front().second; }
  const Key& top_key() const { return heap_.front().first; }
  bool contains(Place place) const {
    return static_cast<std::size_t>(place) < where_.size() && where_[index(place)] >= 0;
  }
  void push(Place place, Key key) {
    if (where_.size() <= index(place)) where_.resize(index(place) + 1, -1);
    TS_EXPECTS(where_[index(place)] < 0, place);
    heap_.emplace_back(std::move(key), place);
    rise(heap_.size() - 1);
  }
  void erase(Place place) {
    TS_EXPECTS(contains(place), place);
    const auto at = static_cast<std::size_t>(where_[index(place)]);
    where_[index(place)] = -1;
    std::pair<Key, Place> last = std::move(heap_.back());
    heap_.pop_back();
    if (at == heap_.size()) return;
    heap_[at] = std::move(last);
    if (at > 0 && heap_[at].first < heap_[(at - 1) / 2].first)
      rise(at);
    else
      sink(at);
  }

 private:
  static std::size_t index(Place place) { return static_cast<std::size_t>(place); }
  void settle(std::size_t at, std::pair<Key, Place> item) {
    where_[index(item.second)] = static_cast<std::int32_t>(at);
    heap_[at] = std::move(item);
  }
  void rise(std::size_t at) {
    std::pair<Key, Place> item = std::move(heap_[at]);
    for (; at > 0 && item.first < heap_[(at - 1) / 2].first; at = (at - 1) / 2)
      settle(at, std::move(heap_[(at - 1) / 2]));
    settle(at, std::move(item));
  }
  void sink(std::size_t at) {
    std::pair<Key, Place> item = std::move(heap_[at]);
    for (std::size_t child = 2 * at + 1; child < heap_.size(); child = 2 * at + 1) {
      if (child + 1 < heap_.size() && heap_[child + 1].first < heap_[child].first) ++child;
      if (!(heap_[child].first < item.first)) break;
      settle(at, std::move(heap_[child]));
      at = child;
    }
    settle(at, std::move(item));
  }

  std::vector<std::pair<Key, Place>> heap_;
  std::vector<std::int32_t> where_;  // by place; -1: not here
};

}  // namespace tiersim
