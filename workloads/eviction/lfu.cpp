#include "workloads/eviction/lfu.hpp"

#include <tuple>

#include "workloads/eviction/place_order.hpp"

namespace tiersim {
namespace {

struct Uses {
  std::int64_t uses = 0;
  std::int64_t turn = 0;
  bool operator<(const Uses& other) const {
    return std::tie(uses, turn) < std::tie(other.uses, other.turn);
  }
};

class Lfu final : public PlaceOrder<Uses> {
 public:
  void insert(Place place, const Visit& /*visit*/) override { put(place, {1, next_turn()}); }
  void hit(Place place, const Visit& /*visit*/) override {
    change(place, {state(place).uses + 1, next_turn()});
  }
  void release(Place place, const Visit& visit) override {
    state(place).turn = next_turn();
    PlaceOrder::release(place, visit);
  }
};

}  // namespace

void register_lfu(Registry<EvictionKind>& registry) {
  registry.add("lfu",
               {"what was used least often", [](std::int64_t) -> std::unique_ptr<EvictionPolicy> {
                  return std::make_unique<Lfu>();
                }});
}

}  // namespace tiersim
