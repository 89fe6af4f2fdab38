#include "workloads/eviction/sieve.hpp"

#include "workloads/eviction/place_lists.hpp"

namespace tiersim {
namespace {

class Sieve final : public EvictionPolicy {
 public:
  void insert(Place place, const Visit& visit) override {
    if (entries_.size() <= static_cast<std::size_t>(place))
      entries_.resize(static_cast<std::size_t>(place) + 1);
    entry(place) = {.blocks = visit.blocks};
    order_.append(0, place, visit.blocks);
  }
  void hit(Place place, const Visit& /*visit*/) override { entry(place).used = true; }
  // It keeps its place until the hand comes by, and then comes back as the newest.
  void hold(Place place) override { entry(place).held = true; }
  void release(Place place, const Visit& /*visit*/) override {
    entry(place).held = false;
    if (order_.list_of(place) < 0) order_.append(0, place, entry(place).blocks);
  }
  void remove(Place place) override {
    if (order_.list_of(place) >= 0) leave(place);
  }
  void evict(const Visit* /*incoming*/, std::vector<Place>& out) override {
    while (order_.oldest(0) != kNowhere) {
      const Place at = hand_ == kNowhere ? order_.oldest(0) : hand_;
      Entry& e = entry(at);
      if (e.held) {
        leave(at);
      } else if (e.used) {
        e.used = false;
        hand_ = order_.newer(at);
      } else {
        leave(at);
        out.push_back(at);
        return;
      }
    }
  }

 private:
  struct Entry {
    std::int64_t blocks = 1;
    bool used = false;
    bool held = false;
  };
  Entry& entry(Place place) { return entries_[static_cast<std::size_t>(place)]; }
  // The hand goes on to the next newer entry.
  void leave(Place place) {
    if (hand_ == kNowhere ? order_.oldest(0) == place : hand_ == place) hand_ = order_.newer(place);
    order_.unlink(place);
  }

  PlaceLists order_{1};
  Place hand_ = kNowhere;       // none: at the oldest
  std::vector<Entry> entries_;  // by place
};

}  // namespace

void register_sieve(Registry<EvictionKind>& registry) {
  registry.add("sieve", {"the oldest that was not used since a hand came by",
                         [](std::int64_t) -> std::unique_ptr<EvictionPolicy> {
                           return std::make_unique<Sieve>();
                         }});
}

}  // namespace tiersim
