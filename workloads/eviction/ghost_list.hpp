#pragma once
// The names of entries that have left a cache, from the first to the last that left.
#include <cstdint>
#include <vector>

#include "workloads/eviction/block_index.hpp"
#include "workloads/eviction/place_lists.hpp"

namespace tiersim {

class GhostList {
 public:
  bool contains(std::uint64_t name) const { return index_.find(name) != kNowhere; }
  /// A name that is not in the list.
  void append(std::uint64_t name, std::int64_t blocks);
  void erase(std::uint64_t name);
  void drop_oldest();
  bool empty() const { return index_.size() == 0; }
  /// Room that the entries took.
  std::int64_t blocks() const { return order_.blocks(0); }

 private:
  BlockIndex index_;
  PlaceLists order_{1};
  std::vector<std::uint64_t> names_;  // by place
  std::vector<Place> spare_;
};

}  // namespace tiersim
