#include "workloads/eviction/lru.hpp"

#include "workloads/eviction/place_lists.hpp"

namespace tiersim {
namespace {

class Lru final : public EvictionPolicy {
 public:
  void insert(Place place, const Visit& visit) override { order_.append(0, place, visit.blocks); }
  void hit(Place place, const Visit& visit) override {
    if (order_.list_of(place) < 0) return;  // held
    order_.unlink(place);
    order_.append(0, place, visit.blocks);
  }
  void hold(Place place) override { order_.unlink(place); }
  void release(Place place, const Visit& /*visit*/) override {
    order_.append(0, place, order_.blocks_of(place));
  }
  void remove(Place place) override {
    if (order_.list_of(place) >= 0) order_.unlink(place);
  }
  void evict(const Visit* /*incoming*/, std::vector<Place>& out) override {
    const Place oldest = order_.oldest(0);
    if (oldest == kNowhere) return;
    order_.unlink(oldest);
    out.push_back(oldest);
  }

 private:
  PlaceLists order_{1};
};

}  // namespace

void register_lru(Registry<EvictionKind>& registry) {
  registry.add("lru",
               {"what was used longest ago", [](std::int64_t) -> std::unique_ptr<EvictionPolicy> {
                  return std::make_unique<Lru>();
                }});
}

}  // namespace tiersim
