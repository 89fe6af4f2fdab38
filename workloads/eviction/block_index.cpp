#include "workloads/eviction/block_index.hpp"

#include <algorithm>
#include <utility>

#include "sim/base/check.hpp"

namespace tiersim {

void BlockIndex::put(std::uint64_t name, Place place) {
  std::size_t at = home(name);
  while (slots_[at].place != kNowhere) at = next(at);
  slots_[at] = {static_cast<std::uint32_t>(name >> 32U), static_cast<std::uint32_t>(name), place};
}

void BlockIndex::grow() {
  const std::vector<Slot> old =
      std::exchange(slots_, std::vector<Slot>(std::max<std::size_t>(16, 2 * slots_.size())));
  for (const Slot& slot : old)
    if (slot.place != kNowhere) put(slot.name(), slot.place);
}

void BlockIndex::erase(std::uint64_t name) {
  TS_EXPECTS(find(name) != kNowhere, name);
  std::size_t hole = home(name);
  while (slots_[hole].name() != name || slots_[hole].place == kNowhere) hole = next(hole);
  // What follows moves back into the hole, unless its home lies behind the hole.
  for (std::size_t at = next(hole); slots_[at].place != kNowhere; at = next(at)) {
    const std::size_t mask = slots_.size() - 1;
    if (((at - home(slots_[at].name())) & mask) < ((at - hole) & mask)) continue;
    slots_[hole] = slots_[at];
    hole = at;
  }
  slots_[hole].place = kNowhere;
  --size_;
}

}  // namespace tiersim
