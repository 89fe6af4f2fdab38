#pragma once
// The entries of a cache in the order of their last uses, to find those whose lifetime has ended.
// An entry lives for a fixed time after it came or was last used, as keys of a store with a TTL do.
#include <cstddef>
#include <vector>

#include "sim/base/units.hpp"
#include "workloads/eviction/place_lists.hpp"

namespace tiersim {

class LastUses {
 public:
  /// `lifetime` is above 0.
  explicit LastUses(Duration lifetime) : lifetime_(lifetime) {}

  /// The entry comes, or is used. Times never fall from call to call.
  void renew(Place place, SimTime now) {
    leave(place);
    if (times_.size() <= static_cast<std::size_t>(place))
      times_.resize(static_cast<std::size_t>(place) + 1);
    times_[static_cast<std::size_t>(place)] = now;
    order_.append(0, place);
  }
  /// The entry leaves the cache, or is in use and does not age.
  void leave(Place place) {
    if (order_.list_of(place) >= 0) order_.unlink(place);
  }
  /// The one that was used longest ago, if its lifetime has ended at `now`; else kNowhere.
  Place ended(SimTime now) const {
    const Place oldest = order_.oldest(0);
    if (oldest == kNowhere) return kNowhere;
    // A difference, since the sum may be beyond the last time that can be counted.
    return now - times_[static_cast<std::size_t>(oldest)] >= lifetime_ ? oldest : kNowhere;
  }

 private:
  Duration lifetime_;
  PlaceLists order_{1};
  std::vector<SimTime> times_;  // by place
};

}  // namespace tiersim
