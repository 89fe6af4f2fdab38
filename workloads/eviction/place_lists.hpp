#pragma once
// Several lists of places, each from its oldest to its newest. A place is in at most one of them.
// Every operation takes constant time, and the memory is one record for each place ever used.
#include <cstddef>
#include <cstdint>
#include <vector>

#include "sim/base/check.hpp"
#include "workloads/eviction/eviction_policy.hpp"

namespace tiersim {

class PlaceLists {
 public:
  explicit PlaceLists(std::size_t lists) : ends_(lists) {}

  /// The place, which is in no list, becomes the newest of the list.
  void append(int list, Place place, std::int64_t blocks = 1) {
    if (links_.size() <= static_cast<std::size_t>(place))
      links_.resize(static_cast<std::size_t>(place) + 1);
    Link& link = at(place);
    TS_EXPECTS(link.list < 0, place);
    Ends& ends = of(list);
    link = {.older = ends.newest,
            .newer = kNowhere,
            .blocks = static_cast<std::int32_t>(blocks),
            .list = list};
    (ends.newest == kNowhere ? ends.oldest : at(ends.newest).newer) = place;
    ends.newest = place;
    ends.blocks += blocks;
  }
  /// The place leaves the list that it is in.
  void unlink(Place place) {
    Link& link = at(place);
    TS_EXPECTS(link.list >= 0, place);
    Ends& ends = of(link.list);
    (link.older == kNowhere ? ends.oldest : at(link.older).newer) = link.newer;
    (link.newer == kNowhere ? ends.newest : at(link.newer).older) = link.older;
    ends.blocks -= link.blocks;
    link.list = -1;
  }

  Place oldest(int list) const { return of(list).oldest; }
  Place newest(int list) const { return of(list).newest; }
  Place newer(Place place) const { return at(place).newer; }
  /// -1: in none.
  int list_of(Place place) const {
    return static_cast<std::size_t>(place) < links_.size() ? at(place).list : -1;
  }
  /// Room of the entries of a list, and of an entry that is in one.
  std::int64_t blocks(int list) const { return of(list).blocks; }
  std::int64_t blocks_of(Place place) const { return at(place).blocks; }

 private:
  struct Link {
    Place older = kNowhere;
    Place newer = kNowhere;
    std::int32_t blocks = 0;
    std::int32_t list = -1;
  };
  struct Ends {
    Place oldest = kNowhere;
    Place newest = kNowhere;
    std::int64_t blocks = 0;
  };
  Link& at(Place place) { return links_[static_cast<std::size_t>(place)]; }
  const Link& at(Place place) const { return links_[static_cast<std::size_t>(place)]; }
  Ends& of(int list) { return ends_[static_cast<std::size_t>(list)]; }
  const Ends& of(int list) const { return ends_[static_cast<std::size_t>(list)]; }

  std::vector<Link> links_;
  std::vector<Ends> ends_;
};

}  // namespace tiersim
