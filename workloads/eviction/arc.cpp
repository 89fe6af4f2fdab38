#include "workloads/eviction/arc.hpp"

#include <algorithm>
#include <optional>

#include "workloads/eviction/ghost_list.hpp"
#include "workloads/eviction/place_lists.hpp"

namespace tiersim {
namespace {

class Arc final : public EvictionPolicy {
 public:
  explicit Arc(std::int64_t capacity) : capacity_(capacity) {}

  void insert(Place place, const Visit& visit) override {
    if (entries_.size() <= static_cast<std::size_t>(place))
      entries_.resize(static_cast<std::size_t>(place) + 1);
    adapt(visit);
    adapted_.reset();
    int list = kOnce;
    for (GhostList& left : left_) {
      if (!left.contains(visit.key)) continue;
      left.erase(visit.key);
      list = kAgain;
    }
    entry(place) = {.key = visit.key, .blocks = visit.blocks, .list = list};
    lists_.append(list, place, visit.blocks);
  }
  void hit(Place place, const Visit& /*visit*/) override {
    entry(place).list = kAgain;
    if (lists_.list_of(place) < 0) return;  // held
    lists_.unlink(place);
    lists_.append(kAgain, place, entry(place).blocks);
  }
  void hold(Place place) override { lists_.unlink(place); }
  void release(Place place, const Visit& /*visit*/) override {
    lists_.append(entry(place).list, place, entry(place).blocks);
  }
  void remove(Place place) override {
    if (lists_.list_of(place) >= 0) lists_.unlink(place);
  }

  void evict(const Visit* incoming, std::vector<Place>& out) override {
    if (incoming != nullptr) adapt(*incoming);
    const bool returns = incoming != nullptr && was(kOnce, *incoming);
    const bool returns_again = incoming != nullptr && was(kAgain, *incoming);
    if (!returns && !returns_again) {
      const std::int64_t once = lists_.blocks(kOnce);
      if (once >= capacity_) {  // all room is of entries used once: nothing is learned from them
        leave(kOnce, out, false);
        return;
      }
      if (once + left_[kOnce].blocks() >= capacity_) {
        if (!left_[kOnce].empty()) left_[kOnce].drop_oldest();
      } else if (once + lists_.blocks(kAgain) + left_[kOnce].blocks() + left_[kAgain].blocks() >=
                 2 * capacity_) {
        if (!left_[kAgain].empty()) left_[kAgain].drop_oldest();
      }
    }
    const auto once = static_cast<double>(lists_.blocks(kOnce));
    const bool from_once = once > 0 && (once > target_ || (returns_again && once == target_));
    const int from = from_once ? kOnce : kAgain;
    leave(lists_.oldest(from) != kNowhere ? from : 1 - from, out, true);
  }

 private:
  static constexpr int kOnce = 0;   // T1 of the paper, with B1 of what left it
  static constexpr int kAgain = 1;  // T2 and B2
  struct Entry {
    std::uint64_t key = 0;
    std::int64_t blocks = 1;
    int list = kOnce;
  };
  Entry& entry(Place place) { return entries_[static_cast<std::size_t>(place)]; }
  bool was(int list, const Visit& visit) const {
    return left_[static_cast<std::size_t>(list)].contains(visit.key);
  }

  // Once for a visit, whether its room has to be made or is there.
  void adapt(const Visit& visit) {
    if (adapted_ == visit.key) return;
    adapted_ = visit.key;
    const auto once = static_cast<double>(left_[kOnce].blocks());
    const auto again = static_cast<double>(left_[kAgain].blocks());
    const auto blocks = static_cast<double>(visit.blocks);
    if (was(kOnce, visit))
      target_ =
          std::min(static_cast<double>(capacity_), target_ + blocks * std::max(1.0, again / once));
    else if (was(kAgain, visit))
      target_ = std::max(0.0, target_ - blocks * std::max(1.0, once / again));
  }
  void leave(int list, std::vector<Place>& out, bool remembered) {
    const Place place = lists_.oldest(list);
    if (place == kNowhere) return;
    lists_.unlink(place);
    out.push_back(place);
    if (remembered)
      left_[static_cast<std::size_t>(list)].append(entry(place).key, entry(place).blocks);
  }

  std::int64_t capacity_;  // blocks
  double target_ = 0;      // of the entries used once, in blocks: p of the paper
  PlaceLists lists_{2};
  std::vector<GhostList> left_{2};
  std::vector<Entry> entries_;            // by place
  std::optional<std::uint64_t> adapted_;  // the visit whose room is being made
};

}  // namespace

void register_arc(Registry<EvictionKind>& registry) {
  registry.add("arc", {"used once or again, in shares that what left and came back decides",
                       [](std::int64_t capacity) -> std::unique_ptr<EvictionPolicy> {
                         return std::make_unique<Arc>(capacity);
                       }});
}

}  // namespace tiersim
