#include "workloads/eviction/ghost_list.hpp"

namespace tiersim {

void GhostList::append(std::uint64_t name, std::int64_t blocks) {
  if (spare_.empty()) {
    spare_.push_back(static_cast<Place>(names_.size()));
    names_.push_back(0);
  }
  const Place place = spare_.back();
  spare_.pop_back();
  names_[static_cast<std::size_t>(place)] = name;
  index_.insert(name, place);
  order_.append(0, place, blocks);
}

void GhostList::erase(std::uint64_t name) {
  const Place place = index_.find(name);
  index_.erase(name);
  order_.unlink(place);
  spare_.push_back(place);
}

void GhostList::drop_oldest() {
  erase(names_[static_cast<std::size_t>(order_.oldest(0))]);
}

}  // namespace tiersim
